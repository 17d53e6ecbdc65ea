from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.strip import Strip
from typing_extensions import override

from roamtui.conversation.commands import Origin
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.tui.tree.outline_tree import OutlineTree
from tests.real_documents import PROJECT_DIR
from tests.tui.tree.outlines import find_id, make_library, make_state, make_wide_library, open_section

_LIBRARY = make_library()


class CountingTree(OutlineTree):
    """Counts the lines that it draws."""

    lines_drawn = 0

    @override
    def render_line(self, y: int) -> Strip:
        self.lines_drawn += 1
        return super().render_line(y)


class TreeApp(App[None]):
    CSS_PATH = PROJECT_DIR / "roamtui/tui/tree/tree.tcss"
    CSS = "OutlineTree { width: 46; height: 12; }"

    def __init__(self, state: ConversationState) -> None:
        super().__init__()
        self.outline = CountingTree(state)
        self.messages: list[Message] = []

    @override
    def compose(self) -> ComposeResult:
        yield self.outline

    def on_mount(self) -> None:
        self.outline.focus()

    @on(OutlineTree.CursorMoved)
    @on(OutlineTree.NodeActivated)
    @on(OutlineTree.FoldToggled)
    def note_message(self, message: Message) -> None:
        self.messages.append(message)


@asynccontextmanager
async def _run(state: ConversationState) -> AsyncIterator[tuple[TreeApp, CountingTree, Pilot[None]]]:
    app = TreeApp(state)
    async with app.run_test(size=(50, 14)) as pilot:
        await pilot.pause()
        app.messages.clear()
        yield app, app.outline, pilot


def _lines(tree: OutlineTree) -> list[str]:
    shown = (tree.render_line(y).text.rstrip() for y in range(tree.size.height))
    return [line for line in shown if line]


def _cursor_title(tree: OutlineTree, library: Library = _LIBRARY) -> str:
    assert tree.cursor_id is not None
    return library.title_of(tree.cursor_id)


async def test_the_outline_shows_what_is_unfolded_open_and_pinned() -> None:
    opened = (
        open_section(_LIBRARY, "Vacation", is_cited=True),
        open_section(_LIBRARY, "Security", Origin.PERSON, is_pinned=True),
        open_section(_LIBRARY, "Passwords", is_closing=True),
        open_section(_LIBRARY, "Length"),
    )
    state = make_state(_LIBRARY, "Leave", opened=opened, reading=find_id(_LIBRARY, "Sick leave"))
    async with _run(state) as (_, tree, _pilot):
        assert _lines(tree) == [
            "▾ Handbook",
            "├ ▾ Leave",
            "│ ├ · ◆ Vacation ❝",
            "│ └ · Sick leave ¶",
            "├ ▸ ◆ Security ⚑◆2",
            "└ · Travel",
        ]


async def test_the_cursor_walks_lines_parents_and_children() -> None:
    async with _run(make_state(_LIBRARY, "Leave")) as (app, tree, pilot):
        walked = []
        steps: tuple[Callable[[], object], ...] = (
            lambda: tree.move_cursor(2),
            tree.go_parent,
            tree.go_child,
            lambda: tree.move_cursor(99),
            lambda: tree.move_cursor(1),
            lambda: tree.move_to_line(0),
            tree.go_parent,
            lambda: tree.move_page(1),
            lambda: tree.move_page(-1),
        )
        for step in steps:
            step()
            walked.append(_cursor_title(tree))
        assert walked == [
            "Vacation", "Leave", "Vacation", "Travel", "Travel", "Handbook", "Handbook", "Travel", "Handbook",
        ]  # fmt: skip
        tree.move_to(find_id(_LIBRARY, "Security"))
        tree.go_child()
        await pilot.pause()
        assert app.messages[-1] == OutlineTree.FoldToggled(find_id(_LIBRARY, "Security"))


async def test_an_empty_outline_does_nothing() -> None:
    async with _run(make_state(make_library(""))) as (app, tree, pilot):
        for step in (tree.go_parent, tree.go_child):
            step()
        tree.move_cursor(1)
        tree.move_page(1)
        tree.reveal("none")
        await pilot.click(tree, offset=(3, 3))
        assert tree.cursor_id is None
        assert app.messages == []


async def test_a_click_on_the_triangle_folds_and_one_on_the_title_reads() -> None:
    async with _run(make_state(_LIBRARY, "Leave")) as (app, tree, pilot):
        leave, vacation, security = (find_id(_LIBRARY, title) for title in ("Leave", "Vacation", "Security"))
        await pilot.click(tree, offset=(2, 1))
        assert app.messages == [OutlineTree.FoldToggled(leave)]
        app.messages.clear()
        await pilot.click(tree, offset=(7, 2))
        assert app.messages == [OutlineTree.CursorMoved(vacation), OutlineTree.NodeActivated(vacation)]
        app.messages.clear()
        await pilot.click(tree, offset=(30, 4))
        assert app.messages == [OutlineTree.CursorMoved(security)]
        app.messages.clear()
        await pilot.click(tree, offset=(30, 4), times=2)
        assert app.messages == [OutlineTree.NodeActivated(security)]
        app.messages.clear()
        await pilot.click(tree, offset=(7, 2), times=2)
        assert app.messages.count(OutlineTree.NodeActivated(vacation)) == 1


async def test_reveal_scrolls_without_moving_the_cursor() -> None:
    library = make_wide_library(100)
    async with _run(make_state(library)) as (app, tree, pilot):
        tree.reveal(find_id(library, "Part 70"))
        await pilot.pause()
        assert any(line.endswith("Part 70") for line in _lines(tree))
        assert _cursor_title(tree, library) == "Everything"
        top = tree.scroll_offset.y
        tree.reveal(find_id(library, "Part 68"))
        await pilot.pause()
        assert tree.scroll_offset.y == top
        tree.reveal(find_id(library, "Part 2"))
        await pilot.pause()
        assert tree.scroll_offset.y == 0
        assert app.messages == []


async def test_what_is_in_view_stays_when_lines_above_it_change() -> None:
    library = make_wide_library(100)
    host = find_id(library, "Part 10")
    grown = library.graft_all({host: parse_document("# One\n# Two\n# Three\n", key="g")})
    async with _run(make_state(library)) as (_, tree, pilot):
        tree.scroll_to_line(50)
        await pilot.pause()
        before = _lines(tree)
        tree.show(replace(make_state(grown), unfolded=frozenset({host})))
        await pilot.pause()
        assert _lines(tree) == before
        tree.show(replace(make_state(grown), unfolded=frozenset()))
        await pilot.pause()
        assert _lines(tree) == before


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark", "dracula"])
async def test_titles_differ_from_their_background_in_each_theme(theme: str) -> None:
    state = make_state(_LIBRARY, opened=(open_section(_LIBRARY, "Leave"),))
    async with _run(state) as (app, tree, pilot):
        app.theme = theme
        tree.set_highlights(opened=[find_id(_LIBRARY, "Leave")])
        await pilot.pause()
        for y in range(4):
            for segment in tree.render_line(y):
                assert segment.style is not None
                if segment.text.strip():
                    assert segment.style.color is not None
                    assert segment.style.color.is_default or segment.style.color != segment.style.bgcolor


async def test_a_hundred_thousand_sections_cost_only_the_lines_in_view() -> None:
    library = make_wide_library(100_000)
    host = find_id(library, "Part 50000")
    grown = library.graft_all({host: make_wide_library(10_000).root})
    grafted_title = grown.children(host)[0]
    async with _run(make_state(library)) as (_, tree, pilot):
        assert len(tree.lines) == 100_001
        assert tree.lines_drawn <= 4 * tree.size.height
        tree.move_to_line(200_000)
        await pilot.pause()
        tree.move_to(host)
        await pilot.pause()
        for unfolded in (frozenset({host, grafted_title}), frozenset({host}), frozenset({host, grafted_title})):
            tree.lines_drawn = 0
            tree.show(replace(make_state(grown), unfolded=unfolded))
            await pilot.pause()
            assert len(tree.lines) == 100_002 + (10_000 if grafted_title in unfolded else 0)
            assert tree.cursor_id == host
            assert 0 < tree.lines_drawn <= 2 * tree.size.height
        tree.lines_drawn = 0
        tree.move_cursor(1)
        await pilot.pause()
        assert tree.lines_drawn <= tree.size.height
