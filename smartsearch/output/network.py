"""The graph of a question as a picture: entities that were taken inside, those beside them around."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from smartsearch.output.charts import Picture
from smartsearch.output.marking import hop_class
from smartsearch.output.markup import Markup, join, tag
from smartsearch.output.plain import clipped, counted, one_line
from smartsearch.types import Graph, Link

TITLE = "The question's graph"
WIDE, HIGH = 640.0, 440.0
INNER, OUTER = (105.0, 75.0), (205.0, 190.0)
"""Half axes of the two rings in units of the picture; outside is room for names."""
BESIDE = 24
"""Entities drawn beside those that were taken: more names cannot be read."""
NAME, SAID = 16, 300
"""Characters of an entity's name, and of what a pointer over a line calls up."""

Point = tuple[float, float]


def picture(graph: Graph) -> Picture | None:
    """Taken entities in the order of the walk and those linked to them, the same for the same graph; None
    where none was taken. What is said of two stands behind their line, for a pointer over it."""
    taken = sorted((n for n, node in enumerate(graph.nodes) if node.hop), key=lambda n: graph.nodes[n].hop)
    if not taken:
        return None
    near = _neighbours(graph)
    shown = sorted(near, key=lambda n: (-len(near[n]), -graph.nodes[n].weight, n))[:BESIDE]
    at = dict(zip(taken, _ring(len(taken), INNER if len(taken) > 1 else (0.0, 0.0)), strict=True))
    turned = sorted(shown, key=lambda n: (_angle([at[one] for one in near[n]]), n))
    at |= zip(turned, _ring(len(turned), OUTER), strict=True)
    between = [link for link in graph.links if link.one in at and link.other in at]
    links = [link for link in between if graph.nodes[link.one].hop or graph.nodes[link.other].hop]
    caption = f"Entities taken: {len(taken)}, each with its step; beside them {len(shown)} of {len(near):,}"
    caption += " that a sentence relates to them; a pointer over a line shows it"
    parts = [*(_line(graph, link, at) for link in links), *(_node(graph, n, at[n]) for n in at)]
    label = f"{TITLE}: {caption}."
    box = f"0 0 {WIDE:g} {HIGH:g}"
    svg = tag("svg", join(parts), class_="picture graph", viewBox=box, role="img", aria_label=label)
    return Picture(TITLE, svg, f"{caption}.")


def _neighbours(graph: Graph) -> dict[int, list[int]]:
    """The nodes that a link joins to a taken one, each with those it is joined to."""
    near: dict[int, list[int]] = {}
    for link in graph.links:
        for one, other in ((link.one, link.other), (link.other, link.one)):
            if graph.nodes[one].hop and not graph.nodes[other].hop:
                near.setdefault(other, []).append(one)
    return near


def _ring(count: int, half: Point) -> Iterator[Point]:
    """So many places on an ellipse, the first at the left, on as angles grow."""
    for n in range(count):
        angle = 2 * math.pi * (n + 0.5) / count - math.pi
        yield WIDE / 2 + half[0] * math.cos(angle), HIGH / 2 + half[1] * math.sin(angle)


def _angle(places: Sequence[Point]) -> float:
    """The direction of the middle of some places from the picture's; rounded, as sums differ by order."""
    across, down = (sum(axis) / len(places) for axis in zip(*places, strict=True))
    return round(math.atan2(down - HIGH / 2, across - WIDE / 2), 6)


def _line(graph: Graph, link: Link, at: dict[int, Point]) -> Markup:
    (x1, y1), (x2, y2) = at[link.one], at[link.other]
    names = " - ".join(one_line(graph.nodes[n].text) for n in (link.one, link.other))
    turns = [link.written] if link.written else [graph.turns[place] for place in link.turns]
    said = clipped(f"{names}: {' / '.join(one_line(turn.rendered) for turn in turns)}", SAID)
    both = graph.nodes[link.one].hop and graph.nodes[link.other].hop
    kind = "link walked" if both else "link"
    return tag("line", tag("title", said), class_=kind, x1=x1, y1=y1, x2=x2, y2=y2)


def _node(graph: Graph, n: int, place: Point) -> Markup:
    """A circle with its name towards the outside, and in a taken one the number of its step."""
    node, (x, y) = graph.nodes[n], place
    pieces = counted(int(node.weight), "segment")
    said = f"{one_line(node.text)}: in {pieces}{f', taken in step {node.hop}' if node.hop else ''}"
    right = x >= WIDE / 2
    radius = 9 if node.hop else 4
    title = tag("title", clipped(said, SAID))
    parts = [tag("circle", title, class_=hop_class(node.hop), cx=x, cy=y, r=radius)]
    if node.hop:
        parts.append(tag("text", str(node.hop), class_="step", x=x, y=y + 4, text_anchor="middle"))
    name = clipped(one_line(node.text), NAME)
    beside = x + (radius + 4) * (1 if right else -1)
    anchor = "start" if right else "end"
    return join([*parts, tag("text", name, class_="name", x=beside, y=y + 4, text_anchor=anchor)])
