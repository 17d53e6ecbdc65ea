from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from msgspec.structs import replace
from textual import on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.strip import Strip
from typing_extensions import override

from roamtui.conversation.events import OpenResult, OpenStatus, Origin, SearchHit, SectionsOpened, SectionsSearched
from roamtui.conversation.state import ConversationState
from roamtui.conversation.update import Command, FoldNodes
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.tui.messages import CommandRequested, SectionTarget, TargetActivated
from roamtui.tui.tree.outline_tree import OutlineTree
from tests.real_documents import PROJECT_DIR
from tests.search.libraries import id_of, make_library
from tests.tui.tree.outlines import HANDBOOK, make_state, make_wide_library

_LIBRARY = make_library(HANDBOOK)


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
    @on(TargetActivated)
    @on(CommandRequested)
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


def _commands(app: TreeApp, state: ConversationState) -> list[Command | str]:
    return [message.make_command(state) for message in app.messages if isinstance(message, CommandRequested)]


def _cursor_title(tree: OutlineTree, library: Library = _LIBRARY) -> str:
    assert tree.cursor_id is not None
    return library.node(tree.cursor_id).title


async def test_the_cursor_walks_lines_parents_and_children() -> None:
    state = make_state(_LIBRARY, "Leave")
    async with _run(state) as (app, tree, pilot):
        walked = []
        steps: tuple[Callable[[], object], ...] = (
            lambda: tree.action_move(2),
            partial(tree.action_move_sideways, -1),
            partial(tree.action_move_sideways, 1),
            lambda: tree.action_move(99),
            lambda: tree.action_move(1),
            tree.action_first,
            partial(tree.action_move_sideways, -1),
            lambda: tree.action_page(1),
            lambda: tree.action_page(-1),
        )
        for step in steps:
            step()
            walked.append(_cursor_title(tree))
        assert walked == [
            "Vacation", "Leave", "Vacation", "Travel", "Travel", "Handbook", "Handbook", "Travel", "Handbook",
        ]  # fmt: skip
        tree.move_to(id_of(_LIBRARY, "Security"))
        tree.action_move_sideways(1)
        await pilot.pause()
        assert _commands(app, state) == [FoldNodes(section_ids=(id_of(_LIBRARY, "Security"),), is_folded=False)]


async def test_a_click_on_the_triangle_folds_and_one_elsewhere_reads() -> None:
    state = make_state(_LIBRARY, "Leave")
    async with _run(state) as (app, tree, pilot):
        leave, vacation, security = (id_of(_LIBRARY, title) for title in ("Leave", "Vacation", "Security"))
        await pilot.click(tree, offset=(2, 1))
        assert _commands(app, state) == [FoldNodes(section_ids=(leave,), is_folded=True)]
        app.messages.clear()
        await pilot.click(tree, offset=(7, 2))
        assert app.messages == [OutlineTree.CursorMoved(vacation), TargetActivated(SectionTarget(vacation))]
        await pilot.click(tree, offset=(30, 4))
        assert app.messages[-1] == TargetActivated(SectionTarget(security))


async def test_what_is_in_view_stays_when_lines_above_it_change() -> None:
    library = make_wide_library(100)
    host = id_of(library, "Part 10")
    grown = library.graft_all({host: parse_document("# One\n# Two\n# Three\n", key="g")})
    async with _run(make_state(library)) as (_, tree, pilot):
        tree.scroll_to(y=50, animate=False)
        await pilot.pause()
        before = _lines(tree)
        tree.show(replace(make_state(grown), unfolded=frozenset({host})))
        await pilot.pause()
        assert _lines(tree) == before
        tree.show(replace(make_state(grown), unfolded=frozenset()))
        await pilot.pause()
        assert _lines(tree) == before
        shorter = parse_document("\n".join(f"# Line {number}" for number in range(80)), key="")
        tree.show(make_state(Library(source="wide.md", root=shorter)))
        await pilot.pause()
        assert any("Line 50" in line for line in _lines(tree)), "the node on top is gone, and the view stays"


async def test_the_tree_marks_what_a_search_found_and_goes_to_what_the_agent_opened() -> None:
    library = make_wide_library(100)
    part = id_of(library, "Part 50")
    hit = SearchHit(section_id=part, path=("Part 50",), score=1.0)
    result = OpenResult(id=part, section_id=part, status=OpenStatus.OPENED)
    async with _run(make_state(library)) as (_, tree, pilot):
        tree.handle_event(SectionsSearched(query="fifty", hits=(hit,)))
        tree.handle_event(SectionsOpened(results=(result,), origin=Origin.AGENT))
        await pilot.pause()
        assert any("Part 50" in line and "⌕" in line for line in _lines(tree))


async def test_many_sections_cost_only_the_lines_in_view() -> None:
    library = make_wide_library(10_000)
    host = library.root.ids[5_000]
    grown = library.graft_all({host: make_wide_library(1_000).root})
    grafted_title = grown.children(host)[0]
    async with _run(make_state(library)) as (_, tree, pilot):
        assert len(tree.lines.ids) == 10_001
        assert tree.lines_drawn <= 4 * tree.size.height
        tree.action_last()
        await pilot.pause()
        tree.move_to(host)
        await pilot.pause()
        for unfolded in (frozenset({host, grafted_title}), frozenset({host}), frozenset({host, grafted_title})):
            tree.lines_drawn = 0
            tree.show(replace(make_state(grown), unfolded=unfolded))
            await pilot.pause()
            assert len(tree.lines.ids) == 10_002 + (1_000 if grafted_title in unfolded else 0)
            assert tree.cursor_id == host
            assert 0 < tree.lines_drawn <= 2 * tree.size.height
        tree.lines_drawn = 0
        tree.action_move(1)
        await pilot.pause()
        assert tree.lines_drawn <= tree.size.height
