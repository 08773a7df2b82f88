"""Records of a file: values of their fields, and counts of broken records.

One broken record must not make a file of hundreds useless. An importer reads each record within
`RecordTally.record`. A `BrokenRecordError` raised there is counted, and reading continues. A file is refused
if half of its records or more are broken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from multihop.base.errors import UserError
from multihop.base.escaping import visible

_FOUND = re.compile(r"found .*?(; |$)", re.DOTALL)


class BrokenRecordError(UserError):
    """Record that cannot be read; the message has its place, the value found and what is needed."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        #: Reason without the value found, so that equal faults count as one kind.
        self.kind = _FOUND.sub("", reason)


@dataclass
class RecordTally:
    """Number of records in an imported file, and of broken ones by kind of fault.

    Attributes:
        records: number of records read, broken or not.
        kinds: number of broken records by kind of fault.
        messages: message about the first record of each kind of fault.
    """

    records: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    messages: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def record(self) -> Iterator[None]:
        """Counts a record, and suppresses its `BrokenRecordError`."""
        self.records += 1
        try:
            yield
        except BrokenRecordError as error:
            self.kinds[error.kind] += 1
            self.messages.setdefault(error.kind, str(error))

    def add_broken(self, where: str, reason: str) -> None:
        """Counts a broken record."""
        with self.record():
            raise BrokenRecordError(where, reason)

    @property
    def broken(self) -> int:
        """Number of broken records."""
        return self.kinds.total()

    @property
    def first(self) -> str | None:
        """Message about the first broken record, with its place, or `None`."""
        return next(iter(self.messages.values()), None)

    def require_most_sound(self) -> None:
        """Refuses a file of which half the records or more are broken.

        Raises:
            UserError: with the most frequent fault and the place of the first such record.
        """
        if self.broken and 2 * self.broken >= self.records:
            kind, count = self.kinds.most_common(1)[0]
            others = "" if self.records == 1 else f" ({self.broken} of {self.records} records are broken"
            others += ")" if others and count == self.broken else f", {count} of them in this way)" if others else ""
            raise UserError(self.messages[kind] + others)


def json_records(tally: RecordTally, value: Any, origin: str, key: str) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401
    """Yields the objects of a list, each with its place. Other items are broken records.

    Raises:
        UserError: if the value is no list.
    """
    if not isinstance(value, list):
        raise UserError(f"{origin}: {key}: found {json_type(value)}; needs a list of objects")
    for index, item in enumerate(value):
        where = f"{origin}: {key}[{index}]"
        if isinstance(item, dict):
            yield where, item
        else:
            tally.add_broken(where, f"found {json_type(item)}; needs an object")


def number(value: Any) -> float | None:  # noqa: ANN401 - any value in a file
    """Returns a number from a JSON or CSV value; `None` if it is none. `True` is not a number."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        value = value.strip()
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return None


def text_id(value: Any) -> str | None:  # noqa: ANN401 - any value in a file
    """Returns an id from a JSON value: text that is not empty, or an integer; `None` otherwise."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        try:
            return str(value)
        except ValueError:  # more digits than Python prints
            return None
    return value.strip() or None if isinstance(value, str) else None


def objects(value: Any, *keys: str) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Returns the object at nested keys; an empty one if it is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def shown(text: object, most: int = 40) -> str:
    """Returns text for a message: one line without control characters, cut if it is long."""
    return visible(" ".join(str(text).split()))[:most]


def json_type(value: Any) -> str:  # noqa: ANN401 - any value in a file
    """Returns JSON's name of the type of a value."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true/false", int: "a number", float: "a number"}
    return names.get(type(value), "nothing")
