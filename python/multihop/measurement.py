"""Tables of a measured monitor-mode capture: airtime, links, stations, and quality of the capture.

`multihop.api.measuring` makes them. Each interface of a capture is a separate sniffer, and so is each channel
of a radio that changed channels. Memory does not depend on the length of the capture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from multihop.base.display import Displayed, Overview
from multihop.results import statistics
from multihop.results.words import share
from multihop.stations import StationNames

#: Least number of values for quantiles: with fewer, the 5 % quantile would be the minimum.
ENOUGH = 20

#: Instant that stamps mark: begin of the preamble, first bit of the MAC header, or end of the frame.
Stamps = Literal["begin", "mpdu", "end"]


@dataclass(frozen=True)
class Sniffer:
    """One interface of a capture, on one channel.

    Attributes:
        interface: number of the interface in the file.
        channel_mhz: frequency of the channel; 0 if the capture has none.
        name: name of the interface; may be empty.
        start_s: begin of the first frame, in seconds since 1970 or of the radio's timer.
        length_s: time from there to the end of the last frame. For a radio that changed its channel, the time
            that it listened on this one, which `airtime`, `busy` and `estimates` count, too.
        bin_s: width of the bins of `airtime` and `busy`; larger than requested for a very long capture.
        step_s: interval between estimates; larger than the bin if there would be more than about two
            thousand.
        stamps: instant that stamps mark, `begin`, `mpdu` or `end`, detected from `stamp_pairs` frames with
            their responses.
        stamp_pairs: number of frames with responses from which `stamps` was detected.
        own: station of the sniffer itself, if the capture shows it.
        at: station whose estimators were run; `None` for a sniffer that sends nothing.
        grade: quality of the capture, `good`, `fair` or `poor`.
        reasons: reasons for the grade.
        quality: counts behind the grade.
    """

    interface: int
    channel_mhz: int
    name: str
    start_s: float | None
    length_s: float
    bin_s: float
    step_s: float
    stamps: Stamps
    stamp_pairs: int
    own: str | None
    at: str | None
    grade: str
    reasons: list[str] = field(repr=False)
    quality: dict[str, Any] = field(repr=False)

    @property
    def title(self) -> str:
        """Name of the sniffer, with its channel if the radio changed channels."""
        name = self.name or f"interface {self.interface}"
        return f"{name} at {self.channel_mhz} MHz" if self.hops else name

    @property
    def hops(self) -> bool:
        """Whether the sniffer's radio changed its channel during the capture."""
        return bool(self.quality["channel_changes"])


@dataclass(frozen=True, repr=False)
class Measurement(Displayed):
    """Measurement of a capture.

    Attributes:
        path: file of the capture.
        records: number of readable records.
        bytes: uncompressed size of the file.
        broken: reason why the file could not be read to its end, or `None`.
        sniffers: one sniffer per interface and channel.
        names: names of stations; a station without one has the name of the network that it announces.
    """

    path: Path
    records: int
    bytes: int
    broken: str | None
    sniffers: list[Sniffer]
    _raw: list[dict[str, Any]]
    names: StationNames = field(default_factory=StationNames)

    @cached_property
    def _by_sniffer(self) -> dict[tuple[int, int], dict[str, Any]]:
        return {(raw["interface"], raw["channel_mhz"]): raw for raw in self._raw}

    def _of(self, sniffer: Sniffer) -> dict[str, Any]:
        return self._by_sniffer[sniffer.interface, sniffer.channel_mhz]

    @staticmethod
    def of(table: pd.DataFrame, sniffer: Sniffer) -> pd.DataFrame:
        """Returns the rows of a table that belong to a sniffer."""
        is_its = (table["interface"] == sniffer.interface) & (table["channel_mhz"] == sniffer.channel_mhz)
        return table[is_its]

    @property
    def main_sniffer(self) -> Sniffer:
        """Sniffer with the most records."""
        return max(self.sniffers, key=lambda each: int(each.quality["records"]))

    @cached_property
    def channels(self) -> pd.DataFrame:
        """Table of channels.

        Columns: interface, channel_mhz, channel (number; 0: unknown), frames, stations, length_s (time that
        the radio listened there), share (of its listening time on all channels), busy_ratio (of `length_s`)
        and grade.
        """
        rows = [
            {
                "interface": sniffer.interface,
                "channel_mhz": sniffer.channel_mhz,
                "channel": channel_number(sniffer.channel_mhz),
                "frames": int(self.kinds(sniffer)["frames"].sum()),
                "stations": len(self.of(self.stations, sniffer)),
                "length_s": sniffer.length_s,
                "busy_ratio": self.busy_ratio(sniffer),
                "grade": sniffer.grade,
            }
            for sniffer in self.sniffers
        ]
        table = pd.DataFrame(rows)
        if not table.empty:
            whole = table.groupby("interface")["length_s"].transform("sum")
            table.insert(6, "share", table["length_s"] / whole.where(whole > 0))
        return table

    @cached_property
    def airtime(self) -> pd.DataFrame:
        """Airtime by bin, station and kind.

        Columns: interface, channel_mhz, time_s (begin of the bin), station (empty: unknown), kind, frames,
        bytes, airtime_s, and share (of the bin).
        """
        tables = []
        for raw, sniffer in zip(self._raw, self.sniffers, strict=True):
            columns = {key: value for key, value in raw["airtime"].items() if key != "kinds"}
            table = pd.DataFrame(columns)
            names = np.array([*raw["stations"]["station"], ""], dtype=object)
            table["station"] = names[table["station"].to_numpy()]
            table["kind"] = np.array(raw["airtime"]["kinds"], dtype=object)[table["kind"].to_numpy()]
            table.insert(0, "time_s", table.pop("bin") * sniffer.bin_s)
            _label(table, sniffer)
            table["share"] = table["airtime_s"] / self._widths(sniffer, table["time_s"].to_numpy())
            tables.append(table)
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

    def kinds(self, sniffer: Sniffer) -> pd.DataFrame:
        """Returns the totals of a sniffer's `airtime`: kind, frames, bytes, airtime_s."""
        raw = self._of(sniffer)["airtime"]

        def total(column: str) -> np.ndarray:
            return np.bincount(raw["kind"], weights=raw[column], minlength=len(raw["kinds"]))

        counts = {column: total(column).astype(np.int64) for column in ("frames", "bytes")}
        table = pd.DataFrame({"kind": raw["kinds"], **counts, "airtime_s": total("airtime_s")})
        return table[table["frames"] > 0].reset_index(drop=True)

    @cached_property
    def busy(self) -> pd.DataFrame:
        """Share of each bin occupied by frames that the sniffer decoded.

        Columns: interface, channel_mhz, time_s, busy_ratio. A capture lacks signals that the sniffer sensed
        without decoding, so that busy_ratio is a lower bound.
        """
        tables = []
        for raw, sniffer in zip(self._raw, self.sniffers, strict=True):
            time = np.arange(len(raw["busy_s"])) * sniffer.bin_s
            ratio = raw["busy_s"] / self._widths(sniffer, time)
            tables.append(_label(pd.DataFrame({"time_s": time, "busy_ratio": ratio}), sniffer))
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

    def knows_airtime(self, sniffer: Sniffer) -> bool:
        """Whether the airtime of any frame is known."""
        return bool(self.kinds(sniffer)["airtime_s"].sum() > 0)

    def why_no_estimates(self, sniffer: Sniffer) -> str:
        """Returns the reason for missing estimates."""
        if sniffer.quality["unknown_airtime"] and not self.knows_airtime(sniffer):
            return "no frame says at which rate it was sent"
        if sniffer.length_s == 0 and sniffer.quality["records"] > 1:
            return "all timestamps are equal"
        return f"the capture is shorter than a bin of {sniffer.bin_s:g} s"

    @cached_property
    def stations(self) -> pd.DataFrame:
        """Table of received stations: frames, retries, airtime_s, share, signal and service time.

        `network` is the SSID or mesh ID that a station announces in beacons and probe responses. Service time
        is from the first transmission of a data frame to its acknowledgement.
        """
        tables = []
        for raw, sniffer in zip(self._raw, self.sniffers, strict=True):
            table = pd.DataFrame(raw["stations"])
            _label(table, sniffer)
            table["share"] = table["airtime_s"] / sniffer.length_s if sniffer.length_s > 0 else np.nan
            table["retry_ratio"] = table["retries"] / table["data_frames"].where(table["data_frames"] > 0)
            tables.append(table[table["frames"] > 0])
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

    @cached_property
    def links(self) -> pd.DataFrame:
        """Table of links: traffic, capacity and available rate.

        - `capacity_bps`: capacity by rt-Winf as printed (Barreto 2015, Eqs. 6 and 12), the mean of batches of
          16 exchanges, with its 95 % interval.
        - `available_bps`: the capacity times the share of time without a frame on the air. Its interval
          combines those of the capacity's batches and of that share over bins, taken as independent.
        - `phy_rate_bps`: bit rate of the fastest data frames behind the capacity, which is its upper limit.
        - `airtime`: share of time of acknowledged exchanges, from their first frame to the acknowledgement.
        - `aggregate_mean`: MPDUs per PPDU with data, 1 without A-MPDUs.
        - `tries_mean`: transmissions of MPDUs per acknowledged MPDU.
        - `rate_mean_bps`: mean bit rate of data frames.
        """
        tables = []
        for raw, sniffer in zip(self._raw, self.sniffers, strict=True):
            table = _between_stations(raw["links"])
            _label(table, sniffer)
            half = statistics.half_width(
                table.pop("capacity_deviation_bps").to_numpy(), table["capacity_batches"].to_numpy()
            )
            # A capacity is neither below zero nor above the rate of its frames, however wide the interval is.
            table["capacity_low_bps"] = (table["capacity_bps"] - half).clip(lower=0.0)
            table["capacity_high_bps"] = (table["capacity_bps"] + half).clip(upper=table["phy_rate_bps"])
            idle = 1.0 - self.busy_ratio(sniffer)
            table["available_bps"] = table["capacity_bps"] * idle
            either = np.hypot(half * idle, table["capacity_bps"] * self._busy_half_width(sniffer))
            table["available_low_bps"] = (table["available_bps"] - either).clip(lower=0.0)
            table["available_high_bps"] = (table["available_bps"] + either).clip(upper=table["phy_rate_bps"])
            table["goodput_bps"] = table["bytes"] * 8 / sniffer.length_s if sniffer.length_s > 0 else np.nan
            table["airtime"] = table["occupied_s"] / sniffer.length_s if sniffer.length_s > 0 else np.nan
            table["aggregate_mean"] = table["frames"] / table["loaded"].where(table["loaded"] > 0)
            table["tries_mean"] = table["frames"] / table["acknowledged"].where(table["acknowledged"] > 0)
            tables.append(table)
        if not tables:
            return pd.DataFrame()
        keys = ["interface", "channel_mhz", "sender", "receiver"]
        weighted = self.rates[keys].assign(rate_mean_bps=self.rates["rate_bps"] * self.rates["share"])
        means = weighted.groupby(keys)["rate_mean_bps"].sum()
        return pd.concat(tables, ignore_index=True).merge(means, how="left", left_on=keys, right_index=True)

    @cached_property
    def rates(self) -> pd.DataFrame:
        """Table of the bit rates of data frames by link.

        Columns: interface, channel_mhz, sender, receiver, rate_bps, frames, share. `frames` counts every
        transmission of a data frame, in an A-MPDU all received MPDUs; `share` is that of the link's frames.
        """
        tables = []
        for raw, sniffer in zip(self._raw, self.sniffers, strict=True):
            table = _between_stations(raw["rates"])
            _label(table, sniffer)
            table["share"] = table["frames"] / table.groupby(["sender", "receiver"])["frames"].transform("sum")
            tables.append(table)
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """Table with a row per estimator and time, at multiples of the bin width on the capture's clock.

        Columns: interface, channel_mhz, time_s (since the first frame), estimator, and its quantities, NaN
        for those that it does not estimate: capacity_bps, available_bps, packet_throughput_bps,
        service_delay_s, transmission_efficiency, busy_ratio.
        """
        tables = []
        for raw, sniffer in zip(self._raw, self.sniffers, strict=True):
            columns = {key: value for key, value in raw["estimates"].items() if key != "names"}
            # Tables are long and have few distinct names.
            names = pd.Categorical.from_codes(columns["estimator"], categories=raw["estimates"]["names"])
            table = pd.DataFrame({**columns, "estimator": names})
            _label(table, sniffer)
            tables.append(table)
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

    @cached_property
    def estimates_over_time(self) -> pd.DataFrame:
        """Table of estimates summarised over time.

        Columns: interface, channel_mhz, estimator, quantity (a column of `estimates`), count, mean, and the
        quantiles q05 and q95.
        """
        keys = ["interface", "channel_mhz", "estimator"]
        tables = []
        for quantity in (str(column) for column in self.estimates if column not in (*keys, "time_s")):
            of = self.estimates[self.estimates[quantity].notna()].groupby(keys, observed=True)[quantity]
            table: pd.DataFrame = of.agg(["count", "mean"])
            table["q05"], table["q95"] = of.quantile(0.05), of.quantile(0.95)
            tables.append(table.reset_index().assign(quantity=quantity))
        if not tables:
            return pd.DataFrame(columns=[*keys, "quantity", "count", "mean", "q05", "q95"])
        table = pd.concat(tables, ignore_index=True)
        table["estimator"] = table["estimator"].astype(str)
        return table.sort_values(keys, kind="stable", ignore_index=True)

    def busy_ratio(self, sniffer: Sniffer) -> float:
        """Returns the share of the capture in which a frame was on the air."""
        raw = self._of(sniffer)
        return float(raw["busy_s"].sum() / sniffer.length_s) if sniffer.length_s > 0 else float("nan")

    def _busy_half_width(self, sniffer: Sniffer) -> float:
        # Only whole bins, since the last one may be short.
        raw = self._of(sniffer)
        whole = raw["busy_s"][: int(sniffer.length_s / sniffer.bin_s)] / sniffer.bin_s
        half = statistics.estimate(whole).half_width if len(whole) > 1 else None
        return float("nan") if half is None else half

    def busiest(self, sniffer: Sniffer) -> pd.DataFrame:
        """Returns the stations of a sniffer, those with most airtime first."""
        return self.of(self.stations, sniffer).sort_values(["airtime_s", "frames"], ascending=False)

    def summary(self, sniffer: Sniffer) -> list[str]:
        """Returns at most three sentences: busy ratio, station with most airtime, and slowest link."""
        said = []
        if self.knows_airtime(sniffer):
            at_least = "at least " if sniffer.quality["unknown_airtime"] else ""
            said.append(
                f"The channel was busy {at_least}{share(self.busy_ratio(sniffer))} of {sniffer.length_s:.1f} s."
            )
        stations = self.busiest(sniffer)
        said += [
            f"Most airtime: {self.names.label(str(row['station']))}, {share(row['share'])}."
            for row in stations[stations["airtime_s"] > 0].head(1).to_dict("records")
        ]
        links = self.of(self.links, sniffer)
        carrying = links[(links["answered"] >= ENOUGH) & (links["rate_mean_bps"] > 0)]
        if len(carrying) > 1:
            slow = carrying.nsmallest(1, "rate_mean_bps").to_dict("records")[0]
            names = " > ".join(self.names.short(str(slow[end])) for end in ("sender", "receiver"))
            rate = f"{slow['rate_mean_bps'] / 1e6:.3g} Mb/s"
            said.append(f"Slowest link: {names}, {rate}, {share(slow['airtime'])} of the airtime.")
        return said

    def overview(self, *, whole: bool = True) -> Overview:
        """Returns the stations with most airtime, and the quality of the capture."""
        del whole
        title = f"{self.path.name}, {self.records} records, {len(self.sniffers)} sniffers"
        if len(self.sniffers) != 1:
            rows = [[each.title, str(each.quality["records"]), each.grade] for each in self.sniffers]
            return Overview(title, ["sniffer", "records", "quality"], rows)
        (sniffer,) = self.sniffers
        rows = [
            [self.names.label(str(row["station"])), str(row["frames"]), share(row["share"])]
            for row in self.busiest(sniffer).to_dict("records")
        ]
        said = [*self.summary(sniffer), f"Capture quality: {'; '.join([sniffer.grade, *sniffer.reasons[:1]])}."]
        return Overview(title, ["station", "frames", "airtime"], rows, said)

    def record(self) -> dict[str, Any]:
        """Returns everything except time series, as plain values."""
        return {
            "capture": str(self.path),
            "records": self.records,
            "bytes": self.bytes,
            "broken": self.broken,
            "channels": self.channels.to_dict("records"),
            "sniffers": [{**vars(sniffer), "busy_ratio": self.busy_ratio(sniffer)} for sniffer in self.sniffers],
            "links": self.links.to_dict("records"),
            "rates": self.rates.to_dict("records"),
            "stations": self.stations.to_dict("records"),
            "estimates": self.estimates_over_time.to_dict("records"),
        }

    @staticmethod
    def _widths(sniffer: Sniffer, begins: np.ndarray) -> np.ndarray:
        # The last bin ends with the capture.
        left = np.maximum(sniffer.length_s - begins, 1e-9)
        return np.minimum(left, sniffer.bin_s)


def _label(table: pd.DataFrame, sniffer: Sniffer) -> pd.DataFrame:
    """Adds the sniffer as first columns to a table, and returns the table."""
    table.insert(0, "interface", sniffer.interface)
    table.insert(1, "channel_mhz", sniffer.channel_mhz)
    return table


def channel_number(mhz: int) -> int:
    """Number of the channel with this centre frequency, or 0 (802.11-2020, 15.4.4.3, 17.3.8.4.2)."""
    if mhz == 2484:
        return 14
    for start, least, most in ((2407, 2412, 2472), (5950, 5955, 7115), (5000, 5035, 5895), (4000, 4910, 4980)):
        if least <= mhz <= most and (mhz - start) % 5 == 0:
            return (mhz - start) // 5
    return 0


def _between_stations(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Returns a table by sender and receiver, whose columns have type `object` even without rows."""
    return pd.DataFrame(columns).astype({"sender": object, "receiver": object})


def sniffer_name(measurements: Sequence[Measurement], found: Measurement, sniffer: Sniffer) -> str:
    """Returns the name of a sniffer among all: its capture, its interface, or both if needed."""
    if len(measurements) == 1:
        return sniffer.title
    return f"{found.path.name}, {sniffer.title}" if len(found.sniffers) > 1 else found.path.name


def side_by_side(measurements: Sequence[Measurement]) -> pd.DataFrame:
    """Returns links that several sniffers received: rows by sender and receiver, columns by sniffer."""
    tables = []
    for found in measurements:
        tables += [
            found.of(found.links, sniffer).assign(sniffer=sniffer_name(measurements, found, sniffer))
            for sniffer in found.sniffers
        ]
    links = pd.concat(tables, ignore_index=True)
    links = links[links["capacity_bps"].notna()]
    order = list(dict.fromkeys(links["sniffer"]))
    table = links.pivot_table(
        index=["sender", "receiver"], columns="sniffer", values=["capacity_bps", "available_bps", "exchanges"]
    )
    table = table.swaplevel(axis="columns").reindex(columns=order, level=0)
    by_most = links.groupby(["sender", "receiver"])["bytes"].max().sort_values(ascending=False).index
    seen_by = links.groupby(["sender", "receiver"])["sniffer"].nunique()
    return table.reindex([link for link in by_most if seen_by[link] > 1])
