// A case of the benchmark on ns-3.37:  run CASE SEED BEGIN WARM END
//
// CASE is the file that benches/cases.py writes. Traffic begins at BEGIN, is counted from WARM on, and the run ends at END, in
// seconds. Prints `delivered` (payload bytes, after WARM), `events` and `peak_kb` (resident set).

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
#include <vector>

using namespace ns3;

struct Flow
{
    uint32_t from, to;
    std::string kind;
    uint32_t payload;
    double rate, start;
};

struct Route
{
    uint32_t node, destination, next;
};

struct Case
{
    double dataBps = 0, controlBps = 0;
    bool rts = false;
    uint32_t queue = 50, window = 32;
    std::vector<Vector> places;
    std::vector<Flow> flows;
    std::vector<Route> routes;
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
        if (key == "data_bps")
            words >> given.dataBps;
        else if (key == "control_bps")
            words >> given.controlBps;
        else if (key == "rts")
            words >> given.rts;
        else if (key == "queue")
            words >> given.queue;
        else if (key == "window")
            words >> given.window;
        else if (key == "node")
        {
            // Antennas at 1.5 m, where two-ray ground has ns-2's ranges.
            Vector place(0, 0, 1.5);
            words >> place.x >> place.y;
            given.places.push_back(place);
        }
        else if (key == "flow")
        {
            Flow flow;
            words >> flow.from >> flow.to >> flow.kind >> flow.payload >> flow.rate >> flow.start;
            given.flows.push_back(flow);
        }
        else if (key == "route")
        {
            Route route;
            words >> route.node >> route.destination >> route.next;
            given.routes.push_back(route);
        }
    }
    return given;
}

static std::string
Mode(double bps)
{
    return bps == 5.5e6 ? "DsssRate5_5Mbps" : "DsssRate" + std::to_string(int(bps / 1e6)) + "Mbps";
}

static void
SetDefaults(const Case& given)
{
    uint32_t segment = given.flows.empty() ? 1460 : given.flows[0].payload;
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(given.rts ? 0 : 3000));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue(std::to_string(given.queue) + "p"));
    // Packets do not expire in queues, as in ours.
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(100000)));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(given.window * segment));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(131072));
}

static NetDeviceContainer
Radios(const Case& given, NodeContainer nodes)
{
    MobilityHelper mobility;
    auto places = CreateObject<ListPositionAllocator>();
    for (const auto& place : given.places)
        places->Add(place);
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);

    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel", "Frequency", DoubleValue(914e6));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    // At 24.5 dBm, -64.4 dBm is left after 250 m and -78.08 dBm after 550 m.
    phy.Set("TxPowerStart", DoubleValue(24.5));
    phy.Set("TxPowerEnd", DoubleValue(24.5));
    phy.Set("RxSensitivity", DoubleValue(-78.08));
    phy.Set("CcaEdThreshold", DoubleValue(-78.08));
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi", DoubleValue(-64.4));

    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue(Mode(given.dataBps)),
                                 "ControlMode", StringValue(Mode(given.controlBps)),
                                 "NonUnicastMode", StringValue(Mode(given.controlBps)));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    return wifi.Install(phy, mac, nodes);
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
    // The queue of the MAC is the only one, as in the others.
    TrafficControlHelper().Uninstall(devices);
    for (const auto& route : given.routes)
    {
        auto table = routing.GetStaticRouting(nodes.Get(route.node)->GetObject<Ipv4>());
        table->AddHostRouteTo(interfaces.GetAddress(route.destination), interfaces.GetAddress(route.next), 1);
    }
    // Addresses are known from the start, as in ours: no ARP.
    NeighborCacheHelper().PopulateNeighborCache();
    return interfaces;
}

static std::vector<Ptr<PacketSink>>
Traffic(const Case& given, NodeContainer nodes, Ipv4InterfaceContainer interfaces, double begin)
{
    std::vector<Ptr<PacketSink>> sinks;
    uint16_t port = 5000;
    for (const auto& flow : given.flows)
    {
        ++port;
        std::string protocol = flow.kind == "tcp" ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
        PacketSinkHelper sink(protocol, InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(nodes.Get(flow.to)).Get(0)));
        InetSocketAddress destination(interfaces.GetAddress(flow.to), port);
        ApplicationContainer app;
        if (flow.kind == "tcp")
        {
            BulkSendHelper bulk(protocol, destination);
            bulk.SetAttribute("SendSize", UintegerValue(flow.payload));
            app = bulk.Install(nodes.Get(flow.from));
        }
        else
        {
            OnOffHelper cbr(protocol, destination);
            cbr.SetConstantRate(DataRate(uint64_t(flow.rate)), flow.payload);
            app = cbr.Install(nodes.Get(flow.from));
        }
        app.Start(Seconds(begin + flow.start));
    }
    return sinks;
}

static uint64_t
Delivered(const std::vector<Ptr<PacketSink>>& sinks)
{
    uint64_t sum = 0;
    for (const auto& sink : sinks)
        sum += sink->GetTotalRx();
    return sum;
}

static long
PeakKilobytes()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind("VmHWM:", 0) == 0)
            return std::stol(line.substr(6));
    return 0;
}

int
main(int argc, char** argv)
{
    if (argc != 6)
    {
        std::cerr << "usage: run CASE SEED BEGIN WARM END\n";
        return 2;
    }
    Case given = Read(argv[1]);
    RngSeedManager::SetRun(std::stoul(argv[2]));
    double begin = std::stod(argv[3]), warm = std::stod(argv[4]), end = std::stod(argv[5]);

    SetDefaults(given);
    NodeContainer nodes;
    nodes.Create(given.places.size());
    auto interfaces = Network(given, nodes, Radios(given, nodes));
    auto sinks = Traffic(given, nodes, interfaces, begin);
    uint64_t before = 0;
    Simulator::Schedule(Seconds(warm), [&] { before = Delivered(sinks); });
    Simulator::Stop(Seconds(end));
    Simulator::Run();
    std::cout << "delivered " << Delivered(sinks) - before << "\nevents " << Simulator::GetEventCount() << "\npeak_kb "
              << PeakKilobytes() << std::endl;
    Simulator::Destroy();
    return 0;
}
