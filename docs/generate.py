"""Writes the reference pages, from the same definitions that the program uses, into docs/reference/generated."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docs import program
from tools import playground

import multihop
from multihop import _core
from multihop.cli.inspect import field_place
from multihop.results.columns import METRICS, RUN_COLUMNS, TABLES, Column
from multihop.simulation.keys import limits, names, resolved, tables

TARGET = Path(__file__).parent / "reference" / "generated"

#: Page -> schemes that it explains, besides one of its own name.
_EXPLAINED = {
    "explanation/schemes/bbr.md": {"tcp-bbr", "tcp-bbr3"},
    "explanation/l4s.md": {"tcp-prague"},
    "explanation/schemes/tcp-variants.md": {
        "tcp-newreno",
        "tcp-sack",
        "tcp-cubic",
        "tcp-vegas",
        "tcp-westwood",
        "tcp-ap",
    },
    "explanation/schemes/tcp-routes.md": {"tcp-elfn", "atcp"},
    "explanation/schemes/tfrc.md": {"tfrc-capped"},
    "explanation/schemes/media.md": {"nada", "gcc", "scream"},
    "explanation/schemes/recn.md": {"ecn-rts", "ecn-fsd", "ecn-busy"},
    "explanation/schemes/neighbourhood-red.md": {"lred", "nred"},
    "explanation/schemes/xcp.md": {"xcp-b"},
    "explanation/schemes/winf-schemes.md": {"xcp-winf", "rcp-winf"},
    "explanation/schemes/wcp.md": {"wcp-cap"},
    "explanation/schemes/bmcc.md": {"vcp"},
    "tutorials/python-scheme.md": {"python"},
}

_FRAME_LOG = """# Frame logs: the format

Tables and columns of a frame log, which contains every transmission of a run or a capture. [Every
transmission](../../how-to/frames.md) explains how to write and view one. Generated from the layout in the engine.

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
    """Writes all pages in place of those that are there."""
    made = pages()
    shutil.rmtree(TARGET, ignore_errors=True)
    for name, text in made.items():
        (TARGET / name).parent.mkdir(parents=True, exist_ok=True)
        (TARGET / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """File -> text of each page."""
    return {
        "scenario.md": scenario_page(multihop.schema()),
        "study.md": study_page(multihop.schema("study")),
        **scheme_pages(multihop.catalogue()["schemes"]),
        "names.md": names_page(multihop.catalogue()),
        "headers.md": headers_page(multihop.catalogue()["headers"]),
        "results.md": results_page(),
        "frame-log.md": frame_log_page(),
        "exercises.md": exercises_page(playground.scenes()),
        "command-line.md": program.command_line_page(),
        "python-api.md": program.python_page(),
    }


def scenario_page(schema: dict[str, Any]) -> str:
    """Every key of a scenario, from the JSON Schema."""
    lines = [
        "# Scenario reference",
        "",
        "Every key of a scenario file, with its default, range and meaning. A scenario is one TOML file. Quantities",
        'are text with a unit (`"2 Mb/s"`, `"200 m"`, `"30 s"`, `"10 dB"`, `"1500 B"`). Any other key is an error.',
        "Generated from the JSON Schema that `multihop schema` prints.",
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
        "Every key of a study, with its default and meaning. A study is one TOML file beside its scenario; see",
        "[Your first study](../../tutorials/first-study.md). A *label* names a factor's value: it is the value itself,",
        "unless the study names it. Any other key is an error. Generated from the JSON Schema that `multihop schema",
        "study` prints.",
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


def scheme_pages(schemes: list[dict[str, Any]]) -> dict[str, str]:
    """File -> text: a table of all schemes, the parameters that every TCP scheme has, and a page for each scheme."""
    shared = _tcp_parameters(schemes)
    pages = {"schemes.md": _scheme_table(schemes), "tcp-parameters.md": _tcp_page(shared)}
    for scheme in schemes:
        presets = [other["name"] for other in schemes if other["preset_of"] == scheme["name"]]
        pages[f"schemes/{scheme['name']}.md"] = scheme_page(scheme, shared, presets)
    return pages


def scheme_page(scheme: dict[str, Any], shared: dict[str, Any], presets: Sequence[str]) -> str:
    """A scheme with its own parameters, and its defaults of the shared ones."""
    name, base = scheme["name"], scheme["preset_of"]
    explained = explanation(base or name)
    facts = {
        "Transport": _transport(scheme),
        "Defined by": scheme["reference"],
        "Explained in": explained and f"[{_title(explained)}](../../../{explained})",
        "Presets": ", ".join(f"[`{preset}`]({preset}.md)" for preset in presets),
    }
    parameters = scheme["parameters"]
    summary = _sentence(scheme["summary"])
    about = "" if base else _one_line(parameters.get("description", "")).removeprefix(summary)
    lines = [f"# {name}", "", f"{summary} {about.lstrip()}".rstrip(), ""]
    lines += [*(f"- {fact}: {text}" for fact, text in facts.items() if text), ""]
    if base is not None:
        values = "\n".join(f"{key} = {_toml(value)}" for key, value in scheme["preset"].items())
        return "\n".join([*lines, f"[`{base}`]({base}.md) with these defaults:", "", f"```toml\n{values}\n```", ""])
    own = {key: value for key, value in _parameters(scheme).items() if not _is_shared(key, value, shared)}
    if own:
        lines += ["## Parameters", "", f"`[schemes.{name}]` of a scenario sets them.", ""]
        lines += [*_key_table(own, parameters.get("$defs", {})), ""]
    if scheme["reliable"]:
        lines += ["## Parameters of TCP", "", *_other_defaults(scheme, shared), ""]
    return "\n".join(lines)


def explanation(scheme: str) -> str | None:
    """Page that explains a scheme, relative to `docs`: one of its name, or one that names it in `_EXPLAINED`."""
    page = f"explanation/schemes/{scheme}.md"
    if (TARGET.parents[1] / page).exists():
        return page
    return next((page for page, schemes in _EXPLAINED.items() if scheme in schemes), None)


def _scheme_table(schemes: list[dict[str, Any]]) -> str:
    lines = [
        "# Schemes",
        "",
        "Every congestion control scheme that a scenario can use. A *scheme* is a transport, its congestion control",
        'and its router policy. A flow names one (`scheme = "recn"`); `[schemes.recn]` sets its parameters for a',
        'scenario, and `[schemes.mine]` with `base = "recn"` makes a variant with a name of its own. Those over TCP',
        "share the [parameters of TCP](tcp-parameters.md). Generated from the registry.",
        "",
        "| scheme | what it is | transport | defined by |",
        "|---|---|---|---|",
    ]
    for scheme in schemes:
        cells = (_sentence(scheme["summary"]), _transport(scheme), scheme["reference"])
        lines.append(f"| [`{scheme['name']}`](schemes/{scheme['name']}.md) | {' | '.join(map(_cell, cells))} |")
    contents = [f"schemes/{scheme['name']}" for scheme in schemes]
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *contents, "```", ""])


def _tcp_page(shared: dict[str, Any]) -> str:
    lines = [
        "# Parameters of TCP",
        "",
        "Parameters of the sender and the receiver that every scheme over TCP has. The page of a",
        "[scheme](schemes.md) lists its own parameters, and defaults that differ from those here. The sources of",
        "defaults are the values of `flavour`: `rfc`, `ns2` and `linux`.",
        "",
        *_key_table(shared, {}),
        "",
    ]
    return "\n".join(lines)


def _transport(scheme: dict[str, Any]) -> str:
    return "TCP" if scheme["reliable"] else "datagrams"


def _parameters(scheme: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a scheme; defaults that depend on others are taken from the end of the description."""
    made = {}
    for key, about in scheme["parameters"]["properties"].items():
        meaning = _one_line(about.get("description", ""))
        found = re.fullmatch(r"(.+?) Default (\S.*)\.", meaning) if about.get("default") is None else None
        made[key] = about | ({"description": found[1], "x-default": found[2]} if found else {"description": meaning})
    return made


def _tcp_parameters(schemes: list[dict[str, Any]]) -> dict[str, Any]:
    """Parameters that all schemes over TCP have with the same meaning, each with its most common default."""
    senders = [_parameters(scheme) for scheme in schemes if scheme["reliable"] and scheme["preset_of"] is None]
    shared = {}
    for key in senders[0]:
        found = [parameters.get(key) for parameters in senders]
        if all(about is not None and _meaning(about) == _meaning(found[0]) for about in found):
            defaults = [_default(about) for about in found]
            shared[key] = found[defaults.index(max(defaults, key=defaults.count))]
    return shared


def _is_shared(key: str, about: dict[str, Any], shared: dict[str, Any]) -> bool:
    return key in shared and _meaning(about) == _meaning(shared[key])


def _meaning(about: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in about.items() if key not in {"default", "x-default"}}


def _other_defaults(scheme: dict[str, Any], shared: dict[str, Any]) -> list[str]:
    own = _parameters(scheme)
    rows = [f"| `{key}` | {_default(own[key])} |" for key in shared if _default(own[key]) != _default(shared[key])]
    link = "the [parameters of TCP](../tcp-parameters.md)"
    if not rows:
        return [f"`{scheme['name']}` has {link}."]
    return [f"`{scheme['name']}` has {link}, with these defaults:", "", "| key | default |", "|---|---|", *rows]


def _title(page: str) -> str:
    """Heading of a page of `docs`."""
    text = (TARGET.parents[1] / page).read_text("utf-8")
    return next(line.removeprefix("# ") for line in text.splitlines() if line.startswith("# "))


def names_page(catalogue: dict[str, list[dict[str, Any]]]) -> str:
    """Everything that can be named, besides schemes."""
    lines = ["# Names in scenarios", ""]
    lines += [
        "Every name that scenarios, studies and commands accept, as `multihop list` prints them.",
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
        "Every column of every result table, with its unit and meaning. Everything is counted from the end of the",
        "warm-up unless it says otherwise. A value that was not observed is missing, never zero. Generated from the",
        "definitions that the Parquet files carry.",
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


def exercises_page(scenes: dict[str, dict[str, Any]]) -> str:
    """Questions of the playground's scenes on a sheet to print, without answers."""
    lines = [
        "# Exercise sheet",
        "",
        "Questions of the [playground](../../playground/index.md)'s scenes, to print and to answer before a run.",
        "Choose an answer, give a reason, then open the scene: it computes the answer from runs.",
        "",
        "<style>@media print { section section { break-inside: avoid; } }</style>",
        "",
    ]
    for name, scene in scenes.items():
        network = tomllib.loads(scene["text"])["description"]
        lines += [f"## {scene['title']}", "", f"[Network](../../playground/{name}.md): {_sentence(network)}", ""]
        lines += [f"**{scene['question']}**", "", "\\\n".join(f"☐ {choice['text']}" for choice in scene["choices"]), ""]
        lines += ["Reason:", "", '<div style="height: 5rem; border-bottom: 1px solid"></div>', ""]
    return "\n".join(lines)


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
        shown = "required" if name in required else _default(about)
        rows.append((f"`{name}`", shown, limits(whole if "$ref" in about else about, known), _cell(meaning)))
    # A table of names and choices has no ranges.
    columns = [i for i in range(4) if i != 2 or any(row[2] for row in rows)]
    heads = ("key", "default", "range", "meaning")
    lines = [[row[i] for i in columns] for row in (heads, ("---",) * 4, *rows)]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def _default(about: dict[str, Any]) -> str:
    default = about.get("default")
    if default in (None, "") or isinstance(default, dict):
        return _cell(about.get("x-default", ""))
    return f"`{_toml(default)}`"


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
