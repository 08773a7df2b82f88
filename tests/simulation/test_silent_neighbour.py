"""A neighbour that does not answer any more, whose window is full of MPDUs that are tried without end."""

import multihop


def test_it_does_not_hold_up_the_others_under_a_fair_queue():
    names = [f"b{index}" for index in range(4)]
    app = {"kind": "cbr", "rate": "30 Mb/s", "packet": "1472 B"}
    ends = [{"name": name, "position": ["5 m", f"{index} m"]} for index, name in enumerate(names)]
    done = multihop.run(
        {
            "name": "silent",
            "duration": "4 s",
            "warmup": "2 s",
            "record_interval": "1 s",
            "phy": {"standard": "802.11n", "data_rate": "MCS 7"},
            "mac": {"discipline": "fq-codel", "aggregation": {"retry_limit": "none"}},
            "topology": {"nodes": [{"name": "a", "position": ["0 m", "0 m"]}, *ends]},
            "outages": [{"node": "b0", "from": "1 s", "to": "4 s"}],
            "flows": [{"from": "a", "to": name, "scheme": "udp", "app": app} for name in names],
        },
        seed=1,
    )
    silent, *others = done.flows["goodput_bps"]
    assert silent == 0
    assert min(others) > 15e6, "54 Mb/s in turns, but for requests to the silent one"
    assert max(others) < 1.1 * min(others)
