"""Graphs in Graphviz's DOT language, and topologies of olsrd's plugin dot_draw.

The label of an edge, or an attribute with the name of a quality, is the quality (`graphs`). olsrd names its
graph `topology`, and its labels are ETX; INFINITE is a broken link, and the label HNA is of a network
attached to a node.

A node's `pos` is `x,y` in metres, unless Graphviz laid the graph out (which then has a bounding box, `bb`):
then it is a point of a drawing. `lat` and `lon` are degrees.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from multihop.base.errors import UserError
from multihop.importers import graphs
from multihop.importers.graphs import Edge, Vertex
from multihop.importers.mesh import Mesh

_TOKEN = re.compile(
    r"""
      (?P<blank> \s+ | //[^\n]* | /\*.*?\*/ | (?:(?<=\n)|\A)\#[^\n]* )
    | (?P<quoted> "(?:[^"\\]|\\.)*" )
    | (?P<html> <(?:[^<>]|<[^<>]*>)*> )
    | (?P<edge> -> | -- )
    | (?P<mark> [{}\[\];,=:+] )
    | (?P<word> [^\s{}\[\];,=:+"<>-]+ (?: -(?![->]) [^\s{}\[\];,=:+"<>-]* )* | -[.0-9]+ )
    """,
    re.VERBOSE | re.DOTALL,
)
_START = re.compile(r"(?:\s+|//[^\n]*\n|/\*.*?\*/|#[^\n]*\n)*(?:strict\s+)?(?:di)?graph\b", re.IGNORECASE | re.DOTALL)

#: Quotation mark at the begin or end of a text.
_MARK = re.compile(r'(?<!\\)"')

#: Most levels of nested subgraphs.
_DEEPEST = 50

#: Most edges. An edge between subgraphs expands to one for each pair of their nodes.
_MOST_EDGES = 1_000_000

#: Most lines with syntax errors of a readable file.
_MOST_FAULTS = 50

#: olsrd's label of a network that a node announces.
_ATTACHED = "HNA"


class _SyntaxFault(Exception):  # noqa: N818 - internal to this module
    """Line that is no DOT, and the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


@dataclass
class _Token:
    kind: str
    text: str
    line: int


@dataclass
class _Graph:
    """Content of a file: attributes of the graph and of its nodes, and its edges."""

    name: str = ""
    directed: bool = False
    attributes: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)


def matches_text(text: str) -> bool:
    """Whether the text begins as a graph."""
    return _START.match(text) is not None


def read_text(text: str, origin: str, assume_delivery: float | None) -> Mesh:
    """Reads a graph.

    Raises:
        UserError: if the text is no DOT, or edges have no quality and none is assumed.
    """
    mesh = Mesh("dot", "")
    graph = _graph(text, origin, mesh)
    of_olsrd = graph.directed and graph.name == "topology"
    attached = {edge.target for edge in graph.edges if edge.attributes.get("label") == _ATTACHED}
    drawn = "bb" in graph.attributes
    for id, attributes in graph.nodes.items():
        with mesh.tally.record():
            if id in attached:
                mesh.omit_node("attached networks")
                continue
            graphs.add_node(mesh, Vertex(id, attributes.get("label", id).strip(), _placed(attributes), drawn))
    edges = []
    for edge in graph.edges:
        mesh.tally.records += 1
        if edge.attributes.get("label") == _ATTACHED:
            mesh.left_out["links to attached networks"] += 1
        elif of_olsrd:
            edges.append(Edge(edge.source, edge.target, {"etx": edge.attributes.get("label", "")}, edge.directed))
        else:
            edges.append(edge)
    return graphs.fill(mesh, origin, edges, assume_delivery)


def _graph(text: str, origin: str, mesh: Mesh) -> _Graph:
    """Returns the graph without lines that are no DOT, which are counted as broken records."""
    lines = text.split("\n")
    first: _SyntaxFault | None = None
    for _ in range(_MOST_FAULTS):
        try:
            return _Reader(_tokens("\n".join(lines))).graph()
        except _SyntaxFault as fault:
            first = first or fault
            # A missing quotation mark turns the rest of the file into names.
            at = next((at for at, line in enumerate(lines) if len(_MARK.findall(line)) % 2), fault.line - 1)
            # An empty line, or the one that begins the graph, cannot be removed.
            if not lines[at].strip() or not matches_text("\n".join(lines[:at])):
                break
            mesh.tally.add_broken(f"{origin}:{at + 1}", f"found {lines[at].strip()[:40]!r}; needs a statement of DOT")
            lines[at] = ""
    assert first is not None
    raise UserError(f"{origin}:{first.line}: {first}")


def _placed(attributes: dict[str, str]) -> dict[str, str]:
    """Returns attributes with `pos`, which may end in an exclamation mark, as `x` and `y`."""
    place = attributes.get("pos", "").rstrip("!").split(",")
    return {**attributes, "x": place[0], "y": place[1]} if len(place) >= 2 else attributes


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _SyntaxFault(line, f"found {text[at : at + 20]!r}; needs DOT, as graphviz.org/doc has it")
        if match.lastgroup and match.lastgroup != "blank":
            tokens.append(_Token(match.lastgroup, match[0], line))
        line += match[0].count("\n")
        at = match.end()
    return tokens


class _Reader:
    """Recursive-descent parser of the DOT grammar."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._end = _Token("end", "the end of the file", tokens[-1].line if tokens else 1)
        self._graph = _Graph()

    def graph(self) -> _Graph:
        if self._next().text.lower() == "strict":
            self._at += 1
        self._graph.directed = self._take().text.lower() == "digraph"
        if self._next().text != "{":
            self._graph.name = self._id()
        self._block({}, {}, 0)
        return self._graph

    def _next(self, ahead: int = 0) -> _Token:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else self._end

    def _take(self) -> _Token:
        token = self._next()
        self._at += 1
        return token

    def _expect(self, *texts: str) -> str:
        token = self._take()
        if token.kind not in {"mark", "edge"} or token.text not in texts:
            raise _SyntaxFault(token.line, f"found {token.text[:40]!r}; needs {' or '.join(map(repr, texts))}")
        return token.text

    def _id(self) -> str:
        token = self._take()
        if token.kind == "word":
            return token.text
        if token.kind == "html":
            return token.text[1:-1]
        if token.kind != "quoted":
            raise _SyntaxFault(token.line, f"found {token.text[:40]!r}; needs the name of a node or an attribute")
        text = _unquoted(token.text)
        while self._next().text == "+" and self._next(1).kind == "quoted":
            self._at += 1
            text += _unquoted(self._take().text)
        if "\n" in text:
            # A quotation mark is missing or superfluous, since names do not span lines.
            raise _SyntaxFault(token.line, f"found {text[:40]!r}; needs a closing quotation mark on the line")
        return text

    def _value(self) -> str:
        """Reads the value of an attribute, which may span lines."""
        return _unquoted(self._take().text) if self._is_quoted_alone() else self._id()

    def _is_quoted_alone(self) -> bool:
        return self._next().kind == "quoted" and self._next(1).text != "+"

    def _block(self, of_nodes: dict[str, str], of_edges: dict[str, str], depth: int) -> list[str]:
        """Reads statements between braces, whose defaults apply until the end. Returns the nodes named."""
        begin = self._next().line
        self._expect("{")
        if depth > _DEEPEST:
            raise _SyntaxFault(begin, f"subgraphs are nested too deeply; needs at most {_DEEPEST} levels")
        of_nodes, of_edges = dict(of_nodes), dict(of_edges)
        named: list[str] = []
        while self._next().text != "}":
            token = self._next()
            if token.kind == "end":
                raise _SyntaxFault(token.line, "a graph has no '}' at its end; the file may have been cut short")
            word = token.text.lower() if token.kind == "word" else ""
            if token.text in {";", ","} and token.kind == "mark":
                self._at += 1
            elif word in {"graph", "node", "edge"} and self._next(1).text == "[":
                self._at += 1
                defaults = {"node": of_nodes, "edge": of_edges}.get(word)
                found = self._attributes()
                (defaults if defaults is not None else self._graph.attributes if depth == 0 else {}).update(found)
            elif token.kind in {"word", "quoted", "html"} and self._next(1).text == "=":
                key = self._id().lower()
                self._expect("=")
                value = self._value()
                if depth == 0:
                    self._graph.attributes[key] = value
            else:
                named += self._nodes_or_edges(of_nodes, of_edges, depth)
        self._at += 1
        return list(dict.fromkeys(named))

    def _nodes_or_edges(self, of_nodes: dict[str, str], of_edges: dict[str, str], depth: int) -> list[str]:
        ends = [self._end_of_edge(of_nodes, of_edges, depth)]
        is_block = self._tokens[self._at - 1].text == "}"
        while self._next().kind == "edge":
            self._at += 1
            ends.append(self._end_of_edge(of_nodes, of_edges, depth))
        own = self._attributes() if self._next().text == "[" else {}
        if len(ends) == 1:
            if not is_block:
                self._graph.nodes[ends[0][0]].update(own)
            return ends[0]
        attributes = {**of_edges, **own}
        for sources, targets in pairwise(ends):
            if len(self._graph.edges) + len(sources) * len(targets) > _MOST_EDGES:
                raise _SyntaxFault(self._next().line, f"more than {_MOST_EDGES} edges; give a part of the graph")
            self._graph.edges += [Edge(a, b, attributes, self._graph.directed) for a in sources for b in targets]
        return [id for end in ends for id in end]

    def _end_of_edge(self, of_nodes: dict[str, str], of_edges: dict[str, str], depth: int) -> list[str]:
        """Reads a node, or the nodes of a subgraph."""
        if self._next().kind == "word" and self._next().text.lower() == "subgraph":
            self._at += 1
            if self._next().text != "{":
                self._id()
            return self._block(of_nodes, of_edges, depth + 1)
        if self._next().text == "{" and self._next().kind == "mark":
            return self._block(of_nodes, of_edges, depth + 1)
        id = self._id()
        while self._next().text == ":":  # a port, and a point of the compass
            self._at += 1
            self._id()
        self._graph.nodes.setdefault(id, dict(of_nodes))
        return [id]

    def _attributes(self) -> dict[str, str]:
        """Reads consecutive lists in brackets. Names are in lower case."""
        found: dict[str, str] = {}
        while self._next().text == "[":
            begin = self._take().line
            while self._next().text != "]":
                if self._next().kind not in {"word", "quoted", "html"} and self._next().text not in {";", ","}:
                    raise _SyntaxFault(begin, f"found {self._next().text[:40]!r} in a list of attributes; needs ']'")
                if self._next().text in {";", ","}:
                    self._at += 1
                    continue
                key = self._id().strip().lower()
                found[key] = "true"
                if self._next().text == "=":
                    self._at += 1
                    found[key] = self._value()
            self._at += 1
        return found


def _unquoted(text: str) -> str:
    return text[1:-1].replace("\\\n", "").replace('\\"', '"')
