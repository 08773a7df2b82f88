// 802.11a or 802.11g on ns-3.37 with cumulative SINR:  sinr CASE SEED WARM END
//
// CASE is a file of lines: `standard a` or `standard g`, `rate MBPS` and `control MBPS` of frames, `payload BYTES`, `node X Y VX VY` in
// metres and metres per second, `taken DBM`, the weakest frame that is taken, if not -82 dBm, `route NODE DESTINATION NEXT` where more than one hop is gone, and `flow FROM TO udp` (saturated) or `flow
// FROM TO tcp`. 802.11g has slots of `slot MICROSECONDS`, and with `protection MBPS` exchanges begin with RTS and CTS of direct sequence at
// that rate, after a long preamble; ACKs are at 24 Mb/s at most. Payload is counted from WARM to END, in seconds. Prints a line
// `flow BYTES` for each flow.
//
// 16 dBm; log-distance loss with an exponent of 3 and 46.68 dB at 1 m; a noise figure of 7 dB; frames are taken, and the medium is
// busy, from -82 dBm on if nothing else is said. No RTS but for protection, no ARP, no queue but the MAC's. TCP is NewReno with segments of the payload, a window of
// 32, an ACK for each segment, and neither timestamps nor Limited Transmit.

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

struct Flow
{
    uint32_t from, to;
    std::string kind;
};

struct Route
{
    uint32_t node, destination, next;
};

struct Case
{
    std::string standard = "a", rate, control, protection;
    uint32_t payload = 1472, slot = 9;
    double taken = -82;
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
            given.flows.push_back(flow);
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
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi", DoubleValue(given.taken));
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
        PacketSinkHelper sink(protocol, InetSocketAddress(Ipv4Address::GetAny(), port));
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
            cbr.SetConstantRate(DataRate("30Mbps"), given.payload);
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
    auto interfaces = Network(given, nodes, Radios(given, nodes));
    auto sinks = Traffic(given, nodes, interfaces);
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
