"""The scenarios that are compared, as data."""

from __future__ import annotations

from typing import Any

#: Two-ray ground at 914 MHz gives ns-2's ranges; each receiver hears a frame as late as light does.
RANGES = {"model": "ranges", "propagation_delay": "distance"}

#: Packets that ns-2's drop-tail queues hold whose limit is 50, and 20: they refuse the one that would reach it.
QUEUE, RECN_QUEUE = 49, 19

Scenario = dict[str, Any]


def ns2_chain(flow: str, hops: int, seconds: int) -> Scenario:
    """A chain of 200 m hops at 2 Mb/s with RTS always, as ns-2 ran it: control frames at 1 Mb/s, static routes.

    ns-2's packets carry 20 bytes more below the transport, which DSDV adds; its UDP and IP have no headers.
    """
    tcp = {"flavour": "ns2", "segment_size": "1460 B", "window": 32}
    schemes = {"tcp-newreno": tcp, "tcp-sack": tcp, "udp": {"segment_size": "1460 B", "header": "0 B"}}
    saturated = {"kind": "cbr", "rate": "2 Mb/s", "packet": "1460 B", "jitter": 0.5}
    return {
        "name": f"ns2-chain-{flow}-{hops}",
        "duration": f"{seconds + 30} s",
        "warmup": "30 s",
        "record_interval": "100 ms",
        "phy": {"standard": "dsss", "data_rate": "2 Mb/s", "control_rate": "1 Mb/s"},
        "mac": {"rules": "ns2", "rts_threshold": "0 B", "queue": QUEUE},
        "medium": RANGES,
        "network": {"extra_header": "20 B"},
        "topology": {"generator": "chain", "hops": hops, "spacing": "200 m"},
        "schemes": {flow: schemes[flow]},
        "flows": [
            {
                "from": "n0",
                "to": f"n{hops}",
                "scheme": flow,
                "app": saturated if flow == "udp" else {"kind": "saturated"},
                "start_jitter": "1 s",
            }
        ],
    }


#: When flows start that are to find DSDV's routes in place, in seconds.
CONVERGED = 100


def ns2_dsdv_chain(flow: str, hops: int, seconds: int) -> Scenario:
    """The same chain over live DSDV; the flow starts when routes are known."""
    scenario = ns2_chain(flow, hops, seconds)
    warmup = CONVERGED + 30
    scenario |= {"name": f"ns2-dsdv-chain-{flow}-{hops}", "warmup": f"{warmup} s", "duration": f"{seconds + warmup} s"}
    scenario["routing"] = {"protocol": "dsdv"}
    scenario["flows"][0]["start"] = f"{CONVERGED} s"
    return scenario


def ns2_dsr_chain(control_rate: str, seconds: int) -> Scenario:
    """Seven hops at 54 Mb/s over live DSR; requests, breaks and 20 bytes more per packet as in ns-2."""
    tcp = {"flavour": "ns2", "segment_size": "1000 B", "window": 128, "timestamps": True, "tick": "1 ms"}
    return {
        "name": "ns2-dsr-chain",
        "duration": f"{seconds + 30} s",
        "warmup": "30 s",
        "record_interval": "50 ms",
        "phy": {"standard": "802.11a", "data_rate": "54 Mb/s", "control_rate": control_rate, "ofdm_symbols": "ns2"},
        "mac": {"rules": "ns2", "rts_threshold": "0 B", "queue": 50},
        "medium": RANGES | {"carrier_sense_range": "250 m"},
        "network": {"extra_header": "20 B"},
        "topology": {"generator": "chain", "hops": 7, "spacing": "200 m"},
        "routing": {"protocol": "dsr", "failures": 1, "request_period": "2 s", "request_backoff": 4},
        "schemes": {"tcp-sack": tcp},
        "flows": [
            {
                "from": "n0",
                "to": "n7",
                "scheme": "tcp-sack",
                "app": {"kind": "saturated"},
                "start": "1 s",
                "start_jitter": "1 s",
            }
        ],
    }


def ns2_xcp_chain(hops: int, seconds: int) -> Scenario:
    """XCP as ns-2's agent has it, whose routers know the bit rate alone; all headers make 70 bytes, as there."""
    scenario = ns2_chain("tcp-newreno", hops, seconds)
    scenario["name"] = f"ns2-xcp-chain-{hops}"
    scenario["phy"] = {"standard": "802.11b", "data_rate": "11 Mb/s", "control_rate": "1 Mb/s"}
    # 12 bytes of timestamps and 20 of the congestion header come on top.
    xcp = {"flavour": "ns2", "segment_size": "1460 B", "window": 32, "header": "38 B", "capacity": "phy-rate"}
    scenario["network"] = {"extra_header": "0 B"}
    scenario["schemes"] = {"xcp": xcp}
    scenario["flows"][0]["scheme"] = "xcp"
    return scenario


def ns3_chain(hops: int, seconds: int) -> Scenario:
    """The same chain under the standard's rules and SINR, as ns-3 ran it.

    ns-3 answers 2 Mb/s data with ACKs at 2 Mb/s; its receivers take no preamble below -64.4 dBm, which is 250 m, and
    sense down to -78.08 dBm, which is 550 m; its noise figure is 7 dB. Packets live 500 ms in its queues. Its NewReno
    starts with 10 segments and no threshold, acknowledges each segment, and has no Limited Transmit.
    """
    scenario = ns2_chain("tcp-newreno", hops, seconds)
    scenario["name"] = f"ns3-chain-{hops}"
    scenario["phy"]["ack_rate"] = "2 Mb/s"
    scenario["mac"] |= {"rules": "ieee", "queue": 50, "lifetime": "500 ms"}
    scenario["network"] = {"extra_header": "0 B"}
    scenario["medium"] = {
        "model": "sinr",
        "propagation_delay": "667 ns",
        "transmit_power": "24.5 dBm",
        "noise": "-93.6 dBm",
        "sensitivity": "-64.4 dBm",
        "carrier_sense": "-78.08 dBm",
        "path_loss": {"model": "two-ray", "frequency": "914 MHz", "antenna_height": "1.5 m"},
    }
    scenario["schemes"]["tcp-newreno"] = {
        "flavour": "rfc",
        "segment_size": "1460 B",
        "window": 32,
        "initial_window": 10,
        "initial_threshold": 1000,
        "delayed_ack": "0 s",
        "limited_transmit": False,
    }
    return scenario


def cell(rules: str, stations: int, rts: bool, seconds: int) -> Scenario:
    """`stations` saturated stations 10 m around a sink, 802.11b at 11 Mb/s with control frames at 1 Mb/s."""
    return {
        "name": f"cell-{rules}-{stations}",
        "duration": f"{seconds + 10} s",
        "warmup": "10 s",
        "record_interval": "10 s",
        "phy": {"standard": "802.11b", "data_rate": "11 Mb/s", "control_rate": "1 Mb/s"},
        "mac": {"rules": rules, "rts_threshold": "0 B" if rts else "off", "queue": 50},
        "medium": {"model": "ranges", "propagation_delay": "33 ns", "capture": "10 dB"},
        "topology": {"generator": "circle", "stations": stations, "radius": "10 m"},
        "schemes": {"udp": {"segment_size": "1500 B", "header": "0 B"}},
        "traffic": {"pattern": "canonical", "scheme": "udp", "app": {"kind": "saturated"}},
    }


def bianchi_cell(rules: str, stations: int, rts: bool, seconds: int) -> Scenario:
    """A cell as Bianchi's model has it: no capture, retry limit or propagation delay; 1472 bytes over UDP and IP."""
    scenario = cell(rules, stations, rts, seconds)
    scenario["mac"] |= {"short_retry_limit": "none", "long_retry_limit": "none"}
    scenario["medium"] |= {"propagation_delay": "0 s", "capture": "off"}
    scenario["schemes"] = {"udp": {"segment_size": "1472 B"}}
    return scenario


def one_link(rts: bool, seconds: int) -> Scenario:
    """One saturated sender under the standard's rules."""
    return bianchi_cell("ieee", 1, rts, seconds)


#: RECN's TCP as ns-2 has it, and by the standards but for ns-2's ACK for each segment and least timeout of 200 ms.
RECN_TCP: dict[str, Scenario] = {
    "ns2": {"flavour": "ns2", "segment_size": "1000 B", "window": 20},
    "rfc": {"flavour": "rfc", "segment_size": "1000 B", "window": 20, "delayed_ack": "0 s", "min_rto": "200 ms"},
}


def recn_chain(scheme: str, flows: int, at_w1: bool, seconds: int, flavour: str) -> Scenario:
    """RECN's paper (He et al. 2017): w1 to w4 in a row of 200 m, 1 Mb/s, RTS always, a queue of 20 packets.

    Each flow is TCP fed with 800 kb/s, to w4: from w1 (three hops), or from nodes 150 m left of it (four).
    """
    nodes = [{"name": f"w{i + 1}", "position": [f"{400 + 200 * i} m", "400 m"]} for i in range(4)]
    if not at_w1:
        for i in range(flows):
            offset = (i - (flows - 1) / 2) * 20
            nodes.append({"name": f"s{i + 1}", "position": ["250 m", f"{400 + offset} m"]})
    return {
        "name": f"recn-chain-{scheme}-{flows}",
        "duration": f"{seconds + 1} s",
        "warmup": "1 s",
        "record_interval": "1 s",
        "phy": {"standard": "dsss", "data_rate": "1 Mb/s", "control_rate": "1 Mb/s"},
        "mac": {"rules": "ns2", "rts_threshold": "0 B", "queue": RECN_QUEUE},
        "medium": RANGES,
        "network": {"extra_header": "20 B"},
        "topology": {"nodes": nodes},
        "schemes": {scheme: RECN_TCP[flavour]},
        "flows": [
            {
                "name": f"f{i + 1}",
                "from": "w1" if at_w1 else f"s{i + 1}",
                "to": "w4",
                "scheme": scheme,
                "app": {"kind": "cbr", "rate": "800 kb/s", "packet": "1000 B"},
                "start": "1 s",
            }
            for i in range(flows)
        ],
    }


def recn_dsdv_chain(flows: int, at_w1: bool, seconds: int) -> Scenario:
    """The same chain without ECN over live DSDV; flows start when routes are known."""
    scenario = recn_chain("tcp-newreno", flows, at_w1, seconds, "ns2")
    scenario |= {
        "name": f"recn-dsdv-chain-{flows}",
        "warmup": f"{CONVERGED} s",
        "duration": f"{seconds + CONVERGED} s",
        "routing": {"protocol": "dsdv"},
    }
    for flow in scenario["flows"]:
        flow["start"] = f"{CONVERGED} s"
    return scenario
