"""Lua dissector of congestion headers, notices and DSDV for Wireshark and tshark.

The script is generated from the engine's header layouts.
"""

from __future__ import annotations

from typing import Any

from multihop import _core
from multihop.simulation.scenario import registered

_SETUP = """-- Congestion headers in captures of multihop, between IPv4 and TCP or UDP.
-- multihop dissector > multihop.lua
-- tshark -X lua_script:multihop.lua -r run.pcapng -T fields -e multihop.xcp.delta
local multihop = Proto("multihop", "Congestion header of multihop")
local fields = multihop.fields
local layouts = {{}}
fields.type = ProtoField.uint8("multihop.type", "Type", base.DEC, nil, {kind})
fields.words = ProtoField.uint8("multihop.words", "Words beyond the fixed part", base.DEC, nil, {words})
"""

_DISSECT = """
local function dissect(buffer, pinfo, tree, follows)
  if buffer:len() < 1 then return 0 end
  local first = buffer(0, 1):uint()
  local layout = layouts[first % {types}]
  if layout == nil then return 0 end
  local length = layout.air + 4 * math.floor(first / {types})
  if buffer:len() < length then return 0 end
  local subtree = tree:add(multihop, buffer(0, length), layout.title)
  subtree:add(fields.type, buffer(0, 1))
  subtree:add(fields.words, buffer(0, 1))
  for _, field in ipairs(layout.fields) do
    if field.to <= length then
      subtree:add(field.proto, buffer(field.from, field.to - field.from))
    elseif field.partial and field.from < length then
      subtree:add(field.proto, buffer(field.from, length - field.from))
    end
  end
  local inner = DissectorTable.get("ip.proto"):get_dissector(follows)
  -- What was not captured is payload, which is zeros: the transport finds as much as its header says.
  local rest = buffer(length):bytes()
  rest:set_size(buffer:reported_len() - length)
  inner:call(rest:tvb("Transport"), pinfo, tree)
  return buffer:len()
end
"""


def lua() -> str:
    """Returns the Lua script, with a field `multihop.NAME.FIELD` per header field that Wireshark lacks."""
    headers = registered()["headers"]
    layouts = [_layout(header) for header in headers if "type" in header and header["air"] > 0]
    kind, carriers = _core.congestion_header()
    setup = _SETUP.format(kind=hex(kind), words=hex(0xFF & ~kind))
    dissect = _DISSECT.format(types=kind + 1)
    protocols = [_protocol(protocol, follows) for protocol, follows in carriers]
    rows = [_rows(header) for header in headers if "type" not in header and not header.get("in_wireshark")]
    return "".join([setup, *layouts, dissect, *protocols, *rows])


def _layout(header: dict[str, Any]) -> str:
    """Returns the Lua layout of a header. Fields known only to simulated ends are not in a capture."""
    extends = any(field["name"] == "words" for field in header["fields"])
    there = [field for field in header["fields"] if field["from"] > 0 and (extends or field["to"] <= header["air"])]
    lines = [f"fields.{_key(header, field)} = {_proto_field(header, field)}\n" for field in there]
    title = _quoted(header["summary"])
    lines.append(f"layouts[{header['type']}] = {{title = {title}, air = {header['air']}, fields = {{\n")
    for field in there:
        # Bytes at the end of a header may be fewer than its layout has.
        partial = "true" if field["kind"] == "bytes" else "false"
        place = f"from = {field['from']}, to = {field['to']}, partial = {partial}"
        lines.append(f"  {{proto = fields.{_key(header, field)}, {place}}},\n")
    return "".join([*lines, "}}\n"])


def _key(header: dict[str, Any], field: dict[str, Any]) -> str:
    return f"{header['name']}_{field['name']}"


def _proto_field(header: dict[str, Any], field: dict[str, Any]) -> str:
    title = field["name"].replace("_", " ").capitalize() + (f" [{field['unit']}]" if field["unit"] else "")
    named = f"{_quoted('.'.join(('multihop', header['name'], field['name'])))}, {_quoted(title)}"
    about = _quoted(field["summary"])
    match field["kind"]:
        case "flag":
            return f"ProtoField.bool({named}, 8, nil, {1 << field['bit']}, {about})"
        case "bits":
            mask = ((1 << field["width"]) - 1) << field["bit"]
            return f"ProtoField.uint{8 * (field['to'] - field['from'])}({named}, base.DEC, nil, {mask}, {about})"
        case "address":
            return f"ProtoField.ipv4({named}, {about})"
        case "bytes":
            return f"ProtoField.bytes({named}, base.NONE, {about})"
        case kind:
            bits = 8 * (field["to"] - field["from"])
            return f"ProtoField.{'int' if kind == 'signed' else 'uint'}{bits}({named}, base.DEC, nil, nil, {about})"


def _protocol(protocol: int, follows: int) -> str:
    name = f"multihop_{protocol}"
    return (
        f'\nlocal {name} = Proto("{name}", "Congestion header of multihop, before IP protocol {follows}")\n'
        f"function {name}.dissector(buffer, pinfo, tree) return dissect(buffer, pinfo, tree, {follows}) end\n"
        f'DissectorTable.get("ip.proto"):add({protocol}, {name})\n'
    )


def _rows(header: dict[str, Any]) -> str:
    """Returns a Lua protocol above IPv4 or UDP whose packets are consecutive rows of fields."""
    name, size = f"multihop_{header['name']}", header["air"]
    key, table = ("ip_protocol", "ip.proto") if "ip_protocol" in header else ("udp_port", "udp.port")
    there = [field for field in header["fields"] if field["to"] <= size]
    fields = [f"{name}.fields.{field['name']} = {_proto_field(header, field)}\n" for field in there]
    adds = [
        f"    row:add({name}.fields.{field['name']}, buffer(at + {field['from']}, {field['to'] - field['from']}))\n"
        for field in there
    ]
    return "".join(
        [
            f'\nlocal {name} = Proto("{name}", {_quoted(header["summary"])})\n',
            *fields,
            f"function {name}.dissector(buffer, pinfo, tree)\n",
            f"  pinfo.cols.protocol = {_quoted(header['name'].upper())}\n",
            f"  for at = 0, buffer:len() - {size}, {size} do\n",
            f"    local row = tree:add({name}, buffer(at, {size}))\n",
            *adds,
            "  end\n  return buffer:len()\nend\n",
            f'DissectorTable.get("{table}"):add({header[key]}, {name})\n',
        ]
    )


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'
