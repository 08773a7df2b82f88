"""XML as a tree of elements with line numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from xml.parsers import expat

from multihop.base.errors import UserError


@dataclass
class Element:
    """XML element, without namespaces in its name and attributes.

    Attributes:
        name: name of the element.
        where: `file:line`.
        attributes: attributes of the element.
        children: child elements.
        text: text directly in the element, up to its first child and between its children.
    """

    name: str
    where: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def named(self, *names: str) -> Iterator[Element]:
        """Yields children with one of these names."""
        return (child for child in self.children if child.name in names)

    def all(self) -> Iterator[Element]:
        """Yields the element and all its descendants, in the order of the file."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack += reversed(element.children)


def parse(text: str, origin: str) -> Element:
    """Returns the root element of a document.

    Raises:
        UserError: if the document is not well-formed, or declares entities.
    """
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    root: list[Element] = []
    path: list[Element] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        plain = {_local(key): value for key, value in attributes.items()}
        element = Element(_local(name), f"{origin}:{parser.CurrentLineNumber}", plain)
        (path[-1].children if path else root).append(element)
        path.append(element)

    def end(_: str) -> None:
        path.pop()

    def characters(data: str) -> None:
        path[-1].text += data

    def entity(*_: object) -> None:
        raise UserError(f"{origin}:{parser.CurrentLineNumber}: declares an entity; needs its text in its place")

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(text.lstrip().encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        where = f"{origin}:{error.lineno}:{error.offset + 1}"
        reason = expat.ErrorString(error.code)
        raise UserError(f"{where}: not XML: {reason}; the file may have been cut short") from error
    except (ValueError, LookupError) as error:
        raise UserError(f"{origin}: not usable XML: {error}") from error
    return root[0]


def root_name(text: str) -> str | None:
    """Returns the name of the root element, without namespace; `None` for text that is no XML."""
    start = text.lstrip()
    if not start.startswith("<"):
        return None
    found: list[str] = []
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = lambda name, _: found.append(_local(name)) if not found else None
    with suppress(expat.ExpatError, ValueError, LookupError):
        parser.Parse(start[:100_000].encode("utf-8", "surrogatepass"), False)
    return found[0] if found else None


def _local(name: str) -> str:
    return name.rpartition(":")[2]
