"""Graphviz's language as far as trees are written in it: a reader that refuses everything else."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r'\s*(?:(->|[{}\[\],;=])|([A-Za-z_][A-Za-z0-9_]*|-?[0-9]+(?:\.[0-9]+)?)|"((?:[^"\\]|\\.)*)")', re.S
)


@dataclass
class Graph:
    """Attributes of the nodes, and of the edges by their ends."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)


def tokens(source: str) -> list[tuple[str, str]]:
    """(kind, text) pairs: sign, name, text."""
    found, at = [], 0
    while source[at:].strip():
        match = TOKEN.match(source, at)
        if match is None:
            raise ValueError(f"no token at {source[at : at + 40]!r}")
        kind = ("sign", "name", "text")[(match.lastindex or 1) - 1]
        found.append((kind, match[match.lastindex or 1]))
        at = match.end()
    return found


def read_label(text: str) -> list[str]:
    """The lines of a label, as they are shown."""
    lines = [""]
    for part in re.findall(r"\\.|[^\\]", text, re.S):
        if part == "\\n":
            lines.append("")
        elif part[0] == "\\" and part[1:] not in ("\\", '"'):
            raise ValueError(f"escape sequence {part!r}")
        else:
            lines[-1] += part[-1]
    return [html.unescape(line) for line in lines]


def read_dot(source: str) -> Graph:
    graph, words = Graph(), tokens(source)
    if [word for _, word in words[:3]] != ["digraph", "tree", "{"] or words.pop() != ("sign", "}"):
        raise ValueError("not one directed graph")
    at = 3
    while at < len(words):
        ends = [words[at][1]]
        if words[at][0] != "name":
            raise ValueError(f"a statement begins with {words[at]}")
        at += 1
        if words[at] == ("sign", "->"):
            ends.append(words[at + 1][1])
            at += 2
        attributes, at = read_attributes(words, at)
        if len(ends) == 2:
            graph.edges[ends[0], ends[1]] = attributes
        elif ends[0] not in ("graph", "node", "edge"):
            graph.nodes[ends[0]] = attributes
    return graph


def read_attributes(words: list[tuple[str, str]], at: int) -> tuple[dict[str, str], int]:
    if words[at] != ("sign", "["):
        raise ValueError(f"attributes begin with {words[at]}")
    attributes = {}
    while words[at] != ("sign", "]"):
        (kind, name), equals, (value_kind, value) = words[at + 1 : at + 4]
        if kind != "name" or equals != ("sign", "=") or value_kind == "sign":
            raise ValueError(f"attribute {name}")
        attributes[name] = value
        at += 4
        if words[at] not in (("sign", ","), ("sign", "]")):
            raise ValueError(f"attributes go on with {words[at]}")
    return attributes, at + 1
