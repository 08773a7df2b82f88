"""`python -m validation.measured_back [FILE]`: estimators in runs, on captures of the same runs, and the truth.

A run writes down what estimators say at each node, and a capture of all frames at each node's radio. The capture is
measured, without any knowledge of the run, and what estimators say of it is put beside what they said in the run.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import multihop
from validation import page

Scenario = dict[str, Any]

#: All that run on captures, with default options, and rt-Winf as it is meant.
ESTIMATORS: list[dict[str, Any]] = [
    {"estimator": "rt-winf"},
    {"estimator": "rt-winf", "name": "rt-winf strict", "reading": "strict", "full_busy": True},
    {"estimator": "rt-winf-probe"},
    {"estimator": "idlegap"},
    {"estimator": "busy-ratio"},
    {"estimator": "fsd"},
    {"estimator": "fte"},
    {"estimator": "packet-throughput"},
]

#: Each estimator's quantities, and what of the run is the truth of it.
QUANTITIES = [
    "capacity_bps",
    "available_bps",
    "busy_ratio",
    "service_delay_s",
    "transmission_efficiency",
    "packet_throughput_bps",
]

#: Two numbers are the same if they differ by no more than rounding.
SAME = 1e-9


def chain(seconds: int) -> Scenario:
    """Three hops of 802.11b with RTS/CTS and light traffic, in which nodes sense more than they decode."""
    flow = {"scheme": "udp"}
    return _watched("chain", seconds) | {
        "mac": {"rts_threshold": "0 B"},
        "topology": {"generator": "chain", "hops": 3, "spacing": "200 m"},
        "flows": [
            flow | {"name": "near", "from": "n1", "to": "n2", "app": _poisson("500 kb/s")},
            flow | {"name": "far", "from": "n0", "to": "n3", "app": _poisson("100 kb/s")},
        ],
    }


def hidden_terminal(seconds: int) -> Scenario:
    """Two saturated senders that cannot sense each other, with RTS/CTS, and the receiver between them."""
    flow = {"scheme": "udp", "to": "n1"}
    return _watched("hidden-terminal", seconds) | {
        "mac": {"rts_threshold": "0 B"},
        "medium": {
            "model": "ranges",
            "receive_range": "250 m",
            "carrier_sense_range": "250 m",
            "capture": "off",
        },
        "topology": {"generator": "chain", "hops": 2, "spacing": "200 m"},
        "flows": [flow | {"name": "left", "from": "n0"}, flow | {"name": "right", "from": "n2"}],
    }


def lossy(seconds: int) -> Scenario:
    """A saturated sender without RTS/CTS, a tenth of whose frames are lost, and a light one the other way."""
    flow = {"scheme": "udp"}
    return _watched("lossy", seconds) | {
        "mac": {"rts_threshold": "off"},
        "medium": {"model": "ranges", "packet_error_rate": 0.1},
        "topology": {"generator": "chain", "hops": 1, "spacing": "100 m"},
        "flows": [
            flow | {"name": "all", "from": "n0", "to": "n1"},
            flow | {"name": "some", "from": "n1", "to": "n0", "app": _poisson("200 kb/s")},
        ],
    }


def aggregated(seconds: int) -> Scenario:
    """The same link at 65 Mb/s, with A-MPDUs, of whose MPDUs a tenth is lost."""
    return lossy(seconds) | {"name": "aggregated", "phy": {"standard": "802.11n", "data_rate": "MCS 7"}}


def _watched(name: str, seconds: int) -> Scenario:
    """What the scenes have in common: 802.11b, packets of 1500 bytes, and all estimators everywhere."""
    return {
        "name": name,
        "duration": f"{seconds} s",
        "record_interval": "1 s",
        "phy": {"standard": "802.11b", "data_rate": "11 Mb/s", "control_rate": "1 Mb/s"},
        "schemes": {"udp": {"segment_size": "1472 B"}},
        "measure": ESTIMATORS,
    }


def _poisson(rate: str) -> dict[str, str]:
    return {"kind": "poisson", "rate": rate, "packet": "1472 B"}


@dataclass(frozen=True)
class Row:
    """One quantity of one estimator at one node: means over time, and the truth where the run knows it."""

    node: str
    estimator: str
    quantity: str
    #: Instants at which the run has a value, and those at which the capture has another one, or none.
    instants: int
    different: int
    simulated: float
    measured: float
    truth: float | None

    def bias(self, value: float) -> float | None:
        """How far a mean is from the truth, relative to it."""
        return None if not self.truth else value / self.truth - 1


def rows(scenario: Scenario) -> list[Row]:
    """Runs a scenario, measures its capture, and compares."""
    with tempfile.TemporaryDirectory() as folder:
        capture, tables = Path(folder) / "run.pcapng", Path(folder) / "estimators.toml"
        run = multihop.run(scenario, pcap=capture)
        tables.write_text("".join(_toml(table) for table in scenario["measure"]))
        found = multihop.measure(capture, bin=scenario["record_interval"], estimators=tables)
    return [
        row
        for (node, estimator), both in _paired(run, found).groupby(["name", "estimator"], sort=False)
        for row in _rows(str(node), str(estimator), both, _truths(run, str(node), link_alone_bps(scenario)))
    ]


def link_alone_bps(scenario: Scenario) -> float:
    """What a link carries of such packets without contention: bits of the network layer per second, of one run."""
    alone = scenario | {
        "topology": {"generator": "chain", "hops": 1, "spacing": "200 m"},
        "flows": [{"name": "alone", "from": "n0", "to": "n1", "scheme": "udp"}],
        "measure": [],
        "duration": "30 s",
    }
    return float(multihop.run(alone).summary["goodput_total_bps"]) * 1500 / 1472


def _paired(run: multihop.Result, found: multihop.Measurement) -> pd.DataFrame:
    """Both time series, by instant, node and estimator, but for the end of the run, which is after the last frame."""
    starts = {sniffer.interface: sniffer.start_s for sniffer in found.sniffers}
    names = {sniffer.interface: sniffer.name for sniffer in found.sniffers}
    captured = found.estimates.copy()
    captured["name"] = captured["interface"].map(names)
    captured["time_s"] = (captured["time_s"] + captured["interface"].map(starts)).round(6)
    recorded: pd.DataFrame = run.measurements.copy()
    recorded["time_s"] = recorded["time_s"].round(6)
    recorded = recorded[recorded["time_s"] < recorded["time_s"].max()]
    return recorded.merge(captured, on=["name", "time_s", "estimator"], how="left", suffixes=("", "_captured"))


def _truths(run: multihop.Result, node: str, alone_bps: float) -> dict[str, float]:
    of = run.nodes[run.nodes["name"] == node].to_dict("records")[0]
    busy = float(run.measurements.loc[run.measurements["name"] == node, "true_busy_ratio"].mean())
    return {
        "capacity_bps": alone_bps,
        "available_bps": alone_bps * (1 - busy),
        "busy_ratio": busy,
        "service_delay_s": float(of["service_delay_mean_s"]),
        "transmission_efficiency": float(of["transmission_efficiency"]),
        # The run keeps no count of it other than the estimator's.
        "packet_throughput_bps": float("nan"),
    }


def _rows(node: str, estimator: str, both: pd.DataFrame, truths: dict[str, float]) -> list[Row]:
    made = []
    for quantity in QUANTITIES:
        recorded, captured = both[quantity].to_numpy(), both[f"{quantity}_captured"].to_numpy()
        has = ~np.isnan(recorded)
        if not has.any():
            continue
        same = np.abs(captured - recorded) <= SAME * np.abs(recorded)
        truth = truths[quantity]
        made.append(
            Row(
                node,
                estimator,
                quantity,
                int(has.sum()),
                int((has & ~same).sum()),
                float(np.nanmean(recorded)),
                float(np.nanmean(captured[has])) if not np.isnan(captured[has]).all() else float("nan"),
                None if np.isnan(truth) else truth,
            )
        )
    return made


def _toml(table: dict[str, Any]) -> str:
    values = {key: str(value).lower() if isinstance(value, bool) else f'"{value}"' for key, value in table.items()}
    return "[[measure]]\n" + "".join(f"{key} = {value}\n" for key, value in values.items())


_SHOWN = {
    "capacity_bps": ("capacity [Mb/s]", 1e-6),
    "available_bps": ("available [Mb/s]", 1e-6),
    "busy_ratio": ("busy ratio", 1.0),
    "service_delay_s": ("service delay [ms]", 1e3),
    "transmission_efficiency": ("efficiency", 1.0),
    "packet_throughput_bps": ("packet throughput [Mb/s]", 1e-6),
}


def table(of: list[Row]) -> str:
    """The comparison as Markdown."""

    def cells(row: Row) -> list[str]:
        name, scale = _SHOWN[row.quantity]
        values = (row.simulated, row.measured, row.truth)
        biases = (row.bias(row.simulated), row.bias(row.measured))
        return [
            f"{row.node}, {row.estimator}, {name}",
            f"{row.different} of {row.instants}",
            *("" if value is None or np.isnan(value) else f"{value * scale:.3f}" for value in values),
            *("" if bias is None or np.isnan(bias) else f"{bias:+.1%}" for bias in biases),
        ]

    return page.table(
        ["node, estimator", "differ", "in the run", "from the capture", "truth", "bias", "bias from capture"],
        map(cells, of),
    )


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(prog="python -m validation.measured_back", description=__doc__)
    parser.add_argument(
        "file", nargs="?", type=Path, default=Path("docs/results/measured-back.md"), help="where the page goes"
    )
    file = parser.parse_args().file
    text = (Path(__file__).parent / "templates" / "measured_back.md").read_text()
    scenes = {"chain": chain, "hidden_terminal": hidden_terminal, "lossy": lossy, "aggregated": aggregated}
    for name, scenario in ((name, scene(60)) for name, scene in scenes.items()):
        text = text.replace(f"@{name}@", table(rows(scenario)))
    file.write_text(text.replace("@version@", multihop.__version__))
    print(f"wrote {file}")


if __name__ == "__main__":
    main()
