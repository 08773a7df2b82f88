// Saturated UDP over single hops of 802.11a on ns-3.37, where interference decides:  sinr CASE SEED WARM END
//
// CASE is a file of lines: `rate MBPS` and `control MBPS` of frames, `payload BYTES`, `node X Y VX VY` in metres and metres per
// second, and `flow FROM TO`. Payload is counted from WARM to END, in seconds. Prints a line `flow BYTES` for each flow.
//
// 16 dBm; log-distance loss with an exponent of 3 and 46.68 dB at 1 m; a noise figure of 7 dB; frames are taken, and the medium is
// busy, from -82 dBm on. No RTS, no ARP, no queue but the MAC's.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

struct Case
{
    std::string rate, control;
    uint32_t payload = 1472;
    std::vector<std::pair<Vector, Vector>> nodes;
    std::vector<std::pair<uint32_t, uint32_t>> flows;
};

static Case
Read(const std::string& path)
{
    Case given;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
    {
        std::istringstream words(line);
        std::string key;
        words >> key;
        if (key == "rate")
            words >> given.rate;
        else if (key == "control")
            words >> given.control;
        else if (key == "payload")
            words >> given.payload;
        else if (key == "node")
        {
            Vector place(0, 0, 0), speed(0, 0, 0);
            words >> place.x >> place.y >> speed.x >> speed.y;
            given.nodes.emplace_back(place, speed);
        }
        else if (key == "flow")
        {
            uint32_t from, to;
            words >> from >> to;
            given.flows.emplace_back(from, to);
        }
    }
    return given;
}

static NetDeviceContainer
Radios(const Case& given, NodeContainer nodes)
{
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantVelocityMobilityModel");
    mobility.Install(nodes);
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        auto moving = nodes.Get(i)->GetObject<ConstantVelocityMobilityModel>();
        moving->SetPosition(given.nodes[i].first);
        moving->SetVelocity(given.nodes[i].second);
    }
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel",
                               "Exponent", DoubleValue(3.0),
                               "ReferenceDistance", DoubleValue(1.0),
                               "ReferenceLoss", DoubleValue(46.68));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(16.0));
    phy.Set("TxPowerEnd", DoubleValue(16.0));
    // RxSensitivity stays at -101 dBm: what is below it would not even interfere.
    phy.Set("CcaEdThreshold", DoubleValue(-82.0));
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi", DoubleValue(-82.0));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue("OfdmRate" + given.rate + "Mbps"),
                                 "ControlMode", StringValue("OfdmRate" + given.control + "Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    return wifi.Install(phy, mac, nodes);
}

int
main(int argc, char* argv[])
{
    NS_ABORT_MSG_IF(argc != 5, "sinr CASE SEED WARM END");
    Case given = Read(argv[1]);
    RngSeedManager::SetRun(std::stoul(argv[2]));
    double warm = std::stod(argv[3]), end = std::stod(argv[4]);

    NodeContainer nodes;
    nodes.Create(given.nodes.size());
    auto devices = Radios(given, nodes);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.0.0");
    auto interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    NeighborCacheHelper().PopulateNeighborCache();

    std::vector<Ptr<PacketSink>> sinks;
    uint16_t port = 5000;
    for (const auto& [from, to] : given.flows)
    {
        InetSocketAddress destination(interfaces.GetAddress(to), ++port);
        PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(nodes.Get(to)).Get(0)));
        OnOffHelper cbr("ns3::UdpSocketFactory", destination);
        cbr.SetConstantRate(DataRate("30Mbps"), given.payload);
        cbr.Install(nodes.Get(from)).Start(Seconds(0.01 + 1e-4 * port));
    }
    std::vector<uint64_t> before(sinks.size(), 0);
    Simulator::Schedule(Seconds(warm), [&] {
        for (size_t i = 0; i < sinks.size(); ++i)
            before[i] = sinks[i]->GetTotalRx();
    });
    Simulator::Stop(Seconds(end));
    Simulator::Run();
    for (size_t i = 0; i < sinks.size(); ++i)
        std::cout << "flow " << sinks[i]->GetTotalRx() - before[i] << "\n";
    Simulator::Destroy();
}
