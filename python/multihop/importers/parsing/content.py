"""Text of a file, decoded and unpacked.

A file may be compressed (gzip), be an HTTP response with its headers, contain the messages of `telnet` around
a response, begin with a byte order mark, or be UTF-16.
"""

from __future__ import annotations

import codecs
import io
import re
import zlib
from pathlib import Path

from multihop.base.errors import UserError
from multihop.simulation.scenario import read_bytes

_GZIP = b"\x1f\x8b"
_HTTP = re.compile(rb"HTTP/[0-9.]+ +([0-9]{3})([^\r\n]*)\r?\n")
_HEADER = re.compile(rb"([^\s:]+)[ \t]*:([^\r\n]*)\r?\n")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")

#: Messages of `telnet` before and after a response.
_TELNET_BEFORE = re.compile(r"\s*(?:Trying [^\n]*\n\s*)?Connected to [^\n]*\n(?:\s*Escape character is [^\n]*\n)?")
_TELNET_AFTER = re.compile(r"\n\s*Connection closed by foreign host\.?\s*$")

_BYTE_ORDER_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")


def read(path: Path, what: str, max_bytes: int) -> str:
    """Returns the text of a file.

    Raises:
        UserError: if the file cannot be read, is longer than `max_bytes` when unpacked, is an HTTP error, or
            is no text.
    """
    content = read_bytes(path, what, max_bytes)
    content = _http_body(_unpacked(content, path, max_bytes), path)
    text = _decoded(_unpacked(content, path, max_bytes), path, what)
    return _TELNET_AFTER.sub("\n", _TELNET_BEFORE.sub("", text, count=1)) if _TELNET_BEFORE.match(text) else text


def _unpacked(content: bytes, path: Path, max_bytes: int) -> bytes:
    """Unpacks gzip data; other data is returned unchanged."""
    if not content.startswith(_GZIP):
        return content
    unpacked = io.BytesIO()
    try:
        while content.startswith(_GZIP):
            stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            unpacked.write(stream.decompress(content, max_bytes + 1 - unpacked.tell()))
            if unpacked.tell() > max_bytes:
                raise UserError(f"{path}: more than {max_bytes // 1_000_000} MB when unpacked; give a part of it")
            if not stream.eof:
                raise UserError(f"{path}: gzip data is cut short; copy the file again")
            content = stream.unused_data
    except zlib.error as error:
        raise UserError(f"{path}: not usable gzip data: {error}") from error
    return unpacked.getvalue()


def _http_body(content: bytes, path: Path) -> bytes:
    """Returns the body of an HTTP response, of the last one after redirections."""
    while status := _HTTP.match(content):
        headers: dict[bytes, bytes] = {}
        at = status.end()
        while header := _HEADER.match(content, at):
            headers[header[1].lower()] = header[2].strip().lower()
            at = header.end()
        blank = re.compile(rb"\r?\n").match(content, at)
        body = content[blank.end() if blank else at :]
        if _HTTP.match(body):
            content = body
            continue
        if not status[1].startswith(b"2"):
            reason = (status[1] + status[2]).decode("ascii", "replace")[:60].strip()
            raise UserError(f"{path}: this is an HTTP response of status {reason!r}, not a mesh; fetch it again")
        return _joined(body) if b"chunked" in headers.get(b"transfer-encoding", b"") else body
    return content


def _joined(body: bytes) -> bytes:
    """Joins the chunks of a body; a body that is already joined is returned unchanged."""
    joined, at = bytearray(), 0
    while chunk := _CHUNK.match(body, at):
        size = int(chunk[1], 16)
        if size == 0:
            return bytes(joined)
        joined += body[chunk.end() : chunk.end() + size]
        end = re.compile(rb"\r?\n").match(body, chunk.end() + size)
        at = end.end() if end else chunk.end() + size
    # Without the last chunk the response is cut short; the parser of the format reports the place.
    return bytes(joined) if joined and at >= len(body) else body


def _decoded(content: bytes, path: Path, what: str) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return _as(encoding, content[len(mark) :], path, what)
    # UTF-16 without a mark: every other byte of ASCII characters is 0.
    if len(content) >= 4 and len(content) % 2 == 0 and content[0] != content[1] and 0 in content[:2]:
        encoding = "utf-16-be" if content[0] == 0 else "utf-16-le"
        if content[2 if content[0] == 0 else 3] == 0:
            return _as(encoding, content, path, what)
    declared = _DECLARED.match(content.lstrip())
    # Text that reads as ASCII is not UTF-16, whatever it declares.
    if declared and not declared[1].lower().startswith((b"utf-16", b"utf16", b"utf-32", b"ucs")):
        return _as(declared[1].decode("ascii").lower(), content, path, what)
    return _as("utf-8-sig", content, path, what)


def _as(encoding: str, content: bytes, path: Path, what: str) -> str:
    name = "UTF-8" if encoding in {"utf-8-sig", "utf-8"} else encoding.upper()
    try:
        return content.decode("utf-8-sig" if name == "UTF-8" else encoding)
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not {name} text (byte {error.start}); needs {what}") from error
    except (LookupError, ValueError) as error:
        raise UserError(f"{path}: text of encoding {name!r} cannot be read; save it as UTF-8") from error
