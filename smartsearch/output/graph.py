"""The graph behind an answer as GraphML, which Gephi, yEd and networkx read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from smartsearch.output.plain import safe, where
from smartsearch.types import Graph, paired

if TYPE_CHECKING:
    from smartsearch.types import Result

_KEYS = {
    "name": ("node", "string"),
    "segments": ("node", "int"),
    "step": ("node", "int"),
    "turns": ("edge", "string"),
    "said": ("edge", "string"),
    "written": ("edge", "string"),
}
"""What nodes and edges tell, for which of them, and its type."""


def graphml(answer: Result) -> str:
    """Entities with the number of segments that name them and the step that took them, 0 for none; edges with
    the places of the turns that relate two, what these say, and what a model wrote of it."""
    graph = answer.graph or Graph((), (), ())
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for name, (what, kind) in _KEYS.items():
        declared = {"id": name, "for": what, "attr.name": name, "attr.type": kind}
        ElementTree.SubElement(root, "key", declared)
    inside = ElementTree.SubElement(root, "graph", edgedefault="undirected")
    for number, node in enumerate(graph.nodes):
        told = {"name": node.text, "segments": f"{node.weight:.0f}", "step": str(node.hop)}
        _add(inside, "node", {"id": f"n{number}"}, told)
    for link in graph.links:
        turns = [graph.turns[place] for place in link.turns]
        said = {"turns": "\n".join(map(where, turns)), "said": "\n".join(turn.rendered for turn in turns)}
        said |= {"written": link.written.rendered} if link.written else {}
        _add(inside, "edge", {"source": f"n{link.one}", "target": f"n{link.other}"}, said)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False)


def _add(inside: ElementTree.Element, what: str, attributes: dict[str, str], told: Mapping[str, str]) -> None:
    element = ElementTree.SubElement(inside, what, attributes)
    for key, text in told.items():
        ElementTree.SubElement(element, "data", key=key).text = safe(paired(text))
