"""Closed forms of papers, as documented functions, and by name for studies.

Times are in seconds and sizes in bytes. Arguments broadcast as in NumPy where a module says so.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from multihop.base.errors import UserError, instead_of
from multihop.models.chain_capacity import chain_capacity
from multihop.models.contention_delay import contention_delay
from multihop.models.ewccp_fluid import ewccp_fluid
from multihop.models.frame_efficiency import frame_transmission_efficiency
from multihop.models.maximum_throughput import maximum_throughput
from multihop.models.performance_anomaly import performance_anomaly
from multihop.models.probing_overhead import probing_overhead
from multihop.models.throughput_equation import throughput_equation
from multihop.models.wlan_capacity import wlan_capacity


@wraps(frame_transmission_efficiency)
def _frame_transmission_efficiency(**arguments: Any) -> dict[str, float]:  # noqa: ANN401 - checked by the function
    return {"efficiency": frame_transmission_efficiency(**arguments)}


#: Functions by their name in a study. Arguments are the factors' values; results are metrics by name.
MODELS: dict[str, Callable[..., Mapping[str, float]]] = {
    "frame-transmission-efficiency": _frame_transmission_efficiency,
    "chain-capacity": chain_capacity,
    "maximum-throughput": maximum_throughput,
    "probing-overhead": probing_overhead,
    "ewccp-fluid": ewccp_fluid,
    "wlan-capacity": wlan_capacity,
    "throughput-equation": throughput_equation,
    "contention-delay": contention_delay,
    "performance-anomaly": performance_anomaly,
}


def catalogue() -> list[dict[str, Any]]:
    """Returns every closed form with its name, summary and arguments, which a study varies."""
    return [
        {"name": name, "summary": _summary(function), "keys": _arguments(function)} for name, function in MODELS.items()
    ]


def require_model(name: str) -> Callable[..., Mapping[str, float]]:
    """Returns the closed form of a name.

    Raises:
        UserError: if there is no such closed form.
    """
    if name not in MODELS:
        raise UserError(f"closed form {name!r} is unknown; {instead_of(name, MODELS)}")
    return MODELS[name]


def evaluate(name: str, arguments: Mapping[str, Any]) -> Mapping[str, float]:
    """Returns the metrics of a closed form at these arguments.

    Raises:
        UserError: if an argument is unknown or invalid.
    """
    model = require_model(name)
    known = inspect.signature(model).parameters
    unknown = next((argument for argument in arguments if argument not in known), None)
    if unknown is not None:
        raise UserError(f"closed form {name}: has no argument {unknown!r}; {instead_of(unknown, known)}")
    try:
        return model(**arguments)
    except (TypeError, ValueError) as error:
        raise UserError(f"closed form {name}: {error}") from error


def unit_of_result(name: str) -> str:
    """Returns the unit of a result, from the end of its name; `1` without one."""
    return suffix_and_unit(name)[1]


def suffix_and_unit(name: str) -> tuple[str, str]:
    """Returns the suffix of a result's name that is its unit, and that unit; empty and `1` without one."""
    return next(((suffix, unit) for suffix, unit in _UNITS.items() if name.endswith(suffix)), ("", "1"))


_UNITS = {"_bps": "bit/s", "_bytes": "byte", "_s": "s"}


def _summary(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n\n")[0]


def _arguments(function: Callable[..., Any]) -> dict[str, str]:
    """Returns the meaning of each argument, with its default if that is a word or a number."""
    meanings = dict(re.findall(r"^    (\w+): (.*?)\.?$", inspect.getdoc(function) or "", re.MULTILINE))
    defaults = {
        name: f" (default {about.default})" if isinstance(about.default, str | int) else ""
        for name, about in inspect.signature(function).parameters.items()
    }
    return {name: meanings[name] + default for name, default in defaults.items()}
