"""Files of a measurement: tidy tables, a manifest, and a page with charts."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from multihop.base import extras
from multihop.base.files import write_text
from multihop.measurement import Measurement
from multihop.report.measurement import page
from multihop.results.folders import results_directory, write_table
from multihop.results.provenance import record

_TABLES = ("airtime", "busy", "channels", "estimates", "links", "rates", "stations")

#: Names of the files of a measurement.
_NAMES = ("manifest.json", "report.html", *(f"{name}.{kind}" for name in _TABLES for kind in ("parquet", "csv")))


def save(found: Measurement, directory: Path) -> list[Path]:
    """Writes the tables (Parquet, CSV; SI units), the report, and last the manifest. Returns the paths.

    Raises:
        UserError: if the directory cannot be written, or has files of these names that are not results.
        OutputError: if the disk is full or broken.
    """
    about = {
        "format": 1,
        "what": "multihop measurement",
        **record(),
        "command": ["multihop", "measure", found.path.name],
        "tables": list(_TABLES),
        "records": found.records,
        "bytes": found.bytes,
        "broken": found.broken,
    }
    written = []
    with results_directory(directory, _NAMES):
        for name in _TABLES:
            table: pd.DataFrame = getattr(found, name)
            written += write_table(directory, name, table, about, {})
        if extras.has("report"):
            written.append(write_text(directory / "report.html", page(found)))
        written.append(write_text(directory / "manifest.json", json.dumps(about, indent=2) + "\n"))
    return written
