"""Importers on damaged input: a mesh and a scenario, or one clean message, whatever the bytes.

MULTIHOP_FUZZ_EXAMPLES says how many are drawn for each format; `make fuzz-importers` draws 5000.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import damaged, fuzzed
from multihop.base.errors import UserError
from multihop.importers import Options, read
from multihop.importers.to_scenario import Plan, write

_NODES = [{"node_id": id, "is_online": True, "location": {"latitude": 51, "longitude": 12}} for id in "abc"]
_WIFI = {"type": "wifi", "source": "a", "target": "b", "source_tq": 0.9, "target_tq": 0.8}

A, B = "02:00:00:00:00:0a", "02:00:00:00:00:0b"
_NEIGHBOUR = {"router": A, "neighbor": B, "metric": "1.5"}

#: A sound file of each format, with the options that it needs.
SOUND: dict[str, tuple[Any, Options]] = {
    "meshviewer": ({"nodes": _NODES, "links": [_WIFI, {**_WIFI, "source": "c"}]}, Options()),
    "meshnet-lab": ({"nodes": [{"id": n, "x": 51.0, "y": 12.0} for n in "ab"], "links": [_WIFI]}, Options()),
    "netjson": (
        {
            "type": "NetworkGraph",
            "metric": "ETX",
            "nodes": [{"id": id, "properties": {"lat": 1, "lon": 2}} for id in "ab"],
            "links": [{"source": "a", "target": "b", "cost": 1.5, "properties": {}}],
        },
        Options(),
    ),
    "olsr": (
        {
            "topology": [
                {"lastHopIP": "1.1.1.1", "destinationIP": "2.2.2.2", "linkQuality": 0.6, "neighborLinkQuality": 0.9}
            ],
            "mid": [{"main": {"ipAddress": "1.1.1.1"}, "aliases": [{"ipAddress": "3.3.3.3"}]}],
        },
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
    "nycmesh": ([{"from": 1, "to": 2, "status": "active"}], Options(assume_delivery=0.9)),
    "csv": ("source,target,delivery,reverse_delivery\na,b,0.9,0.8\nb,c,0.5,\n", Options()),
    "rssi": ("source;target;rssi_dbm\na;b;-70\nb;a;-71.5\n", Options()),
    "olsr CSV": ("src,dst,lq,nlq,ifname\na,b,0.9,1,wlan0\nb,c,1,1,eth0\n", Options()),
    "places": ("name,x,y,gateway\na,0,0,yes\nb,100,0,\n", Options()),
    "degrees": ("id\tlat\tlon\n1\t51.0\t12.0\n2\t51.001\t12.0\n", Options(range_m=300.0)),
    "orbit": ("noise_dbm,tx_x,tx_y,rx_x,rx_y,sent,received,rssi\n-90,1,1,1,2,100,90,-60\n", Options()),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_files_are_read(tmp_path: Path, name: str) -> None:
    sound, options = SOUND[name]
    path = tmp_path / "mesh"
    path.write_text(sound if isinstance(sound, str) else json.dumps(sound))
    assert read(path, options).links


@pytest.mark.parametrize("name", SOUND)
@fuzzed
@given(data=st.data())
def test_damaged_files_give_a_scenario_or_one_clean_message(name: str, data: st.DataObject) -> None:
    sound, options = SOUND[name]
    content = data.draw(damaged(sound))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mesh"
        path.write_bytes(content)
        try:
            imported = write(read(path, options), Plan(), "mesh")
        except UserError as error:
            message = str(error)
        else:
            message = ""
            assert imported.nodes >= 2
            imported.text.encode()
    assert "\n" not in message
    assert len(message) < 1000
