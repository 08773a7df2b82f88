"""Catalogue of mesh formats: writers, recognition, quality, positions and reader of each.

The table of formats on the page about imports is generated from this list; a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from multihop.importers.formats import (
    aredn,
    babel,
    batadv_vis,
    bmx,
    cnml,
    dot,
    ffmap,
    graphml,
    iw,
    meshviewer,
    netjson,
    nycmesh,
    olsr,
    olsrv2,
    orbit,
    places,
    plain,
    wmediumd,
)
from multihop.importers.mesh import Mesh
from multihop.importers.parsing import tables, xml_tree


@dataclass(frozen=True)
class Options:
    """Options of importers.

    Attributes:
        format: one of `FORMATS`, or `auto` to detect it from the content.
        nodes: second file with the nodes, for formats that have one.
        assume_delivery: delivery ratio of every link, if the file has no quality.
        noise_level: noise level of an ORBIT file, in dBm.
        range_m: reception range in metres, if the file has positions without links.
    """

    format: str = "auto"
    nodes: Path | None = None
    assume_delivery: float | None = None
    noise_level: float | None = None
    range_m: float | None = None


@dataclass(frozen=True)
class Format:
    """Format, as the page about imports describes it.

    Attributes:
        writers: programs that write it.
        recognised: content by which it is recognised.
        quality: interpretation of a link's quality.
        places: source of positions.
        radios: source of the radio and rate of a link.
    """

    writers: str
    recognised: str
    quality: str
    places: str = "none"
    radios: str = "none"


FORMATS = {
    "meshviewer": Format(
        "Freifunk: meshviewer.json",
        "links with `source_tq`",
        "`source_tq`, `target_tq`: batman-adv's transmit quality, as delivery from source to target and back",
        "`location`, or `x` and `y` of meshnet-lab",
        "parallel links, with `--radios several`",
    ),
    "ffmap": Format(
        "Freifunk: ffmap-backend, yanic, HopGlass, ffmap-d3",
        "`batadv` with `nodes` and `links`; links with `quality`",
        "`tq` is 255/TQ: each direction delivers 1/`tq`",
        "nodes.json as `--nodes`; `geo` of ffmap-d3",
    ),
    "batadv-vis": Format(
        "alfred: batadv-vis",
        "`vis` (jsondoc); an object on each line (json); `digraph` with clusters (dot)",
        "the metric is 255/TQ: the direction to the neighbour delivers 1/metric",
    ),
    "bmx": Format(
        "BMX6, BMX7",
        "a list of nodes with `links`; `topology` or `links` with `rxRate` or `rq`",
        "per cent of HELLOs that arrive, as the receiving end counts them (`rxRate`, `rq`), else as the other reports "
        "(`txRate`, `tq`)",
    ),
    "netjson": Format(
        "OpenWISP, netdiff, olsrd, olsrd2",
        '`"type": "NetworkGraph"` or `"NetworkCollection"`; a list of graphs',
        "`cost` with the metric ETX: each direction delivers 1/√ETX; in units of 1/1024 where half of the costs are "
        "1000 or more; with `ff_dat_metric` as olsrv2",
        "`location` or `lat`, `lon`, of the node or in `properties`",
    ),
    "olsr": Format(
        "olsrd: jsoninfo, txtinfo; CSV of Freifunk Berlin",
        "`topology` or `links` with `linkQuality`; `Table: Topology` or `Table: Links`; columns `src, dst, lq, nlq`",
        "NLQ is delivery towards the neighbour, LQ of the reverse direction",
        "CSV: `--nodes` with `node, lat, lon`",
        "CSV: the band that `ifname` ends in, `tx_rate_kbps`, `tx_mcs`",
    ),
    "olsrv2": Format(
        "olsrd2: olsrv2info, nhdpinfo; its netjsoninfo is netjson",
        "`edge` or `link` with `domain_metric`; tables with `ff_dat_metric`",
        "directional airtime: 2^31/cost is the rate in b/s times delivery; from 2^21 up, 2^21/cost is delivery",
        radios="the rate that the throughput needs; `speed` of `domain_metric_internal`",
    ),
    "babel": Format(
        "babeld: `dump`; FRR: `show babel neighbor`",
        "`BABEL 1.0`; lines `Neighbour ... rxcost`",
        "256/`rxcost` from the neighbour, 256/`txcost` towards it; 65535 delivers nothing",
        radios="the interface, with `--radios several`",
    ),
    "aredn": Format(
        "AREDN: sysinfo.json, one or a list",
        "`node` with `meshrf`, `link_info` or `api_version`",
        "links of type RF: `linkQuality` and `neighborLinkQuality` as of OLSR; else per cent `lq` and `rev_lq`; else "
        "`signal` over `noise` in dB",
        "`lat`, `lon`; of neighbours by `lqm=1`",
        "`meshrf` of several radios; `tx_rate`, `rx_rate`",
    ),
    "iw": Format(
        "`iw dev IF station dump`, `iw dev IF link`",
        "`Station ... (on ...)`, `Connected to ... (on ...)`",
        "`signal avg` or `signal`: received power in dBm; the reverse direction as strong where it is not in the file",
        radios="`channel` of `iw dev`, else the interface; `tx bitrate`, `rx bitrate`",
    ),
    "cnml": Format(
        "guifi.net",
        "XML `<cnml>`",
        "none in the file: `--assume-delivery`; links of status Working",
        "`lat`, `lon` of `<node>`",
        "`channel` of `<radio>`, where every link has one",
    ),
    "wmediumd": Format(
        "wmediumd.cfg, also of mininet-wifi",
        "`ifaces: {`",
        "signal-to-noise ratio in dB, 30 where none is listed; or error probability; or a law of path loss",
        "`positions` in metres",
    ),
    "graphml": Format(
        "NetworkX, Gephi, igraph, Cytoscape, yEd",
        "XML `<graphml>`",
        "`delivery`, `nlq` and `lq`, `rssi` (dBm), `snr` (dB), `etx`; else `weight`: from 0 to 1 delivery, from 1 up "
        "ETX; or `--assume-delivery`",
        "`lat`, `lon` in degrees, `x`, `y` in metres; not those of drawings",
    ),
    "dot": Format(
        "Graphviz; olsrd: dot_draw",
        "`graph` or `digraph`",
        "as graphml, with `label` as `weight`; labels of olsrd's `digraph topology` are ETX",
        "`lat`, `lon` in degrees, `pos` in metres; not where Graphviz laid it out",
    ),
    "csv": Format(
        "you",
        "columns `source, target`",
        "`delivery`, `reverse_delivery`, or `rssi_dbm`, `reverse_rssi_dbm`, as given; with both, powers say "
        "which nodes sense each other",
        "`--nodes` with `name` and `lat, lon` or `x, y`",
        "`channel`, `rate_mbps`",
    ),
    "places": Format(
        "you",
        "columns `name` and `lat, lon` or `x, y`, no links",
        "none: nodes within `--range` (250 m) decode each other, in the medium `ranges`",
        "`lat, lon` or `x, y`",
    ),
    "orbit": Format(
        "ORBIT testbed",
        "columns `noise_dbm, tx_x, tx_y, ...`",
        "probes received of those sent, at one `--noise-level`",
        "`tx_x`, `tx_y`, `rx_x`, `rx_y`",
    ),
    "nycmesh": Format(
        "NYC Mesh: links.json",
        "links with `from, to, status`",
        "none in the file: `--assume-delivery`",
        "nodes.json as `--nodes`",
    ),
}

Kind = Literal["json", "xml", "text", "columns"]


class Source:
    """File in the forms that importers need: text, JSON, XML, or a table with columns."""

    def __init__(self, text: str, origin: str, data: Any = None, nodes: Any = None) -> None:  # noqa: ANN401 - JSON
        self.text = text
        self.origin = origin
        #: Value of a JSON file.
        self.data = data
        #: Second file: the value of a JSON file, or a `tables.Table`.
        self.nodes = nodes

    @cached_property
    def table(self) -> tables.Table:
        """The file as a CSV table."""
        return tables.parse(self.text, self.origin)

    @cached_property
    def root(self) -> xml_tree.Element:
        """Root element of the file as XML."""
        return xml_tree.parse(self.text, self.origin)


@dataclass(frozen=True)
class Reader:
    """Recognition and reading of one kind of file.

    Attributes:
        format: name of its format.
        kind: argument of `matches`: the value of JSON, the name of an XML root element, text, or columns.
        matches: whether a file is of this kind.
        read: function that reads a file of this kind.
        takes: options that apply. Others are refused, since they would be ignored.
        label: name in messages, if the format has several kinds of files.
    """

    format: str
    kind: Kind
    matches: Callable[[Any], bool]
    read: Callable[[Source, Options], Mesh]
    takes: tuple[str, ...] = ()
    label: str = ""

    @property
    def name(self) -> str:
        """Name of the kind of file in messages."""
        return self.label or self.format


#: Readers, in the order in which they are tried.
READERS = (
    Reader("meshviewer", "json", meshviewer.matches, lambda s, _: meshviewer.read(s.data, s.origin)),
    Reader("batadv-vis", "json", batadv_vis.matches, lambda s, _: batadv_vis.read(s.data, s.origin)),
    Reader("bmx", "json", bmx.matches, lambda s, _: bmx.read(s.data, s.origin)),
    Reader(
        "netjson",
        "json",
        netjson.matches,
        lambda s, o: netjson.read(s.data, s.origin, o.assume_delivery),
        ("assume_delivery",),
    ),
    Reader("aredn", "json", aredn.matches, lambda s, _: aredn.read(s.data, s.origin)),
    Reader("olsr", "json", olsr.matches, lambda s, _: olsr.read(s.data, s.origin), label="olsr jsoninfo"),
    Reader("olsrv2", "json", olsrv2.matches, lambda s, _: olsrv2.read(s.data, s.origin)),
    Reader("ffmap", "json", ffmap.matches, lambda s, _: ffmap.read(s.data, s.nodes, s.origin), ("nodes",)),
    Reader(
        "nycmesh",
        "json",
        nycmesh.matches,
        lambda s, o: nycmesh.read(s.data, s.nodes, s.origin, o.assume_delivery),
        ("nodes", "assume_delivery"),
    ),
    Reader(
        "cnml",
        "xml",
        cnml.matches,
        lambda s, o: cnml.read(s.root, s.origin, o.assume_delivery),
        ("assume_delivery",),
    ),
    Reader(
        "graphml",
        "xml",
        graphml.matches,
        lambda s, o: graphml.read(s.root, s.origin, o.assume_delivery),
        ("assume_delivery",),
    ),
    Reader("batadv-vis", "text", batadv_vis.matches_text, lambda s, _: batadv_vis.read_text(s.text, s.origin)),
    Reader(
        "dot",
        "text",
        dot.matches_text,
        lambda s, o: dot.read_text(s.text, s.origin, o.assume_delivery),
        ("assume_delivery",),
    ),
    Reader("babel", "text", babel.matches_text, lambda s, _: babel.read_text(s.text, s.origin)),
    Reader("iw", "text", iw.matches_text, lambda s, _: iw.read_text(s.text, s.origin)),
    Reader("olsr", "text", olsr.matches_text, lambda s, _: olsr.read_text(s.text, s.origin), label="olsr txtinfo"),
    Reader("olsrv2", "text", olsrv2.matches_text, lambda s, _: olsrv2.read_text(s.text, s.origin)),
    Reader("wmediumd", "text", wmediumd.matches_text, lambda s, _: wmediumd.read_text(s.text, s.origin)),
    Reader("orbit", "columns", orbit.matches, lambda s, o: orbit.read(s.table, o.noise_level), ("noise_level",)),
    Reader(
        "olsr",
        "columns",
        olsr.matches_csv,
        lambda s, _: olsr.read_csv(s.table, s.nodes),
        ("nodes",),
        "olsr CSV",
    ),
    Reader(
        "csv",
        "columns",
        plain.matches,
        lambda s, o: plain.read(s.table, s.nodes, o.assume_delivery),
        ("nodes", "assume_delivery"),
    ),
    Reader("places", "columns", places.matches, lambda s, o: places.read(s.table, o.range_m), ("range_m",)),
)


def table() -> str:
    """Returns the table of formats of the page about imports."""
    rows = [
        ("format", "written by", "recognised by", "a link's quality", "positions", "radios and rates"),
        ("---",) * 6,
        *((name, f.writers, f.recognised, f.quality, f.places, f.radios) for name, f in FORMATS.items()),
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
