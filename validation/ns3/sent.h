// What stations sent at which rate, for `sinr.cc`: A-MPDUs and single MPDUs with data from the warm-up on.

#pragma once

#include "ns3/network-module.h"
#include "ns3/wifi-module.h"

#include <iostream>
#include <map>
#include <string>
#include <tuple>

/// PPDUs with data, their MPDUs, how many of these were repeated, how many arrived, and airtime.
struct Sent
{
    uint64_t ppdus = 0, mpdus = 0, repeated = 0, arrived = 0;
    double seconds = 0;
};

/// By sender, receiver, and mode and width.
using SentByRate = std::map<std::tuple<ns3::Mac48Address, ns3::Mac48Address, std::string>, Sent>;

static std::string
RateOf(const ns3::WifiTxVector& vector)
{
    return vector.GetMode().GetUniqueName() + "/" + std::to_string(vector.GetChannelWidth());
}

static void
CountSent(SentByRate* sent, ns3::WifiConstPsduMap psdus, ns3::WifiTxVector vector, double)
{
    for (const auto& [station, psdu] : psdus)
    {
        if (!psdu->GetHeader(0).IsQosData())
            continue;
        auto& one = (*sent)[{psdu->GetAddr2(), psdu->GetAddr1(), RateOf(vector)}];
        ++one.ppdus;
        one.mpdus += psdu->GetNMpdus();
        one.seconds += ns3::WifiPhy::CalculateTxDuration(psdu->GetSize(), vector, ns3::WIFI_PHY_BAND_5GHZ).GetSeconds();
        for (const auto& mpdu : *ns3::PeekPointer(psdu))
            one.repeated += mpdu->GetHeader().IsRetry();
    }
}

/// The sniffer sees each MPDU of an A-MPDU that was decoded, behind its delimiter.
static void
CountArrived(SentByRate* sent,
             ns3::Mac48Address self,
             ns3::Ptr<const ns3::Packet> packet,
             uint16_t,
             ns3::WifiTxVector vector,
             ns3::MpduInfo info,
             ns3::SignalNoiseDbm,
             uint16_t)
{
    auto copy = packet->Copy();
    ns3::AmpduSubframeHeader delimiter;
    if (info.type != ns3::NORMAL_MPDU)
        copy->RemoveHeader(delimiter);
    ns3::WifiMacHeader header;
    copy->PeekHeader(header);
    if (header.IsQosData() && header.GetAddr1() == self)
        ++(*sent)[{header.GetAddr2(), self, RateOf(vector)}].arrived;
}

/// Counts from now on.
static void
CountRates(ns3::NetDeviceContainer devices, SentByRate& sent)
{
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto device = ns3::DynamicCast<ns3::WifiNetDevice>(devices.Get(i));
        auto self = device->GetMac()->GetAddress();
        device->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin", ns3::MakeBoundCallback(&CountSent, &sent));
        device->GetPhy()->TraceConnectWithoutContext("MonitorSnifferRx", ns3::MakeBoundCallback(&CountArrived, &sent, self));
    }
}

/// A line for each rate of each link.
static void
PrintRates(ns3::NetDeviceContainer devices, const SentByRate& sent)
{
    std::map<ns3::Mac48Address, uint32_t> node;
    for (uint32_t i = 0; i < devices.GetN(); ++i)
        node[ns3::Mac48Address::ConvertFrom(devices.Get(i)->GetAddress())] = i;
    for (const auto& [key, one] : sent)
    {
        const auto& [from, to, rate] = key;
        std::cout << "sent " << node[from] << " " << node[to] << " " << rate << " " << one.ppdus << " " << one.mpdus << " "
                  << one.repeated << " " << one.arrived << " " << one.seconds << "\n";
    }
}
