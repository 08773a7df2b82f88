"""Writes the reference pages, from the same definitions that the program uses, into docs/reference/generated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docs import program

import multihop
from multihop import _core
from multihop.cli.inspect import field_place
from multihop.results.columns import METRICS, RUN_COLUMNS, TABLES, Column
from multihop.simulation.keys import limits, names, resolved, tables

TARGET = Path(__file__).parent / "reference" / "generated"

_FRAME_LOG = """# Frame logs: the format

This page is generated from the layout in the engine. [Every transmission](../../how-to/frames.md) explains how to
write and view a log.

A frame log is a folder with one Parquet file per table (zstd), which DuckDB, pandas, polars and hyparquet read.

- `names.parquet` maps `unit` and `number` to the names of nodes, flows and enumerations.
- The metadata of `transmissions.parquet` contains the description of the log as JSON, under the key `multihop`: names
  of nodes and flows, durations, selection, and the tables below. In a log of a capture, `inferred` lists the inferred
  columns.

Rows are written in batches. Each batch of a file is a row group, followed by

1. the CRC-32 of the row group (IEEE 802.3, four bytes, little-endian),
2. the CRC-32 of the metadata of the next footer,
3. a footer of this row group, with its number under the key `multihop.batch`.

The last footer contains all row groups, and their number under the key `multihop.batches`. A file without it is cut
short: Parquet readers refuse it, `multihop` reads its complete batches. The reader and the writer are in
`crates/frames/src/files`.
"""


def main() -> None:
    """Writes all pages."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (TARGET / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """File -> text of each page."""
    return {
        "scenario.md": scenario_page(multihop.schema()),
        "study.md": study_page(multihop.schema("study")),
        "schemes.md": schemes_page(multihop.catalogue()["schemes"]),
        "names.md": names_page(multihop.catalogue()),
        "headers.md": headers_page(multihop.catalogue()["headers"]),
        "results.md": results_page(),
        "frame-log.md": frame_log_page(),
        "command-line.md": program.command_line_page(),
        "python-api.md": program.python_page(),
    }


def scenario_page(schema: dict[str, Any]) -> str:
    """Every key of a scenario, from the JSON Schema."""
    lines = [
        "# Scenario reference",
        "",
        "Generated from the JSON Schema that `multihop schema` prints. A scenario is one TOML file. Quantities are",
        'text with a unit (`"2 Mb/s"`, `"200 m"`, `"30 s"`, `"10 dB"`, `"1500 B"`). Any other key is an error.',
        "",
    ]
    known = schema.get("$defs", {})
    plain = {k: v for k, v in schema["properties"].items() if not tables(v, known) and k != "schemes"}
    lines += ["## Top level", "", *_key_table(plain, known), ""]
    for name, about in _in_reading_order(schema["properties"]):
        if tables(about, known):
            lines += _table_section(name, about, known)
    return "\n".join(lines)


def study_page(schema: dict[str, Any]) -> str:
    """Every key of a study, from the JSON Schema."""
    known = schema["$defs"]
    keys = schema["properties"]
    headings = {
        "[factors.NAME]": "Factor",
        "[stop]": "Stop",
        "[metrics.NAME]": "MetricSpec",
        "[[charts]]": "Chart",
        "[[charts.curves]]": "Curve",
        "[[charts.printed]]": "Printed",
        "[[claims]]": "Claim",
        "[quick]": "Quick",
    }
    lines = [
        "# Study reference",
        "",
        "Generated from the JSON Schema that `multihop schema study` prints. A study is one TOML file beside its",
        "scenario; see [Your first study](../../tutorials/first-study.md). A *label* names a factor's value: it is the",
        "value itself, unless the study names it. Any other key is an error.",
        "",
        "## Top level",
        "",
        *_key_table({name: keys[name] for name in keys if name not in _TABLES_OF_STUDIES}, known, schema["required"]),
        "",
    ]
    for heading, name in headings.items():
        about = known[name]
        lines += [f"## {heading}", "", _one_line(about["description"]), ""]
        lines += [*_key_table(about["properties"], known, about.get("required", [])), ""]
    return "\n".join(lines)


_TABLES_OF_STUDIES = ("factors", "stop", "metrics", "charts", "claims", "quick")


def schemes_page(schemes: list[dict[str, Any]]) -> str:
    """Every scheme with its parameters."""
    lines = [
        "# Schemes",
        "",
        "Generated from the registry. A *scheme* is a transport, its congestion control and its router policy.",
        'A flow names one (`scheme = "recn"`); `[schemes.recn]` sets its parameters for a scenario,',
        'and `[schemes.mine]` with `base = "recn"` makes a variant with a name of its own.',
        "",
    ]
    for scheme in schemes:
        lines += [f"## {scheme['name']}", "", f"{_sentence(scheme['summary'])} Defined by: {scheme['reference']}.", ""]
        if (base := scheme["preset_of"]) is not None:
            values = "\n".join(f"{key} = {_toml(value)}" for key, value in scheme["preset"].items())
            lines += [f"[`{base}`](#{base}) with these defaults:", "", f"```toml\n{values}\n```", ""]
            continue
        parameters = scheme["parameters"]
        lines += [_one_line(parameters.get("description", "")), ""]
        lines += [*_key_table(parameters.get("properties", {}), parameters.get("$defs", {})), ""]
    return "\n".join(lines)


def names_page(catalogue: dict[str, list[dict[str, Any]]]) -> str:
    """Everything that can be named, besides schemes."""
    lines = ["# Names in scenarios", "", "Generated; the same as `multihop list`.", ""]
    lines += [
        "[Schemes](schemes.md) and their [headers](headers.md) have pages of their own. Studies name tables,",
        "reductions and models, and `multihop reproduce` papers.",
        "",
    ]
    for kind, entries in catalogue.items():
        if kind in {"schemes", "headers"}:
            continue
        lines += [f"## {kind.replace('_', ' ')}", "", "| name | what it is |", "|---|---|"]
        lines += [f"| `{entry['name']}` | {_cell(entry['summary'])} |" for entry in entries]
        lines.append("")
    return "\n".join(lines)


def headers_page(headers: list[dict[str, Any]]) -> str:
    """The layouts of congestion headers, notices and routing messages: place, unit and meaning of each field."""
    lines = [
        "# Headers",
        "",
        "In [captures](../../how-to/pcap.md) congestion headers stand between IPv4 and the transport, in network byte",
        "order. Byte 0 has the type in bits 0 to 4. Bits 5 to 7 count the 32-bit words that follow the fixed part. A",
        "place such as 3:7 is bit 7 of byte 3. Fields beyond the bytes on the air exist in the simulator alone.",
        "Notices of routers and messages of routing protocols follow, each with its IP protocol or UDP port.",
        "",
    ]
    for header in headers:
        lines += [
            f"## {header['name']}",
            "",
            f"{header['summary']}. {_header_number(header)}, {header['air']} bytes on the air.",
            "",
            "| bytes | field | unit | meaning |",
            "|---|---|---|---|",
            *(
                f"| {field_place(field)} | `{field['name']}` | {field['unit']} | {_cell(field['summary'])} |"
                for field in header["fields"]
            ),
            "",
        ]
    return "\n".join(lines)


def _header_number(header: dict[str, Any]) -> str:
    kinds = {"type": "Type", "ip_protocol": "IP protocol", "udp_port": "UDP port"}
    return next(f"{title} {header[key]}" for key, title in kinds.items() if key in header)


def results_page() -> str:
    """Every column of every table."""
    lines = [
        "# Results reference",
        "",
        "Generated from the definitions that the Parquet files carry. Everything is counted from the end of the",
        "warm-up unless it says otherwise. A value that was not observed is missing, never zero.",
        "",
        "`--out DIR` writes each table as `DIR/TABLE.parquet` and `DIR/TABLE.csv`, besides `manifest.json`,",
        "`scenario.toml` and `report.html`. In Parquet, each column's metadata holds `unit` and `meaning`, and the",
        "schema's metadata the manifest:",
        "",
        "```python",
        "import json",
        "import pyarrow.parquet",
        "",
        'table = pyarrow.parquet.read_table("results/flows.parquet")',
        'table.schema.field("goodput_bps").metadata      # {b"unit": b"bit/s", b"meaning": b"..."}',
        'json.loads(table.schema.metadata[b"multihop"])  # version, commit, command, seeds, hashes',
        "```",
        "",
        "Every table of saved results begins with:",
        "",
        *_column_table(RUN_COLUMNS),
        "",
    ]
    for name, columns in TABLES.items():
        lines += [f"## {name}", "", *_column_table(columns), ""]
    lines += [
        "## What comparisons report",
        "",
        "Mean and 95 % Student-t interval over seeds; with one seed there is no interval. Schemes are compared seed by",
        "seed (paired t-test), and p-values are adjusted by Holm's method over all pairs of schemes.",
        "",
        "| metric | column of the summary | better is |",
        "|---|---|---|",
        *(f"| {m.title} | `{m.name}` | {'more' if m.higher_is_better else 'less'} |" for m in METRICS),
        "",
    ]
    return "\n".join(lines)


def frame_log_page() -> str:
    """Returns the page of all tables and columns of a frame log, from the core."""
    layout, enumerations = _core.frame_layout()
    lines = [*_FRAME_LOG.splitlines(), ""]
    for name, row, columns in layout:
        lines += [
            f"## {name}",
            "",
            f"{row[0].upper()}{row[1:]}.",
            "",
            "| column | unit | meaning |",
            "|---|---|---|",
        ]
        lines += [f"| `{column}` | {unit} | {_cell(meaning)} |" for column, unit, meaning in columns]
        lines.append("")
    lines += ["## Enumerations", "", "| unit | 0, 1, 2, ... |", "|---|---|"]
    lines += [f"| `{name}` | {', '.join(values)} |" for name, values in enumerations.items()]
    return "\n".join([*lines, ""])


def _column_table(columns: dict[str, Column]) -> list[str]:
    rows = [f"| `{name}` | {column.unit or 'text'} | {_cell(column.meaning)} |" for name, column in columns.items()]
    return ["| column | unit | meaning |", "|---|---|---|", *rows]


def _in_reading_order(properties: dict[str, Any]) -> list[tuple[str, Any]]:
    order = ["phy", "mac", "medium", "topology", "routing", "network", "schemes", "flows", "traffic", "measure"]
    return sorted(properties.items(), key=lambda item: order.index(item[0]) if item[0] in order else -1)


def _table_section(name: str, about: dict[str, Any], known: dict[str, Any]) -> list[str]:
    whole = resolved(about, known)
    brackets = f"[[{name}]]" if whole.get("type") == "array" else f"[{name}]"
    lines = [f"## {brackets}", "", _one_line(about.get("description") or whole.get("description", "")), ""]
    for tag, shape in tables(about, known):
        if tag:
            lines += [f"### {name}: {tag}", "", _one_line(shape.get("description", "")), ""]
        lines += [*_key_table(shape["properties"], known), ""]
        for key, value in shape["properties"].items():
            for inner_tag, inner in tables(value, known):
                title = f"{name}.{key}" + (f": {inner_tag}" if inner_tag else "")
                lines += [f"### {title}", "", _one_line(inner.get("description", "")), ""]
                lines += [*_key_table(inner["properties"], known), ""]
    return lines


def _key_table(properties: dict[str, Any], known: dict[str, Any], required: Sequence[str] = ()) -> list[str]:
    if not properties:
        return ["No keys."]
    rows = []
    for name, about in properties.items():
        if "const" in about:
            continue
        whole = resolved(about, known)
        meaning = about.get("description") or whole.get("description", "")
        found = names(whole, known)
        if found:
            listed = ", ".join(f"`{n}`" for n in found)
            meaning = f"{meaning} One of {listed}." if len(found) > 1 else f"{meaning} Or {listed}."
        default = about.get("default")
        shown = "" if default in (None, "") or isinstance(default, dict) else f"`{_toml(default)}`"
        shown = "required" if name in required else shown
        rows.append((f"`{name}`", shown, limits(whole if "$ref" in about else about, known), _cell(meaning)))
    # A table of names and choices has no ranges.
    columns = [i for i in range(4) if i != 2 or any(row[2] for row in rows)]
    heads = ("key", "default", "range", "meaning")
    lines = [[row[i] for i in columns] for row in (heads, ("---",) * 4, *rows)]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def _toml(value: Any) -> str:  # noqa: ANN401 - any JSON value
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _one_line(str(text)).replace("|", "\\|")


if __name__ == "__main__":
    main()
