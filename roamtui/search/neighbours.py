"""The neighbours of what was found: its parent, its children and what stands beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from roamtui.document.node import NodeKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from roamtui.document.library import Library

_UNREAD = frozenset({NodeKind.FILE, NodeKind.FOLDER, NodeKind.LINK})
"""What has no text of its own to be found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourRules:
    """Which neighbours join what was found, and with how much of its score."""

    parent: float
    child: float
    sibling: float
    depth: int
    """Steps from what was found."""
    count: int
    """Neighbours at most that were not found themselves."""
    siblings_per_node: int
    """Nearest ones on both sides together, and first children, of one section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A section that came by another one."""

    score: float
    relation: str
    """What it is to the other one, in words: ``parent``, ``child``, ``sibling``."""
    origin: str
    """Id of the section beside which it stands."""


def find_neighbours(
    library: Library, scores: Mapping[str, float], rules: NeighbourRules, within: Collection[str] | None = None
) -> dict[str, Neighbour]:
    """Return the neighbours of what was found that were not found themselves, with their scores, the best first.

    Each step takes a share of the score before it; of several ways to a neighbour the best one counts.

    Args:
        library: Where the sections stand.
        scores: What was found.
        rules: Shares and limits.
        within: Ids of the only sections that may join, None for all.
    """
    joined: dict[str, Neighbour] = {}
    edge = dict(scores)
    for _ in range(rules.depth if rules.count else 0):
        reached: dict[str, Neighbour] = {}
        for origin, score in edge.items():
            for section_id, relation, share in _list_relations(library, origin, rules):
                neighbour = Neighbour(score=score * share, relation=relation, origin=origin)
                known = reached.get(section_id) or joined.get(section_id)
                is_better = known is None or neighbour.score > known.score
                if share > 0 and is_better and section_id not in scores and (within is None or section_id in within):
                    reached[section_id] = neighbour
        joined |= reached
        edge = {section_id: neighbour.score for section_id, neighbour in reached.items()}
    best = sorted(joined.items(), key=lambda item: -item[1].score)
    return dict(best[: rules.count])


def _list_relations(library: Library, section_id: str, rules: NeighbourRules) -> Iterator[tuple[str, str, float]]:
    parent = library.parent(section_id)
    if parent is not None:
        yield from _keep_read(library, [parent], "parent", rules.parent)
    yield from _keep_read(library, library.children(section_id)[: rules.siblings_per_node], "child", rules.child)
    beside = library.children(library.root_id if parent is None else parent)
    place = beside.index(section_id)
    nearest = sorted(range(len(beside)), key=lambda other: (abs(other - place), -other))
    siblings = [beside[other] for other in nearest[1 : rules.siblings_per_node + 1]]
    yield from _keep_read(library, siblings, "sibling", rules.sibling)


def _keep_read(library: Library, ids: Collection[str], relation: str, share: float) -> Iterator[tuple[str, str, float]]:
    for section_id in ids:
        document, row = library.locate(section_id)
        if document.columns.kinds[row] not in _UNREAD:
            yield section_id, relation, share
