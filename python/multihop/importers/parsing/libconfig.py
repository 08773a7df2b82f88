"""Parser of libconfig's configuration format (hyperrealm.github.io/libconfig)."""

from __future__ import annotations

import re
from typing import Any

from multihop.base.errors import UserError

_TOKEN = re.compile(
    r"""
      (?P<blank> \s+ | \#[^\n]* | //[^\n]* | /\*.*?\*/ )
    | (?P<include> @include [^\n]* )
    | (?P<string> "(?:[^"\\]|\\.)*" )
    | (?P<number> [-+]?(?:0[xX][0-9A-Fa-f]+ | (?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)L{0,2} (?![A-Za-z0-9_]) )
    | (?P<name> [A-Za-z*][-A-Za-z0-9_*]* )
    | (?P<mark> [{}()\[\];,=:] )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}

_DEEPEST = 50

_CLOSING = {"{": "}", "(": ")", "[": "]"}

Token = tuple[str, str, int]


def parse(text: str, origin: str) -> dict[str, Any]:
    """Returns the settings: groups as dictionaries, lists and arrays as lists.

    Raises:
        UserError: if the text is no libconfig, or includes another file.
    """
    return _Reader(_tokens(text, origin), origin).settings()


def _tokens(text: str, origin: str) -> list[Token]:
    tokens: list[Token] = []
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise UserError(f"{origin}:{line}: found {text[at : at + 20]!r}; needs libconfig syntax")
        if match.lastgroup == "include":
            raise UserError(f"{origin}:{line}: includes another file; needs one file with all content")
        if match.lastgroup and match.lastgroup != "blank":
            tokens.append((match.lastgroup, match[0], line))
        line += match[0].count("\n")
        at = match.end()
    return tokens


class _Reader:
    def __init__(self, tokens: list[Token], origin: str) -> None:
        self._tokens = tokens
        self._origin = origin
        self._at = 0
        self._end: Token = ("end", "the end of the file", tokens[-1][2] if tokens else 1)

    def settings(self, end: str | None = None, depth: int = 0) -> dict[str, Any]:
        """Reads settings up to a closing brace, or the end of the file."""
        found: dict[str, Any] = {}
        while self._next()[1 if end else 0] != (end or "end"):
            kind, name, _ = token = self._take()
            if kind != "name":
                raise self._error(token, "the name of a setting")
            token = self._take()
            if token[1] not in {"=", ":"}:
                raise self._error(token, "':' or '='")
            found[name] = self._value(depth)
            while self._next()[1] in {";", ","}:
                self._at += 1
        return found

    def _value(self, depth: int) -> Any:  # noqa: ANN401 - any value in a file
        kind, text, _ = token = self._take()
        if depth > _DEEPEST:
            raise self._error(token, f"at most {_DEEPEST} levels of groups and lists")
        if kind == "string":
            parts = [text[1:-1]]
            while self._next()[0] == "string":
                parts.append(self._take()[1][1:-1])
            return _ESCAPE.sub(_unescaped, "".join(parts))
        if kind == "number":
            plain = text.rstrip("L")
            is_whole = plain.lstrip("+-").isdecimal() and len(plain) < 20
            return int(plain, 16) if "x" in plain.lower() else int(plain) if is_whole else float(plain)
        if kind == "name":
            # A bare word is no value of libconfig. As text, it breaks only its own record.
            return {"true": True, "false": False}.get(text.lower(), text)
        if text == "{":
            group = self.settings("}", depth + 1)
            self._at += 1
            return group
        if kind == "mark" and text in "([":
            return self._items(_CLOSING[text], depth + 1)
        raise self._error(token, "a value")

    def _items(self, closing: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while self._next()[1] != closing:
            items.append(self._value(depth))
            if self._next()[1] == ",":
                self._at += 1
            elif self._next()[1] != closing:
                raise self._error(self._next(), f"',' or {closing!r}")
        self._at += 1
        return items

    def _next(self) -> Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else self._end

    def _take(self) -> Token:
        token = self._next()
        self._at += 1
        return token

    def _error(self, token: Token, needed: str) -> UserError:
        cut = "; the file may have been cut short" if token[0] == "end" else ""
        return UserError(f"{self._origin}:{token[2]}: found {token[1][:40]!r}; needs {needed}{cut}")


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 3 else _ESCAPES.get(code, code)
