"""Capacity of a WLAN link above its MAC, from bit rate, losses, airtime of others, and overhead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from multihop import _core
from multihop.models.airtimes import airtimes, scenario_of
from multihop.models.dcf import mean_backoff
from multihop.models.ranges import require


def wlan_capacity(
    frame: float = 1500,
    rate: str = "11 Mb/s",
    loss: float = 0.0,
    others: float = 0.0,
    backoff: str | None = None,
    *,
    tries: int = 1,
    acknowledgement: float = 0,
    per: float = 1,
    header: float = 48,
    standard: str = "802.11b",
    preamble: str = "long",
    ack_rate: str = "1 Mb/s",
) -> dict[str, float]:
    """Capacity of a link in a shared medium without RTS/CTS (Qazi, Znati and Mosse, Eqs. 1 to 3).

    `C = T_tr / (T_tr + T_ov) R (1 - p) (1 - U)`, with `T_tr = X / R` and `T_ov = DIFS + 2 T_pr + T_BO + SIFS
    + T_ack`. Spaces and airtimes are the engine's, and so is the function. `docs/results/link-capacity.md`
    compares it with simulation, and lists what it omits.

    Args:
        frame: X, bytes of a MAC frame: the packet, the MAC header and the FCS. The paper's example has 1500.
        rate: R, bit rate of DATA.
        loss: p, share of DATA frames that the channel loses, from 0 to 1.
        others: U, share of time of transmissions on other links, from 0 to 1.
        backoff: T_BO, mean back-off of a transmission, as in "320 us"; by default that of the PHY's windows.
        tries: without `backoff`, most tries of a frame, each from a doubled window; 1 for the first alone.
        acknowledgement: bytes of a frame with the transport's acknowledgement, on the same medium; 0 for
            none.
        per: number of frames that each acknowledgement answers.
        header: H, bytes of headers in a frame that goodput excludes: by default 28 of MAC and FCS, 20 of IP.
        standard: physical layer, as in `[phy]`.
        preamble: long or short, as in `[phy]`.
        ack_rate: bit rate of ACKs.

    Returns:
        `transmission_s` and `overhead_s`, T_tr and T_ov, which includes `backoff_s`, T_BO; `phy_bps` (Eq. 1);
        `capacity_bps` (Eq. 2) in bits of frames; `goodput_bps`, the capacity times (X - H) / X.

    Raises:
        ValueError: if a number is out of its range, or a duration is invalid.
        ScenarioError: if the PHY is invalid.
    """
    require("frame", frame, above=0.0)
    require("per", per, above=0.0)
    require("loss", loss, most=1.0)
    require("others", others, most=1.0)
    require("acknowledgement", acknowledgement)
    require("header", header, most=frame)
    require("tries", tries, above=0.0)
    phy: dict[str, Any] = {"standard": standard, "preamble": preamble, "data_rate": rate, "ack_rate": ack_rate}
    made = _core.link_capacity(
        scenario_of(phy),
        "<phy>",
        frame,
        loss,
        others,
        _mean_backoff(loss, tries, phy) if backoff is None else _core.seconds(backoff),
        (acknowledgement, per) if acknowledgement > 0 else None,
        header,
    )
    return {**made}  # type: ignore[dict-item]  # of floats alone


def _mean_backoff(loss: float, tries: int, phy: Mapping[str, Any]) -> float:
    """Mean back-off in seconds, over all tries of frames with this retry limit."""
    times = airtimes(0, phy)
    return mean_backoff(loss, tries, times.cw_min, times.cw_max) * times.slot
