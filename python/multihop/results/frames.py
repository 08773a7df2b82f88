"""Tables of one or more runs, from the engine's columns and derived columns.

Runs that are processed together have one resolved scenario and differ only in the seed: they have the same
nodes, flows and time steps. The first column of each table is the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from multihop import _core
from multihop.base.errors import UserError
from multihop.base.escaping import visible
from multihop.results.columns import DROP_CAUSES, TABLES
from multihop.results.statistics import jain

if TYPE_CHECKING:
    Outputs = Sequence[_core.Output]


#: Single NaN object, so that summaries of equal runs compare equal: dicts compare identity first.
_MISSING = float("nan")


@contextmanager
def _as_the_engine_writes() -> Iterator[None]:
    """Raises one error for output that the engine did not write, such as an edited file of the store.

    Raises:
        UserError: if tables cannot be made of the output.
    """
    try:
        yield
    except (AttributeError, IndexError, KeyError, StopIteration, TypeError, ValueError) as error:
        raise UserError(
            f"a run's output is not as the engine writes it ({type(error).__name__}: {visible(str(error))[:200]}); "
            "if it was kept in a folder, name another place with --out"
        ) from error


@_as_the_engine_writes()
def table(name: str, view: _core.ScenarioView, outputs: Outputs) -> pd.DataFrame:
    """Returns the table of that name, one of `multihop.results.columns.TABLES`, with the rows of all runs."""
    make: dict[str, Callable[[_core.ScenarioView, Outputs], pd.DataFrame]] = {
        "flows": _flows,
        "nodes": _nodes,
        "links": _links,
        "wires": _wires,
        "categories": _categories,
        "series": _series,
        "delays": _delays,
        "measurements": _measurements,
        "positions": _positions,
        "summary": _summary,
    }
    return make[name](view, outputs)


def sources(name: str) -> frozenset[str]:
    """Names of the engine's tables that a result table needs, besides the scalars of each run."""
    return frozenset({"flows", "nodes", "delays"} if name == "summary" else {name})


@_as_the_engine_writes()
def summaries(view: _core.ScenarioView, outputs: Outputs) -> list[dict[str, int | float | str]]:
    """Returns the scalars of each run."""
    flows = _flows(view, outputs)
    count = len(view["flows"])
    sharing = np.array([not flow.get("acknowledges", False) for flow in view["flows"]], dtype=bool)
    alike = sharing & np.isin(np.arange(count), largest_alike(view["flows"]))
    rows = []
    for index, output in enumerate(outputs):
        of_run = flows.iloc[index * count : (index + 1) * count]
        made = _flow_scalars(of_run, sharing, alike) | _pooled_delays(of_run, output.get("delays"), alike)
        sent = float(np.sum(output["nodes"]["transmitting"]))
        made["overhead"] = 1.0 - float(of_run["payload_airtime"].sum()) / sent if sent else float("nan")
        raw = {**output["summary"], **made}
        rows.append({name: raw[name] for name in TABLES["summary"] if name in raw})
    return rows


def _flows(_: _core.ScenarioView, outputs: Outputs) -> pd.DataFrame:
    df = _stacked("flows", outputs)
    measured = np.repeat([float(o["summary"]["measured_s"]) for o in outputs], [_length(o["flows"]) for o in outputs])
    sent, arrived = df["packets_sent"].to_numpy(dtype=float), df["packets_delivered"].to_numpy(dtype=float)
    df["goodput_bps"] = df["delivered_bytes"] * 8 / measured
    df["offered_bps"] = df["sent_bytes"] * 8 / measured
    df["packets_lost"] = df[[f"dropped_{cause}" for cause in DROP_CAUSES]].sum(axis=1)
    lost = df["packets_lost"].to_numpy(dtype=float)
    # The divisor is not the emitted packets: a queue filled during the warm-up may drop more than are
    # emitted.
    df["loss_ratio"] = _ratio(lost, lost + arrived)
    df["retransmission_ratio"] = _ratio(df["retransmissions"].to_numpy(dtype=float), sent)
    # The engine writes zero where nothing arrived, although no delay was observed.
    delays = [name for name in df.columns if name.startswith("delay_")]
    df.loc[arrived == 0, delays] = np.nan
    return df[["seed", *TABLES["flows"]]]


def _nodes(_: _core.ScenarioView, outputs: Outputs) -> pd.DataFrame:
    return _stacked("nodes", outputs)[["seed", *TABLES["nodes"]]]


def _links(view: _core.ScenarioView, outputs: Outputs) -> pd.DataFrame:
    return _between_nodes("links", view, outputs)


def _wires(view: _core.ScenarioView, outputs: Outputs) -> pd.DataFrame:
    return _between_nodes("wires", view, outputs) if "wires" in outputs[0] else _empty("wires")


def _categories(_: _core.ScenarioView, outputs: Outputs) -> pd.DataFrame:
    if "categories" not in outputs[0]:
        return _empty("categories")
    return _stacked("categories", outputs)[["seed", *TABLES["categories"]]]


def _between_nodes(name: str, view: _core.ScenarioView, outputs: Outputs) -> pd.DataFrame:
    df = _stacked(name, outputs)
    names = np.array([node["name"] for node in view["nodes"]], dtype=object)
    df["sender_name"] = names[df["sender"].to_numpy(dtype=int)]
    df["receiver_name"] = names[df["receiver"].to_numpy(dtype=int)]
    return df[["seed", *TABLES[name]]]


def _series(view: _core.ScenarioView, outputs: Outputs) -> pd.DataFrame:
    df = _stacked("series", outputs)
    at = df["time_s"].to_numpy(dtype=float)
    times = np.unique(at)
    lengths = (times - np.concatenate([[0.0], times[:-1]]))[np.searchsorted(times, at)]
    df["goodput_bps"] = df["delivered_bytes"] * 8 / lengths
    df["sending_rate_bps"] = df["sent_bytes"] * 8 / lengths
    names = np.array([flow["name"] for flow in view["flows"]], dtype=object)
    df["name"] = names[df["flow"].to_numpy(dtype=int)]
    return df[["seed", *TABLES["series"]]]


def _measurements(view: _core.ScenarioView, outputs: Outputs) -> pd.DataFrame:
    if "measurements" not in outputs[0]:
        return _empty("measurements")
    df = _stacked("measurements", outputs)
    names = np.array([node["name"] for node in view["nodes"]], dtype=object)
    df["name"] = names[df["node"].to_numpy(dtype=int)]
    called_busy = 1.0 - df["available_bps"] / df["capacity_bps"].where(df["capacity_bps"] > 0)
    df["implied_busy_ratio"] = df["busy_ratio"].fillna(called_busy)
    return df[["seed", *TABLES["measurements"]]]


def _delays(view: _core.ScenarioView, outputs: Outputs) -> pd.DataFrame:
    # Older runs in a store lack this table.
    outputs = [output for output in outputs if "delays" in output]
    return _with_names("delays", "flow", view["flows"], outputs)


def _positions(view: _core.ScenarioView, outputs: Outputs) -> pd.DataFrame:
    # Whether a node moves may depend on the seed: its first pause may last longer than the run.
    outputs = [output for output in outputs if "positions" in output]
    return _with_names("positions", "node", view["nodes"], outputs)


def _with_names(name: str, index: str, named: Sequence[Mapping[str, Any]], outputs: Outputs) -> pd.DataFrame:
    """Returns a table of flows or nodes with their names."""
    if not outputs:
        return _empty(name)
    df = _stacked(name, outputs)
    names = np.array([each["name"] for each in named], dtype=object)
    df["name"] = names[df[index].to_numpy(dtype=int)]
    return df[["seed", *TABLES[name]]]


def _summary(view: _core.ScenarioView, outputs: Outputs) -> pd.DataFrame:
    return pd.DataFrame(summaries(view, outputs))


def wants(flows: Sequence[_core.FlowView]) -> list[tuple[str, float | None]]:
    """Returns the demand of each flow: application and offered rate in bit/s, or `None` for a greedy flow."""
    return [("" if flow["offered_bps"] is None else flow["app"], flow["offered_bps"]) for flow in flows]


def largest_alike(flows: Sequence[_core.FlowView]) -> list[int]:
    """Returns indices of the largest group of flows with equal demand, among which fairness is measured."""
    groups: dict[tuple[str, float | None], list[int]] = {}
    for index, want in enumerate(wants(flows)):
        groups.setdefault(want, []).append(index)
    return max(groups.values(), key=len, default=[])


def _flow_scalars(flows: pd.DataFrame, sharing: np.ndarray, alike: np.ndarray) -> dict[str, float | int]:
    """Returns scalars of all flows, of sharing flows, and of sharing flows with equal demand.

    Flows of emulations that only carry replies do not count as sharing.
    """
    column = {name: flows[name].to_numpy() for name in flows.columns}
    goodput, arrived = column["goodput_bps"], column["packets_delivered"].astype(float)
    lost = float(column["packets_lost"].sum())
    heard = (arrived > 0) & sharing
    repeated = column["retransmissions"].astype(float)
    counted = ~np.isnan(repeated)
    sent_counted = float(column["packets_sent"][counted].sum())
    decided = lost + float(arrived.sum())
    return {
        "goodput_total_bps": float(goodput.sum()),
        "jain": jain(goodput[alike]),
        "delay_mean_s": float(np.average(column["delay_mean_s"][heard], weights=arrived[heard]))
        if heard.any()
        else float("nan"),
        "rtt_mean_s": _mean(column["rtt_mean_s"]),
        "loss_ratio": lost / decided if decided else float("nan"),
        "feedback_dropped": int(column["feedback_dropped"].sum()),
        "retransmission_ratio": float(repeated[counted].sum()) / sent_counted if sent_counted else float("nan"),
        "flows_starved": int((goodput[sharing] == 0).sum()),
        "rate_cv": _mean(column["rate_cv"]),
        "late_ratio": _late_ratio(column),
        "stall_time_s": _mean(column["stall_time_s"]),
        "video_frame_delay_p95_s": _mean(column["video_frame_delay_p95_s"]),
    }


def _pooled_delays(flows: pd.DataFrame, bins: dict[str, Any] | None, alike: np.ndarray) -> dict[str, float]:
    """Median and 95th percentile of delay over the packets of flows with equal demand.

    Quantiles of the histogram are off by at most 3 %. Results are limited to the range of the flows' exact
    quantiles, so that a single flow is exact. Older runs without a histogram have no quantiles.
    """
    made = {}
    for name, share in (("delay_p50_s", 0.5), ("delay_p95_s", 0.95)):
        of_flows = flows[name].to_numpy(dtype=float)[alike]
        of_flows = of_flows[np.isfinite(of_flows)]
        made[name] = _MISSING
        if bins is not None and len(of_flows):
            own = alike[bins["flow"].astype(int)]
            pooled = quantile(bins["delay_s"][own], bins["packets"][own], share)
            made[name] = float(np.clip(pooled, of_flows.min(), of_flows.max()))
    return made


def quantile(edges: np.ndarray, packets: np.ndarray, share: float) -> float:
    """Returns the smallest bin edge that at least this share of the packets does not exceed."""
    order = np.argsort(edges, kind="stable")
    counted = np.cumsum(packets[order])
    return float(edges[order][np.searchsorted(counted, share * counted[-1])])


def _late_ratio(column: dict[str, np.ndarray]) -> float:
    """Returns the share of video frames that were late, lost or skipped; NaN without frames."""
    in_time = float(np.nansum(column["video_frames_on_time"].astype(float)))
    missed = sum(float(np.nansum(column[f"video_frames_{how}"].astype(float))) for how in ("late", "lost", "skipped"))
    return missed / (missed + in_time) if missed + in_time else _MISSING


def _empty(name: str) -> pd.DataFrame:
    """Returns an empty table with the columns and types of that name."""
    columns = {column: pd.Series(dtype=float if about.unit else object) for column, about in TABLES[name].items()}
    return pd.DataFrame({"seed": pd.Series(dtype=np.uint64), **columns})


def _stacked(name: str, outputs: Outputs) -> pd.DataFrame:
    """Joins the engine's columns of all runs, with the seed of each row."""
    tables: list[dict[str, Any]] = [output[name] for output in outputs]  # type: ignore[literal-required]
    seeds = [int(output["summary"]["seed"]) for output in outputs]
    lengths = [_length(columns) for columns in tables]
    stacked: dict[str, Any] = {"seed": np.repeat(np.array(seeds, dtype=np.uint64), lengths)}
    for column, first in tables[0].items():
        parts = [columns[column] for columns in tables]
        is_text = isinstance(first, list)
        stacked[column] = [text for part in parts for text in part] if is_text else np.concatenate(parts)
    return pd.DataFrame(stacked)


def _length(columns: dict[str, Any]) -> int:
    return len(next(iter(columns.values())))


def _mean(values: np.ndarray) -> float:
    present = values.astype(float)
    present = present[~np.isnan(present)]
    return float(present.mean()) if len(present) else _MISSING


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, np.nan)
