// 802.11a, g, n, ac or ax on ns-3.37 with cumulative SINR:  sinr CASE SEED WARM END
//
// CASE is a file of lines: `standard a`, `g`, `n`, `ac` or `ax`, `rate MBPS` and `control MBPS` of frames, `payload BYTES`, `node X Y VX VY` in
// metres and metres per second, `taken DBM`, the weakest frame that is taken, if not -82 dBm, `route NODE DESTINATION NEXT` where more than one hop is gone, and `flow FROM TO udp` (saturated) or `flow
// FROM TO tcp`. 802.11g has slots of `slot MICROSECONDS`, and with `protection MBPS` exchanges begin with RTS and CTS of direct sequence at
// that rate, after a long preamble; ACKs are at 24 Mb/s at most.
//
// 802.11n, ac and ax are at 5 GHz: `mode HtMcs7` and the like, or any of them that `rates MinstrelHt` or `rates Ideal` chooses, `width MHZ`, `streams N`, `ampdu BYTES` and `amsdu BYTES`, the most of
// each, none if 0, `rts BYTES`, above which RTS and CTS come first, `lost P`, the probability that an MPDU with data is lost besides, and
// `queue PACKETS` of each access category, `txop MICROSECONDS`, the limit of all categories, if not the standard's. A flow may end with
// `tos NUMBER`, the octet that says its access category, and `load MBPS`, what it sends of UDP if it is not saturated.
//
// Payload is counted from WARM to END, in seconds. Prints a line `flow BYTES DELAY` for each flow, the mean delay from
// application to application in milliseconds, of UDP alone. Of 802.11n, ac and ax a line `sent FROM TO MODE/MHZ PPDUS MPDUS
// REPEATED ARRIVED SECONDS` follows for each rate at which a node sent data to another: MPDUs that were repeated, and that arrived,
// and airtime.
//
// 16 dBm; log-distance loss with an exponent of 3 and 46.68 dB at 1 m; a noise figure of 7 dB; frames are taken, and the medium is
// busy, from -82 dBm on if nothing else is said. No RTS but for protection, no ARP, no queue but the MAC's. TCP is NewReno with segments of the payload, a window of
// 32, an ACK for each segment, and neither timestamps nor Limited Transmit.

#include "sent.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

struct Flow
{
    uint32_t from, to;
    std::string kind;
    uint32_t tos = 0;
    std::string load = "30";
};

/// Loses MPDUs with data.
class LosesData : public ErrorModel
{
  public:
    explicit LosesData(double lost) : m_lost(lost), m_draw(CreateObject<UniformRandomVariable>()) {}

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        return packet->GetSize() > 300 && m_draw->GetValue() < m_lost;
    }
    void DoReset() override {}
    double m_lost;
    Ptr<UniformRandomVariable> m_draw;
};

/// What a flow delivered.
struct Delivered
{
    double delay = 0;
    uint64_t packets = 0;
    void Count(Ptr<const Packet>, const Address&, const Address&, const SeqTsSizeHeader& header)
    {
        delay += (Simulator::Now() - header.GetTs()).GetSeconds();
        ++packets;
    }
};

struct Route
{
    uint32_t node, destination, next;
};

struct Case
{
    std::string standard = "a", rate, control, protection, mode, rates;
    uint32_t payload = 1472, slot = 9, width = 20, streams = 1, ampdu = 0, amsdu = 0, rts = 4692480, queue = 500;
    double taken = -82, lost = 0;
    int64_t txop = -1;
    std::vector<std::pair<Vector, Vector>> nodes;
    std::vector<Route> routes;
    std::vector<Flow> flows;
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
        if (key == "standard")
            words >> given.standard;
        else if (key == "rate")
            words >> given.rate;
        else if (key == "control")
            words >> given.control;
        else if (key == "protection")
            words >> given.protection;
        else if (key == "taken")
            words >> given.taken;
        else if (key == "slot")
            words >> given.slot;
        else if (key == "payload")
            words >> given.payload;
        else if (key == "mode")
            words >> given.mode;
        else if (key == "rates")
            words >> given.rates;
        else if (key == "width")
            words >> given.width;
        else if (key == "streams")
            words >> given.streams;
        else if (key == "ampdu")
            words >> given.ampdu;
        else if (key == "amsdu")
            words >> given.amsdu;
        else if (key == "rts")
            words >> given.rts;
        else if (key == "lost")
            words >> given.lost;
        else if (key == "queue")
            words >> given.queue;
        else if (key == "txop")
            words >> given.txop;
        else if (key == "node")
        {
            Vector place(0, 0, 0), speed(0, 0, 0);
            words >> place.x >> place.y >> speed.x >> speed.y;
            given.nodes.emplace_back(place, speed);
        }
        else if (key == "route")
        {
            Route route;
            words >> route.node >> route.destination >> route.next;
            given.routes.push_back(route);
        }
        else if (key == "flow")
        {
            Flow flow;
            words >> flow.from >> flow.to >> flow.kind;
            for (std::string option; words >> option;)
                option == "tos" ? words >> flow.tos : words >> flow.load;
            given.flows.push_back(flow);
        }
    }
    return given;
}

/// Stations of 802.11n, ac or ax.
static NetDeviceContainer
Aggregating(const Case& given, NodeContainer nodes, YansWifiPhyHelper phy)
{
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(PACKETS, given.queue)));
    // Requests for block acknowledgements of packets that are too old restart from the first contention window with each failure.
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(given.rts));
    phy.Set("ChannelSettings", StringValue("{0, " + std::to_string(given.width) + ", BAND_5GHZ, 0}"));
    phy.Set("Antennas", UintegerValue(given.streams));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(given.streams));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(given.streams));
    // The union bound over decoded bits, as ours and as for the older standards, and not tables of measured links.
    phy.SetErrorRateModel("ns3::NistErrorRateModel");
    WifiHelper wifi;
    wifi.SetStandard(given.standard == "n"    ? WIFI_STANDARD_80211n
                     : given.standard == "ac" ? WIFI_STANDARD_80211ac
                                              : WIFI_STANDARD_80211ax);
    if (given.rates.empty())
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode", StringValue(given.mode),
                                     "ControlMode", StringValue("OfdmRate" + given.control + "Mbps"));
    else
        wifi.SetRemoteStationManager("ns3::" + given.rates + "WifiManager");
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(true));
    auto devices = wifi.Install(phy, mac, nodes);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        for (const auto* category : {"BE", "BK", "VI", "VO"})
        {
            device->GetMac()->SetAttribute(category + std::string("_MaxAmpduSize"), UintegerValue(given.ampdu));
            device->GetMac()->SetAttribute(category + std::string("_MaxAmsduSize"), UintegerValue(given.amsdu));
            if (given.txop >= 0)
            {
                PointerValue queue;
                device->GetMac()->GetAttribute(category + std::string("_Txop"), queue);
                queue.Get<QosTxop>()->SetTxopLimit(MicroSeconds(given.txop));
            }
        }
        if (auto he = device->GetHeConfiguration())
            he->SetGuardInterval(NanoSeconds(800));
        if (given.lost > 0)
            device->GetPhy()->SetPostReceptionErrorModel(CreateObject<LosesData>(given.lost));
    }
    return devices;
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
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi", DoubleValue(given.taken));
    if (!given.mode.empty() || !given.rates.empty())
        return Aggregating(given, nodes, phy);
    bool erp = given.standard == "g";
    std::string prefix = erp ? "ErpOfdmRate" : "OfdmRate";
    std::string control = given.protection.empty() ? prefix + given.control : "DsssRate" + given.protection;
    WifiHelper wifi;
    wifi.SetStandard(erp ? WIFI_STANDARD_80211g : WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue(prefix + given.rate + "Mbps"),
                                 "ControlMode", StringValue(control + "Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    auto devices = wifi.Install(phy, mac, nodes);
    for (uint32_t i = 0; erp && i < devices.GetN(); ++i)
    {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        device->GetPhy()->SetSlot(MicroSeconds(given.slot));
        auto manager = device->GetRemoteStationManager();
        for (const auto* rate : {"6", "12", "24"})
            manager->AddBasicMode(WifiMode(prefix + rate + "Mbps"));
        if (given.protection.empty())
            continue;
        for (const auto* rate : {"2", "5_5", "11"})
            manager->AddBasicMode(WifiMode(std::string("DsssRate") + rate + "Mbps"));
        manager->SetAttribute("ErpProtectionMode", StringValue("Rts-Cts"));
        manager->SetUseNonErpProtection(true);
    }
    return devices;
}

static Ipv4InterfaceContainer
Network(const Case& given, NodeContainer nodes, NetDeviceContainer devices)
{
    Ipv4StaticRoutingHelper routing;
    InternetStackHelper internet;
    internet.SetRoutingHelper(routing);
    internet.Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.0.0");
    auto interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    for (const auto& route : given.routes)
    {
        auto table = routing.GetStaticRouting(nodes.Get(route.node)->GetObject<Ipv4>());
        table->AddHostRouteTo(interfaces.GetAddress(route.destination), interfaces.GetAddress(route.next), 1);
    }
    NeighborCacheHelper().PopulateNeighborCache();
    return interfaces;
}

/// A few packets from a node to another.
static void
SendFew(const Case& given, NodeContainer nodes, InetSocketAddress destination, uint32_t from, double start)
{
    OnOffHelper few("ns3::UdpSocketFactory", destination);
    few.SetConstantRate(DataRate("40Mbps"), given.payload);
    few.SetAttribute("MaxBytes", UintegerValue(6 * given.payload));
    few.Install(nodes.Get(from)).Start(Seconds(start));
}

/// Where a node sends what is for another.
static uint32_t
NextHop(const Case& given, uint32_t node, uint32_t destination)
{
    for (const auto& route : given.routes)
        if (route.node == node && route.destination == destination)
            return route.next;
    return destination;
}

/// A few packets of each flow, one flow after the other: they set the block acknowledgement agreement up, for which ns-3 waits one
/// millisecond, less than an aggregate takes that comes in between, and then does without for 200. TCP needs agreements both ways, and has
/// them hop by hop, with a listener: ns-3.37 never sends another packet to a neighbour after a packet to it was repeated, because
/// of a hidden sender or of an ICMP answer that came across, while the agreement was set up.
static void
SetUpAgreements(const Case& given, NodeContainer nodes, Ipv4InterfaceContainer interfaces)
{
    double start = 0.02;
    auto setUp = [&](const Flow& flow, uint32_t from, uint32_t to) {
        InetSocketAddress destination(interfaces.GetAddress(to), 9);
        destination.SetTos(flow.tos);
        SendFew(given, nodes, destination, from, start);
        start += 9e-3;
    };
    bool listens = false;
    for (const auto& flow : given.flows)
    {
        if (flow.kind != "tcp")
        {
            setUp(flow, flow.from, flow.to);
            continue;
        }
        if (!std::exchange(listens, true))
            PacketSinkHelper("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9)).Install(nodes);
        for (auto [from, to] : {std::pair(flow.from, flow.to), std::pair(flow.to, flow.from)})
            for (uint32_t node = from; node != to; node = NextHop(given, node, to))
                setUp(flow, node, NextHop(given, node, to));
    }
}

static std::vector<Ptr<PacketSink>>
Traffic(const Case& given, NodeContainer nodes, Ipv4InterfaceContainer interfaces)
{
    std::vector<Ptr<PacketSink>> sinks;
    uint16_t port = 5000;
    for (const auto& flow : given.flows)
    {
        InetSocketAddress destination(interfaces.GetAddress(flow.to), ++port);
        bool tcp = flow.kind == "tcp";
        std::string protocol = tcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
        destination.SetTos(flow.tos);
        PacketSinkHelper sink(protocol, InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.SetAttribute("EnableSeqTsSizeHeader", BooleanValue(!tcp));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(nodes.Get(flow.to)).Get(0)));
        ApplicationContainer app;
        if (tcp)
        {
            BulkSendHelper bulk(protocol, destination);
            bulk.SetAttribute("SendSize", UintegerValue(given.payload));
            app = bulk.Install(nodes.Get(flow.from));
        }
        else
        {
            OnOffHelper cbr(protocol, destination);
            cbr.SetConstantRate(DataRate(flow.load + "Mbps"), given.payload);
            cbr.SetAttribute("EnableSeqTsSizeHeader", BooleanValue(true));
            app = cbr.Install(nodes.Get(flow.from));
        }
        app.Start(Seconds(0.01 + 1e-4 * port));
    }
    return sinks;
}

static void
SetTcp(const Case& given)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(given.payload));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(32 * given.payload));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(131072));
}

int
main(int argc, char* argv[])
{
    NS_ABORT_MSG_IF(argc != 5, "sinr CASE SEED WARM END");
    Case given = Read(argv[1]);
    RngSeedManager::SetRun(std::stoul(argv[2]));
    double warm = std::stod(argv[3]), end = std::stod(argv[4]);

    SetTcp(given);
    NodeContainer nodes;
    nodes.Create(given.nodes.size());
    auto devices = Radios(given, nodes);
    auto interfaces = Network(given, nodes, devices);
    if (given.ampdu > 0 || given.amsdu > 0)
        SetUpAgreements(given, nodes, interfaces);
    auto sinks = Traffic(given, nodes, interfaces);
    std::vector<uint64_t> before(sinks.size(), 0);
    std::vector<Delivered> delivered(sinks.size());
    SentByRate sent;
    Simulator::Schedule(Seconds(warm), [&] {
        CountRates(devices, sent);
        for (size_t i = 0; i < sinks.size(); ++i)
        {
            before[i] = sinks[i]->GetTotalRx();
            sinks[i]->TraceConnectWithoutContext("RxWithSeqTsSize", MakeCallback(&Delivered::Count, &delivered[i]));
        }
    });
    Simulator::Stop(Seconds(end));
    Simulator::Run();
    for (size_t i = 0; i < sinks.size(); ++i)
        std::cout << "flow " << sinks[i]->GetTotalRx() - before[i] << " "
                  << 1e3 * delivered[i].delay / std::max<uint64_t>(delivered[i].packets, 1) << "\n";
    PrintRates(devices, sent);
    Simulator::Destroy();
}
