"""`LineLooks`: says how each visible line looks, from the state of a conversation. Knows no screen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import ExpandStatus, SectionsExpanded
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.conversation.transcript import OpenSection
from roamtui.document.node import NodeKind
from roamtui.document.plain import plain_line, strip_anchor
from roamtui.document.tokens import format_tokens
from roamtui.tui.tree.display_tree import Key
from roamtui.tui.tree.visible_lines import Fold, VisibleLines

_TITLE_LENGTH_MAX = 1_000
"""Characters; no screen shows more, and a heading may have a million."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """Nodes that are marked besides what the conversation holds, by their ids."""

    batch: frozenset[str] = frozenset()
    """What the model opened last."""
    found: frozenset[str] = frozenset()
    """What the last search found."""
    noted: frozenset[str] = frozenset()
    """What the person keeps among their notes."""


class TokensRead:
    """Tokens that the model got of each section, by its id: of questions that have ended they are not summed anew."""

    def __init__(self) -> None:
        self._ended: tuple[Exchange, ...] = ()
        self._sum: Counter[str] = Counter()

    def sum(self, exchanges: tuple[Exchange, ...]) -> Counter[str]:
        """Return the sum over some exchanges, of which all but the last have ended."""
        ended, count = exchanges[:-1], len(self._ended)
        if count and ended[count - 1 : count] != self._ended[-1:]:  # taken back, or another conversation
            count, self._sum = 0, Counter()
        for exchange in ended[count:]:
            _add_tokens(self._sum, exchange)
        self._ended = ended
        total = self._sum.copy()
        if exchanges:
            _add_tokens(total, exchanges[-1])
        return total


def _add_tokens(tokens: Counter[str], exchange: Exchange) -> None:
    for event in exchange.events:
        if isinstance(event, SectionsExpanded):
            for result in event.results:
                if result.section_id is not None and result.status is ExpandStatus.OPENED:
                    tokens[result.section_id] += result.tokens


class LineLooks:
    """The looks of `lines` in `state`, made anew for each state; what costs by the open sections waits for a look."""

    def __init__(
        self,
        lines: VisibleLines,
        state: ConversationState,
        marked: Marked = Marked(),
        tokens_read: TokensRead | None = None,
    ) -> None:
        self._lines = lines
        self._state = state
        self._tokens_read = tokens_read or TokensRead()
        self.marked = marked
        """What is marked besides what the conversation holds."""

    @cached_property
    def _open(self) -> dict[Key, OpenSection]:
        find = self._lines.tree.find
        return {key: section for section in self._state.open if (key := find(section.section_id)) is not None}

    @cached_property
    def _cited(self) -> set[Key | None]:
        """What an answer cites, also where it is open as part of what stands above it."""
        citations = (one for exchange in self._state.transcript.exchanges for one in exchange.citations)
        return {self._lines.tree.find(one.section_id) for one in citations}

    @cached_property
    def _inside(self) -> Counter[Key]:
        """How many open sections each line stands for."""
        return self._count_hidden(dict.fromkeys(self._open, 1))

    @cached_property
    def _read(self) -> dict[Key, int]:
        """Tokens that the model got of each section in this conversation, at any time."""
        read, find = self._tokens_read.sum(self._state.transcript.exchanges), self._lines.tree.find
        return {key: tokens for section_id, tokens in read.items() if (key := find(section_id)) is not None}

    @cached_property
    def _read_inside(self) -> Counter[Key]:
        """Tokens that the model got of what each line stands for."""
        return self._count_hidden(self._read)

    @cached_property
    def _found_inside(self) -> Counter[Key]:
        """How many found sections each line stands for."""
        keys = map(self._lines.tree.find, self.marked.found)
        return self._count_hidden({key: 1 for key in keys if key is not None})

    @cached_property
    def _open_order(self) -> list[Key]:
        return sorted(self._open, key=self._lines.tree.rank)

    def look_at(self, line: int, *, is_cursor: bool = False, has_focus: bool = False) -> LineLook:
        """Return how a line looks; costs by its depth and its title."""
        tree = self._lines.tree
        key = self._lines.key_at(line)
        section_id = tree.id_of(key)
        shape = self._lines.shape_at(line)
        title = strip_anchor(plain_line(tree.title_of(key)[:_TITLE_LENGTH_MAX]))
        stand_in = "(opening text)" if tree.kind_of(key) is NodeKind.PREAMBLE else "(untitled)"
        section = self._open.get(key)
        tokens = tree.tokens_of(key) if tree.is_loaded(key) else 0
        page = tree.page_of(key)
        return LineLook(
            has_next=shape.has_next,
            fold=shape.fold,
            is_failed=shape.fold is Fold.UNLOADED and bool(tree.library.problem_of(section_id)),
            title=title or stand_in,
            is_named=bool(title),
            opened_by=section.opened_by if section else None,
            is_closing=section is not None and section.is_closing,
            is_pinned=section is not None and section.is_pinned,
            is_cited=key in self._cited or (section is not None and section.last_cited > 0),
            is_reading=section_id == self._state.reading,
            is_noted=section_id in self.marked.noted,
            is_read=section is None and key in self._read,
            open_inside=self._inside[key],
            read_inside=min(1.0, self._read_inside[key] / tokens) if tokens else 0.0,
            page=f"p. {page}" if page is not None else "",
            size=format_tokens(tokens) if tokens else "",
            is_new=section_id in self.marked.batch,
            is_found=section_id in self.marked.found,
            found_inside=self._found_inside[key],
            is_cursor=is_cursor,
            has_focus=is_cursor and has_focus,
        )

    def next_open(self, section_id: str, direction: int) -> str | None:
        """Return the id of the open section after (1) or before (-1) a node, round the end; None without any."""
        tree = self._lines.tree
        key = tree.find(section_id)
        if key is None or not self._open_order:
            return None
        rank = tree.rank(key)
        if direction > 0:
            place = bisect_right(self._open_order, rank, key=tree.rank)
        else:
            place = bisect_left(self._open_order, rank, key=tree.rank) - 1
        return tree.id_of(self._open_order[place % len(self._open_order)])

    def _count_hidden(self, amounts: Mapping[Key, int]) -> Counter[Key]:
        """Return the sum over these nodes that have no line of their own, by their nearest visible ancestor."""
        tree, find_line = self._lines.tree, self._lines.find_line
        counts: Counter[Key] = Counter()
        for key, amount in amounts.items():
            if find_line(key) is None:
                visible = next((above for above in tree.ancestors(key) if find_line(above) is not None), None)
                if visible is not None:
                    counts[visible] += amount
        return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class LineLook:
    """Everything that decides how a line looks."""

    has_next: tuple[bool, ...]
    fold: Fold
    is_failed: bool = False
    """Whether what stands below could not be read when that was tried last."""
    title: str
    """Sanitised, on one line, not cut to the width."""
    is_named: bool = True
    """Whether the title is the document's own."""
    opened_by: Origin | None = None
    is_closing: bool = False
    is_pinned: bool = False
    is_cited: bool = False
    is_reading: bool = False
    is_noted: bool = False
    open_inside: int = 0
    """Open sections that this line stands for, since no line of their own is visible."""
    is_read: bool = False
    """Whether the model had its text before, and it is not open now."""
    read_inside: float = 0.0
    """Share of its tokens that the model got of what this line stands for."""
    page: str = ""
    """Where it begins in a paged document."""
    size: str = ""
    is_new: bool = False
    """Whether it belongs to the newest batch."""
    is_found: bool = False
    """Whether the last search found it."""
    found_inside: int = 0
    """Found sections that this line stands for."""
    is_cursor: bool = False
    has_focus: bool = False
