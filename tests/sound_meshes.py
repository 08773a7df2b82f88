"""A sound file of each format of meshes, written here, with the options that it needs."""

import json
from typing import Any

from multihop.importers import Options

_NODES = [{"node_id": id, "is_online": True, "location": {"latitude": 51, "longitude": 12}} for id in "abc"]
_WIFI = {"type": "wifi", "source": "a", "target": "b", "source_tq": 0.9, "target_tq": 0.8}

A, B = "02:00:00:00:00:0a", "02:00:00:00:00:0b"
_NEIGHBOUR = {"router": A, "neighbor": B, "metric": "1.5"}

_GRAPH = {
    "type": "NetworkGraph",
    "metric": "ETX",
    "nodes": [{"id": id, "properties": {"lat": 1, "lon": 2}} for id in "ab"],
    "links": [{"source": "a", "target": "b", "cost": 1.5, "properties": {}}],
}
_PLACED = {
    **_GRAPH,
    "nodes": [{"id": id, "location": {"lat": 1, "lng": 2}, "local_addresses": [f"{id}1"]} for id in "ab"],
}

TXTINFO = """Table: Links
Local IP\tRemote IP\tHyst.\tLQ\tNLQ\tCost
192.0.2.1\t192.0.2.2\t0.000\t0.900\t0.800\t1.388

Table: Neighbors
IP address\tSYM\tMPR\tMPRS\tWill.\t2-hop count
192.0.2.2\tYES\tNO\tNO\t3\t1

Table: Topology
Dest. IP\tLast hop IP\tLQ\tNLQ\tCost
192.0.2.2\t192.0.2.1\t0.900\t0.800\t1.388
192.0.2.3\t192.0.2.2\t1.000\t0.500\t2.000
192.0.2.1\t198.51.100.3\t0.972\t0.000\tINFINITE

Table: HNA
Destination\tGateway
203.0.113.0/24\t192.0.2.1

Table: MID
IP address\t(Alias)+
192.0.2.3\t\t198.51.100.3

Table: Routes
Destination\tGateway IP\tMetric\tETX\tInterface
192.0.2.2/32\t192.0.2.2\t1\t1.388\twlan0\t

Table: Interfaces
Name\tState\tMTU\tWLAN\tSrc-Adress\tMask\tDst-Adress
wlan0\tUP\t1500\tYes\t192.0.2.1\t255.255.255.0\t192.0.2.255
eth0\tDOWN

"""

BABEL = """BABEL 1.0
version babeld-1.12
host one
my-id 02:00:00:ff:fe:00:00:01
ok
add interface wlan0 up true ipv6 fe80::1 ipv4 192.0.2.1
add interface eth0 up false
add neighbour 1f address fe80::2 if wlan0 reach ffff ureach 0000 rxcost 256 txcost 300 rtt 0.000 rttcost 0 cost 351
add neighbour 20 address fe80::3 if wlan0 reach fff0 ureach 0000 rxcost 512 txcost 400 cost 800
add neighbour 21 address fe80::4 if eth0 reach ffff ureach 0000 rxcost 96 txcost 96 cost 96
add xroute 192.0.2.1/32-::/0 prefix 192.0.2.1/32 from ::/0 metric 0
add route 30 prefix 192.0.2.2/32 from ::/0 installed yes id 02:00 metric 300 refmetric 0 via fe80::2 if wlan0
ok
"""

FRR = "Neighbour fe80::2 dev wlan0 reach ffff rxcost 256 txcost 320 rtt 0.000 rttcost 0.\n"

AREDN = {
    "node": "EXAMPLE-1",
    "api_version": "1.11",
    "lat": "51.01",
    "lon": "12.02",
    "meshrf": {"ssid": "X", "channel": "-2", "chanbw": "10", "status": "on", "iface": "wlan0"},
    "link_info": {
        "192.0.2.2": {
            "hostname": "EXAMPLE-2.local.mesh",
            "linkType": "RF",
            "linkQuality": 0.9,
            "neighborLinkQuality": 0.85,
            "signal": -72,
            "noise": -95,
            "tx_rate": 26,
            "rx_rate": 13,
            "olsrInterface": "wlan0",
        },
        "192.0.2.3": {"hostname": "EXAMPLE-3", "linkType": "DTD", "linkQuality": 1, "neighborLinkQuality": 1},
    },
}

#: Firmware with Babel: no qualities in `link_info`, but what the Link Quality Manager tracks.
AREDN_LQM = {
    "node": "EXAMPLE-1",
    "api_version": "2.0",
    "lat": 51.01,
    "lon": 12.02,
    "meshrf": {"channel": 177, "chanbw": 20, "status": "on"},
    "link_info": {"192.0.2.2": {"hostname": "EXAMPLE-2", "linkType": "RF", "signal": -70, "noise": -95}},
    "lqm": {
        "info": {
            "trackers": {
                A: {
                    "hostname": "EXAMPLE-2",
                    "type": "RF",
                    "lq": 94,
                    "rev_lq": 75,
                    "snr": 25,
                    "lat": 51.02,
                    "lon": 12.02,
                },
                B: {"hostname": "EXAMPLE-3", "type": "DtD", "lq": 100, "rev_lq": 100},
            }
        }
    },
}

IW = f"""phy#0
\tInterface mesh0
\t\tifindex 4
\t\taddr {A}
\t\ttype mesh point
\t\tchannel 36 (5180 MHz), width: 20 MHz, center1: 5180 MHz
Station {B} (on mesh0)
\tinactive time:\t10 ms
\trx bytes:\t1000
\tsignal:  \t-61 [-63, -66] dBm
\tsignal avg:\t-62 [-64, -67] dBm
\ttx bitrate:\t65.0 MBit/s MCS 7
\trx bitrate:\t58.5 MBit/s MCS 6
\tmesh plink:\tESTAB
Station 02:00:00:00:00:0c (on mesh0)
\tsignal:  \t-75 dBm
\tmesh plink:\tLISTEN
"""

CNML = """<?xml version="1.0"?>
<cnml version="0.1" server_id="1" generated="20200101 0000">
 <network nodes="3" links="2">
  <zone id="1" title="z">
   <node id="10" title="ten" lat="51.001" lon="12.001" antenna_elevation="5" status="Working">
    <device id="100" type="radio" status="Working"><radio id="0" mode="ap" protocol="802.11n" channel="5180">
     <interface id="1000" ipv4="192.0.2.1"><link id="5" linked_status="Working" linked_node_id="11"
      link_type="ap/client" link_status="Working"/></interface></radio>
     <interface id="1001"><link id="6" linked_node_id="11" link_type="cable" link_status="Working"/></interface>
    </device></node>
   <node id="11" title="eleven" lat="51.002" lon="12.001" status="Working">
    <device id="101" type="radio" status="Working"><radio id="0" mode="client" protocol="802.11n">
     <interface id="1002"><link id="5" linked_status="Working" linked_node_id="10" link_type="ap/client"
      link_status="Working"/></interface></radio></device></node>
   <node id="12" title="twelve" lat="51.003" lon="12.001" status="Planned"/>
  </zone>
 </network>
</cnml>
"""

WMEDIUMD = """# three radios
ifaces :
{
  ids = ["02:00:00:00:00:00", "02:00:00:00:01:00", "02:00:00:00:02:00" ];
  links = ((0, 1, 20), (1, 2, 15), (0, 2, 0));
};
"""

WMEDIUMD_PROB = """ifaces = { ids = ["02:00:00:00:00:00", "02:00:00:00:01:00", "02:00:00:00:02:00"]; };
model : { type = "prob"; default_prob = 1.0; links = ( (0, 1, 0.1), (1, 0, 0.25), (1, 2, 0.5) ); };
"""

WMEDIUMD_PATH_LOSS = """ifaces : { ids = ["02:00:00:00:00:00", "02:00:00:00:01:00"]; };
model : {
  type = "path_loss"; // by distance
  positions = ((0.0, 0.0), (50.0, 0.0, 1.5)); directions = ((0.0, 0.0), (0.0, 10.0));
  tx_powers = (15.0, 15.0);
  model_name = "log_distance"; path_loss_exp = 3.5; xg = 0.0;
};
"""

WMEDIUMD_MATRIX = """ifaces : { count = 2; ids = [ "42:00:00:00:00:00", "42:00:00:00:01:00" ]; };
prob : { rates = 2; matrix_list = ( [ -1.0, 0.1, 0.3, -1.0 ], [ -1.0, 0.5, 0.9, -1.0 ] ); };
"""

GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
 <key id="d0" for="edge" attr.name="weight" attr.type="double"/>
 <key id="d1" for="node" attr.name="lat" attr.type="double"/>
 <key id="d2" for="node" attr.name="lon"/>
 <graph edgedefault="undirected">
  <node id="a"><data key="d1">51.0</data><data key="d2">12.0</data></node>
  <node id="b"><data key="d1">51.001</data><data key="d2">12.0</data></node>
  <node id="c"/>
  <edge source="a" target="b"><data key="d0">1.2</data></edge>
  <edge source="b" target="c"><data key="d0">4</data></edge>
 </graph>
</graphml>
"""

DOT = """strict graph mesh {  // made here
  node [shape=box]; a [pos="0,0!", label="first"]; b [pos="100,0!"];
  a -- b [label="0.9"]
  b -- c -- "d e" [label="0.5"];
}
"""

OLSR_DOT = """digraph topology
{
"192.0.2.1" -> "192.0.2.2"[label="1.388", style=solid];
"192.0.2.1"[shape=box];
"192.0.2.2" -> "192.0.2.1"[label="1.400"];
"192.0.2.2" -> "192.0.2.3"[label="INFINITE"];
"192.0.2.1" -> "203.0.113.0/24"[label="HNA"];
"203.0.113.0/24"[shape=diamond];
}

"""

FFMAP = {
    "version": 1,
    "batadv": {
        "directed": False,
        "nodes": [{"id": A, "node_id": "00a"}, {"id": B, "node_id": "00b"}, {"id": "02:00:00:00:00:0c"}],
        "links": [
            {"source": 0, "target": 1, "vpn": False, "tq": 1.25, "bidirect": True},
            {"source": 1, "target": 2, "vpn": True, "tq": 1.0, "bidirect": True},
        ],
    },
}

FFMAP_D3 = {
    "nodes": [{"id": "a", "name": "first", "geo": [51.0, 12.0], "flags": {"online": True}}, {"id": "b", "geo": None}],
    "links": [{"source": 0, "target": 1, "quality": "1.250, 2.000", "type": None}],
}

#: Costs of directional airtime: 20 Mb/s, 10 Mb/s, and a link without a bit rate that delivers a half.
_EDGE = {"edge_ansn": 7, "domain": 0, "domain_metric": "ff_dat_metric", "domain_metric_out": "20Mbit/s"}
OLSRV2 = {
    "edge": [
        {"node": "192.0.2.1", "edge": "192.0.2.2", **_EDGE, "domain_metric_out_raw": 107},
        {"node": "192.0.2.2", "edge": "192.0.2.1", **_EDGE, "domain_metric_out_raw": 215},
        {"node": "192.0.2.2", "edge": "192.0.2.3", **_EDGE, "domain_metric_out_raw": 4210432},
        {"node": "192.0.2.3", "edge": "192.0.2.2", **_EDGE, "domain_metric_out_raw": 4210432},
    ]
}
OLSRV2_TABLE = "".join("\t".join(map(str, row.values())) + "\n" for row in OLSRV2["edge"])

NHDP_LINK = {
    "if": "wlan0",
    "link_bindto": "fe80::2",
    "link_vtime_value": "20.000",
    "link_itime_value": "2.000",
    "link_symtime": "19.786",
    "link_heardtime": "19.886",
    "link_vtime": "39.886",
    "link_status": "symmetric",
    "link_dualstack": "-",
    "link_mac": B,
    "link_flood_local": "true",
    "link_flood_remote": "true",
    "link_flood_willingness": "7",
    "neighbor_originator": "2001:db8::2",
    "neighbor_dualstack": "-",
    "domain": "0",
    "domain_metric": "ff_dat_metric",
    "domain_metric_in": "19.98Mbit/s",
    "domain_metric_in_raw": "107",
    "domain_metric_out": "9.97Mbit/s",
    "domain_metric_out_raw": "215",
    "domain_metric_internal": "p_recv=60,p_total=64,speed=24000000,success=1066,missed_hello=0,lastseq=9,lneigh=1",
}

NETJSON_DAT = {
    "type": "NetworkGraph",
    "protocol": "olsrv2",
    "metric": "ff_dat_metric",
    "nodes": [
        {"id": "id_192.0.2.1", "label": "192.0.2.1", "properties": {"type": "local"}},
        {"id": "id_192.0.2.2", "label": "192.0.2.2", "properties": {"type": "node"}},
        {"id": "id_192.0.2.2_203.0.113.0/24", "properties": {"type": "attached"}},
    ],
    "links": [
        {"source": "id_192.0.2.1", "target": "id_192.0.2.2", "cost": 107, "properties": {"type": "local"}},
        {"source": "id_192.0.2.2", "target": "id_192.0.2.1", "cost": 4210432, "properties": {"type": "node"}},
        {
            "source": "id_192.0.2.2",
            "target": "id_192.0.2.2_203.0.113.0/24",
            "cost": 1,
            "properties": {"type": "attached"},
        },
    ],
}

_ASSUMED = Options(assume_delivery=0.9)

SOUND: dict[str, tuple[Any, Options]] = {
    "meshviewer": ({"nodes": _NODES, "links": [_WIFI, {**_WIFI, "source": "c"}]}, Options()),
    "meshviewer meshnet-lab": ({"nodes": [{"id": n, "x": 51.0, "y": 12.0} for n in "ab"], "links": [_WIFI]}, Options()),
    "netjson": (_GRAPH, Options()),
    "netjson collection": ({"type": "NetworkCollection", "collection": [_PLACED, _GRAPH]}, Options()),
    "olsr": (
        {
            "topology": [
                {"lastHopIP": "1.1.1.1", "destinationIP": "2.2.2.2", "linkQuality": 0.6, "neighborLinkQuality": 0.9}
            ],
            "mid": [{"main": {"ipAddress": "1.1.1.1"}, "aliases": [{"ipAddress": "3.3.3.3"}]}],
        },
        Options(),
    ),
    "netjson dat": (NETJSON_DAT, Options()),
    "olsrv2": (OLSRV2, Options()),
    "olsrv2 nhdpinfo": ({"link": [NHDP_LINK]}, Options()),
    "olsrv2 table": (OLSRV2_TABLE, Options()),
    "olsrv2 nhdpinfo table": ("\t".join(NHDP_LINK.values()) + "\n", Options()),
    "olsr txtinfo": (TXTINFO, Options()),
    "olsr CSV": ("src,dst,lq,nlq,ifname\na,b,0.9,1,wlan0\nb,c,1,1,eth0\n", Options()),
    "olsr HTTP": (
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "".join(
            f"{len(part):x}\r\n{part}\r\n"
            for part in ['{"links":[{"localIP":"a","remoteIP":', '"b","linkQuality":0.6,"neighborLinkQuality":1}]}', ""]
        ),
        Options(),
    ),
    "batadv-vis": (
        {
            "vis": [
                {"primary": A, "secondary": ["02:00:00:00:00:0c"], "neighbors": [_NEIGHBOUR], "clients": [A]},
                {"primary": B, "neighbors": [{**_NEIGHBOUR, "router": B, "neighbor": A}]},
            ]
        },
        Options(),
    ),
    "batadv-vis lines": (
        (
            f'{{"primary": "{A}"}}\n{{"primary": "{B}"}}\n{{"router": "{A}", "neighbor": "{B}", "label": "1.5"}}\n'
            f'{{"router": "{B}", "neighbor": "{A}", "label": "1.5"}}\n{{"router": "{A}", "label": "TT"}}\n'
        ),
        Options(),
    ),
    "batadv-vis dot": (
        (
            f'digraph {{\nsubgraph "cluster_{A}" {{\n"{A}"\n}}\nsubgraph "cluster_{B}" {{\n"{B}"\n}}\n'
            f'"{A}" -> "{B}" [label="1.5"]\n"{B}" -> "{A}" [label="1.5"]\n"{A}" -> "{B}" [label="TT"]\n}}\n'
        ),
        Options(),
    ),
    "bmx": ([{"name": "a", "links": [{"name": "b", "rxRate": 91, "txRate": 40}]}], Options()),
    "bmx links": ({"links": [{"globalId": "b.1", "rxRate": 9, "txRate": 8}], "status": {"name": "a"}}, Options()),
    "bmx topology": (
        {"topology": [{"id": "A", "name": "a", "neighId": "B", "neighName": "b", "rq": 90, "tq": 80, "txRate": "5M"}]},
        Options(),
    ),
    "ffmap": (FFMAP, Options()),
    "ffmap d3": (FFMAP_D3, Options()),
    "babel": (BABEL, Options()),
    "babel FRR": (FRR, Options()),
    "aredn": (AREDN, Options()),
    "aredn lqm": ([AREDN_LQM], Options()),
    "iw": (IW, Options()),
    "cnml": (CNML, _ASSUMED),
    "wmediumd": (WMEDIUMD, Options()),
    "wmediumd prob": (WMEDIUMD_PROB, Options()),
    "wmediumd path_loss": (WMEDIUMD_PATH_LOSS, Options()),
    "wmediumd matrix": (WMEDIUMD_MATRIX, Options()),
    "graphml": (GRAPHML, Options()),
    "dot": (DOT, Options()),
    "dot olsrd": (OLSR_DOT, Options()),
    "nycmesh": ([{"from": 1, "to": 2, "status": "active"}], _ASSUMED),
    "csv": ("source,target,delivery,reverse_delivery\na,b,0.9,0.8\nb,c,0.5,\n", Options()),
    "csv rssi": ("source;target;rssi_dbm\na;b;-70\nb;a;-71.5\n", Options()),
    "places": ("name,x,y,gateway\na,0,0,yes\nb,100,0,\n", Options()),
    "places degrees": ("id\tlat\tlon\n1\t51.0\t12.0\n2\t51.001\t12.0\n", Options(range_m=300.0)),
    "orbit": ("noise_dbm,tx_x,tx_y,rx_x,rx_y,sent,received,rssi\n-90,1,1,1,2,100,90,-60\n", Options()),
}


def text_of(name: str) -> str:
    """The content of a sound file."""
    sound = SOUND[name][0]
    return sound if isinstance(sound, str) else json.dumps(sound)
