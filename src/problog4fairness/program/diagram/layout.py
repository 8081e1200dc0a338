"""Where the boxes and arrows of a layered drawing go: causes on the left, effects on the right.

The steps are those of Sugiyama: break the cycles, give every box a column, order the columns so that few arrows cross,
then move the boxes up and down until the arrows are as straight as they can be. An arrow that spans several columns
gets a *waypoint* in each column between its ends. A waypoint takes room like a box does, so no arrow runs over a box.

This is plain geometry, in points, with y downwards; :mod:`.drawing` draws it. It runs in the worker process (see
:mod:`.sandbox`), because a graph with many long arrows can take very long.
"""

from __future__ import annotations

import json
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from graphlib import TopologicalSorter
from itertools import pairwise, repeat
from typing import Any

Point = tuple[float, float]
Edge = tuple[int, int]

LEAD = 9.0  # the straight end of an arrow, outside its column
COLUMN_GAP = 24.0
STEEPEST = 3.5  # how many points an arrow may rise for each point of the gap that it crosses ...
WIDEST_GAP = 110.0  # ... until the gap has this width
ROW_GAP, WAYPOINT_GAP = 16.0, 9.0
NEARLY = 0.85  # a box that has this share of the width of its column gets all of it
BACKWARD_DROP = 0.28  # how far below the middle an arrow that runs backwards meets a box, as a share of its height
ORDER_SWEEPS, PLACE_SWEEPS = 12, 60


@dataclass(frozen=True)
class Box:
    """A rectangle, by its centre and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """Boxes in the order of their sizes, routes in the order of their edges, and the room they take from (0, 0) on.

    The points of a route are joined by a straight line, then a curve, then a straight line, and so on; a curve starts
    and ends level.
    """

    boxes: tuple[Box, ...]
    routes: tuple[tuple[Point, ...], ...]
    width: float
    height: float

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Layout:
        """What :func:`layout_text` returned."""
        routes = tuple(tuple((x, y) for x, y in route) for route in value["routes"])
        return cls(tuple(Box(**box) for box in value["boxes"]), routes, value["width"], value["height"])


def layout_text(text: str) -> dict[str, Any]:
    """:func:`layered` from JSON to JSON."""
    graph = json.loads(text)
    return asdict(layered(graph["sizes"], [(tail, head) for tail, head in graph["edges"]]))


def layered(sizes: Sequence[tuple[float, float]], edges: Sequence[Edge]) -> Layout:
    """Lay out boxes of these sizes (width, height), joined by edges between two different boxes, cycles included."""
    if not sizes:
        return Layout((), (), 0.0, 0.0)
    forward = _without_cycles(len(sizes), edges)
    ranks = _ranks(len(sizes), set(forward))
    chains = _chains(ranks, forward)
    links = {link for chain in chains for link in pairwise(chain)}
    columns = _ordered(_columns(ranks, links), links)
    heights = [height for _, height in sizes] + [0.0] * (len(ranks) - len(sizes))
    middles = _middles(columns, links, heights, len(sizes))
    sides = _sides(columns, links, middles, [width for width, _ in sizes])

    boxes = [_box(size, sides[rank], middle) for size, rank, middle in zip(sizes, ranks, middles, strict=False)]
    routes = []
    for edge, (tail, head), chain in zip(edges, forward, chains, strict=True):
        start, end = boxes[tail], boxes[head]
        # An arrow that runs backwards has ends of its own, or it could not be told from one that runs forwards.
        drop = 0.0 if edge == (tail, head) else BACKWARD_DROP
        start_y, end_y = start.y + drop * start.height, end.y + drop * end.height
        route = [(start.x + start.width / 2, start_y), (sides[ranks[tail]][1], start_y)]
        for waypoint in chain[1:-1]:
            route += [(side, middles[waypoint]) for side in sides[ranks[waypoint]]]
        route += [(sides[ranks[head]][0], end_y), (end.x - end.width / 2, end_y)]
        routes.append(tuple(route if edge == (tail, head) else reversed(route)))
    # The outermost columns need no room for arrows on their outer side.
    return _moved_to_origin(boxes, routes, sides[0][0] + LEAD, sides[-1][1] - LEAD)


def _box(size: tuple[float, float], sides: tuple[float, float], middle: float) -> Box:
    width, height = size
    room = sides[1] - sides[0] - 2 * LEAD
    return Box(sum(sides) / 2, middle, room if width > NEARLY * room else width, height)


def _without_cycles(count: int, edges: Sequence[Edge]) -> list[Edge]:
    """The edges, each turned round where a depth-first walk meets it as the one that closes a cycle."""
    after = _neighbours(edges)
    entered = [False] * count
    finished = [False] * count
    closing: set[Edge] = set()
    caused = {head for _, head in edges}
    for root in sorted(range(count), key=caused.__contains__):  # what has no cause comes first, and ends up on the left
        if entered[root]:
            continue
        entered[root] = True
        walk = [(root, iter(after[root]))]
        while walk:
            tail, heads = walk[-1]
            for head in heads:
                if not entered[head]:
                    entered[head] = True
                    walk.append((head, iter(after[head])))
                    break
                if not finished[head]:
                    closing.add((tail, head))
            else:
                finished[tail] = True
                walk.pop()
    return [(head, tail) if (tail, head) in closing else (tail, head) for tail, head in edges]


def _ranks(count: int, edges: Collection[Edge]) -> list[int]:
    """A column for each box: the longest path that leads to it, then moved to where its edges are short."""
    before, after = _neighbours((head, tail) for tail, head in edges), _neighbours(edges)
    causes_first = list(TopologicalSorter({i: before[i] for i in range(count)}).static_order())
    ranks = [0] * count
    for i in causes_first:
        ranks[i] = 1 + max((ranks[tail] for tail in before[i]), default=-1)
    last = max(ranks)
    for i in reversed(causes_first):
        if not before[i] and not after[i]:
            ranks[i] = last  # an outcome without a cause
        elif len(after[i]) >= max(1, len(before[i])):
            ranks[i] = min(ranks[head] for head in after[i]) - 1
    for i in causes_first:
        if len(after[i]) == len(before[i]) > 0:
            # It costs nothing to stand next to the cause, unless the cause has moved along.
            ranks[i] = max(ranks[tail] for tail in before[i]) + 1
    return ranks


def _chains(ranks: list[int], edges: Iterable[Edge]) -> list[list[int]]:
    """For each edge its ends and the waypoints between them, which are added to ``ranks``."""
    chains = []
    for tail, head in edges:
        between = range(ranks[tail] + 1, ranks[head])
        chains.append([tail, *range(len(ranks), len(ranks) + len(between)), head])
        ranks.extend(between)
    return chains


def _columns(ranks: list[int], links: set[Edge]) -> list[list[int]]:
    """The columns, in the order of a walk through the graph, so that what belongs together starts together."""
    near = _neighbours([*links, *((head, tail) for tail, head in links)])
    columns: list[list[int]] = [[] for _ in range(max(ranks) + 1)]
    visited: set[int] = set()
    for root in range(len(ranks)):
        pending = [root]
        while pending:
            i = pending.pop()
            if i not in visited:
                visited.add(i)
                columns[ranks[i]].append(i)
                pending.extend(reversed(near[i]))
    return columns


def _ordered(columns: list[list[int]], links: set[Edge]) -> list[list[int]]:
    """The same columns in the order with the fewest crossings that sweeps of barycentres find."""
    before, after = _neighbours((head, tail) for tail, head in links), _neighbours(links)
    best, fewest = columns, _crossings(columns, after)
    for sweep in range(ORDER_SWEEPS):
        if not fewest:
            break
        columns = list(columns)
        rightwards = sweep % 2 == 0
        near = before if rightwards else after
        indices = range(1, len(columns)) if rightwards else range(len(columns) - 2, -1, -1)
        for index in indices:
            place = {i: position for position, i in enumerate(columns[index - 1 if rightwards else index + 1])}
            keys: dict[int, float] = {}
            key = -1.0
            for i in columns[index]:
                if near[i]:
                    key = sum(place[j] for j in near[i]) / len(near[i])
                keys[i] = key  # a box without neighbours on this side stays behind the one before it
            columns[index] = sorted(columns[index], key=keys.__getitem__)
        crossings = _crossings(columns, after)
        if crossings < fewest:
            best, fewest = columns, crossings
    return best


def _crossings(columns: list[list[int]], after: dict[int, list[int]]) -> int:
    crossings = 0
    for left, right in pairwise(columns):
        place = {i: position for position, i in enumerate(right)}
        passed: list[int] = []
        for i in left:
            ends = [place[j] for j in after[i]]
            crossings += sum(len(passed) - bisect_right(passed, end) for end in ends)
            for end in ends:
                insort(passed, end)
    return crossings


def _middles(columns: list[list[int]], links: set[Edge], heights: list[float], boxes: int) -> list[float]:
    """The height of every centre: each column in turn moves as close to its neighbours as its order allows."""
    near: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for tail, head in sorted(links):
        # Long arrows look best straight, so their waypoints pull harder.
        pull = (1.0, 2.0, 8.0)[(tail >= boxes) + (head >= boxes)]
        near[tail].append((head, pull))
        near[head].append((tail, pull))
    weights = [sum(pull for _, pull in near[i]) or 1.0 for i in range(len(heights))]

    # How far below the first of its column each centre is when the column is packed tight.
    depths = [0.0] * len(heights)
    for column in columns:
        for upper, lower in pairwise(column):
            gap = WAYPOINT_GAP if min(upper, lower) >= boxes else ROW_GAP
            depths[lower] = depths[upper] + (heights[upper] + heights[lower]) / 2 + gap
    middles = list(depths)
    for column in columns:
        for i in column:
            middles[i] -= depths[column[-1]] / 2
    for sweep in range(PLACE_SWEEPS):
        for column in columns if sweep % 2 else reversed(columns):
            targets = [
                (sum(pull * middles[j] for j, pull in near[i]) / weights[i] if near[i] else middles[i]) - depths[i]
                for i in column
            ]
            for i, level in zip(column, _increasing(targets, [weights[i] for i in column]), strict=True):
                middles[i] = level + depths[i]
    return middles


def _increasing(targets: list[float], weights: list[float]) -> list[float]:
    """The increasing sequence closest to ``targets`` in weighted least squares (pool adjacent violators)."""
    pools: list[tuple[float, float, int]] = []
    for pool in zip(targets, weights, repeat(1)):
        pools.append(pool)
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (value, weight, count), (other, other_weight, other_count) = pools.pop(), pools.pop()
            total = weight + other_weight
            pools.append(((value * weight + other * other_weight) / total, total, count + other_count))
    return [value for value, _, count in pools for _ in range(count)]


def _sides(
    columns: list[list[int]], links: set[Edge], middles: list[float], widths: list[float]
) -> list[tuple[float, float]]:
    """Left and right end of each column, with room for straight arrow ends; steep arrows make a wider gap."""
    rises: dict[int, float] = defaultdict(float)
    rank = {i: index for index, column in enumerate(columns) for i in column}
    for tail, head in links:
        rises[rank[head]] = max(rises[rank[head]], abs(middles[head] - middles[tail]))
    sides: list[tuple[float, float]] = []
    left = 0.0
    for index, column in enumerate(columns):
        if index:
            left = sides[-1][1] + min(max(COLUMN_GAP, rises[index] / STEEPEST), WIDEST_GAP)
        sides.append((left, left + max(widths[i] for i in column if i < len(widths)) + 2 * LEAD))
    return sides


def _moved_to_origin(boxes: list[Box], routes: list[tuple[Point, ...]], left: float, right: float) -> Layout:
    levels = [y for route in routes for _, y in route]
    top = min([box.y - box.height / 2 for box in boxes] + levels)
    bottom = max([box.y + box.height / 2 for box in boxes] + levels)
    return Layout(
        tuple(Box(box.x - left, box.y - top, box.width, box.height) for box in boxes),
        tuple(tuple((x - left, y - top) for x, y in route) for route in routes),
        right - left,
        bottom - top,
    )


def _neighbours(edges: Iterable[Edge]) -> dict[int, list[int]]:
    """What each box leads to, in an order that is the same in every run."""
    heads: dict[int, list[int]] = defaultdict(list)
    for tail, head in sorted(edges):
        heads[tail].append(head)
    return heads
