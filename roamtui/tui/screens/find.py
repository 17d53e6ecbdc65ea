"""Finding sections by what they say: hits of the configured search, as typed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from textual import events, on
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.document.library import Library
from roamtui.document.plain import plain_line
from roamtui.outline.labels import name_node, name_path
from roamtui.search.base import Hit
from roamtui.tui.actions import Scope
from roamtui.tui.app import describe_failure
from roamtui.tui.commands import open_section
from roamtui.tui.keys import Keys, bind
from roamtui.tui.marked_list import SIGN_WIDTH, MarkedList
from roamtui.tui.node_names import name_above
from roamtui.tui.panes.tree_pane import TreePane
from roamtui.tui.screens.asking import Asking
from roamtui.tui.screens.overlays import ListOverlay
from roamtui.tui.screens.reading import Reading, Send
from roamtui.tui.status_line import ScreenHints

HITS_MAX = 20
_SNIPPET_LINES = 2
_INDENT = "    "


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found, as the screen shows it."""

    query: str
    hits: tuple[Hit, ...] = ()
    titles: tuple[tuple[str, str], ...] = ()
    """For each hit its title and, in one line, the titles above; safe for the screen."""


Find = Callable[[str], Awaitable[Found]]
"""Searches for some words."""


class FindScreen(ListOverlay["Hit | None"]):
    """Searches as typed; the result is the hit to read, None where there is none."""

    AUTO_FOCUS = "Input"
    BINDINGS = bind(Scope.FIND)
    DEFAULT_CSS = """
    FindScreen {
        & > Vertical { width: 100; max-width: 96%; height: 90%; max-height: 90%; padding: 0 1; }
        & OptionList { height: 1fr; }
    }
    """

    def __init__(self, find: Find, open_hit: Callable[[str], None], keys: Keys, before: Found) -> None:
        """Show what was found before, to go on from.

        Args:
            find: Searches.
            open_hit: Opens a section for the conversation.
            keys: Keys in force.
            before: Of the last time.
        """
        super().__init__()
        self._find = find
        self._open_hit = open_hit
        self._keys = keys
        self.found = before
        """What is listed."""
        self._opened_ids: set[str] = set()

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(id="find-title")
            yield Input(self.found.query, placeholder="words or a question", select_on_focus=True)
            yield MarkedList()
            yield ScreenHints(self._keys, Scope.FIND)

    def on_mount(self) -> None:
        """Show what was found before."""
        self._show()

    @on(Input.Changed)
    def _search(self, event: Input.Changed) -> None:
        event.stop()
        if event.value.strip() != self.found.query.strip():
            self.run_worker(self._look_for(event.value), group="finding", exclusive=True, exit_on_error=False)

    async def _look_for(self, query: str) -> None:
        self._say("searching…")
        self.found = await self._find(query)
        self._show()

    def _show(self) -> None:
        """List the hits, the best one chosen."""
        lines = [self._draw(place) for place in range(len(self.found.hits))]
        self.query_one(MarkedList).show_lines(lines, chosen=0 if lines else None)
        self._say(self._describe())

    def _describe(self) -> str:
        if not self.found.query.strip():
            return "the best come first, each with the sentence that answers"
        count = len(self.found.hits)
        if not count:
            return "nothing found: try other words"
        return f"the best {count}" if count == HITS_MAX else f"{count} found"

    def _say(self, words: str) -> None:
        title = Content.assemble(("Find sections", "bold $primary"), (f" · {words}", "$muted"))
        self.query_one("#find-title", Static).update(title)

    def _draw(self, place: int) -> Content:
        hit = self.found.hits[place]
        title, above = self.found.titles[place]
        is_open = hit.section_id in self._opened_ids
        head = Content.assemble(
            (f"{place + 1:>2}  ", "bold $accent"),
            ("◇ " if is_open else "", "bold $success"),
            (title, "bold"),
            (f"  {above}" if above else "", "$muted"),
        )
        width = max(20, self.query_one(MarkedList).scrollable_content_region.width - len(_INDENT) - SIGN_WIDTH - 2)
        head = head.truncate(width + len(_INDENT), ellipsis=True)
        snippet = Content(plain_line(hit.snippet)).wrap(width)
        lines = snippet[:_SNIPPET_LINES]
        if len(snippet) > len(lines):
            lines[-1] = lines[-1].truncate(width - 1) + "…"
        if hit.why != f"text rank {place + 1}":  # else it says no more than the number does
            lines.append(Content.styled(plain_line(hit.why), "italic $muted"))
        return Content("\n").join([head, *(Content(_INDENT) + line for line in lines)])

    @property
    def _selected(self) -> Hit | None:
        line = self.query_one(MarkedList).highlighted
        return self.found.hits[line] if line is not None and line < len(self.found.hits) else None

    @on(OptionList.OptionSelected)
    @on(Input.Submitted)
    def _read_chosen(self, event: OptionList.OptionSelected | Input.Submitted) -> None:
        event.stop()
        self.action_read()

    @on(Worker.StateChanged)
    def _tell_failure(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._say(describe_failure(event.worker.error))

    def on_resize(self, event: events.Resize) -> None:
        """Lay the hits out for another width."""
        del event
        self.call_after_refresh(self._draw_again)

    def _draw_again(self) -> None:
        options = self.query_one(MarkedList)
        for place in range(min(options.option_count, len(self.found.hits))):
            options.change_line(place, self._draw(place))

    def action_read(self) -> None:
        """Read the section."""
        hit = self._selected
        if hit is not None:
            self.dismiss(hit)

    def action_open(self) -> None:
        """Open the section for the conversation."""
        hit = self._selected
        if hit is not None:
            self._opened_ids.add(hit.section_id)
            self._open_hit(hit.section_id)
            self._draw_again()

    def action_next_hit(self) -> None:
        """Select the next one, from the field too."""
        self.action_move(1)

    def action_previous_hit(self) -> None:
        """Select the previous one, from the field too."""
        self.action_move(-1)

    def action_change_side(self) -> None:
        """Go to the list, or back to the field."""
        field, options = self.query_one(Input), self.query_one(MarkedList)
        self.set_focus(options if field.has_focus else field)


class Finding:
    """Lets a person find sections, and brings what they choose into the reader."""

    def __init__(self, asking: Asking, reading: Reading, tree: TreePane, send: Send) -> None:
        """Find in the conversation's document.

        Args:
            asking: Searches.
            reading: Shows what was chosen.
            tree: Shows what was found.
            send: Dispatches a command.
        """
        self._asking = asking
        self._reading = reading
        self._tree = tree
        self._send = send
        self._found = Found(query="")

    def show(self, app: App[None], keys: Keys) -> None:
        """Show what was found last, to go on from."""
        app.push_screen(FindScreen(self._find, self._open, keys, self._found), self._read)

    async def _find(self, query: str) -> Found:
        hits = await self._asking.conversing.search(query, limit=HITS_MAX)
        library = self._asking.session.state.library
        titles = tuple((name_node(library.node(hit.section_id)), _name_above(library, hit.section_id)) for hit in hits)
        self._found = Found(query=query, hits=hits, titles=titles)
        self._tree.show_found(tuple(hit.section_id for hit in hits))
        return self._found

    def _open(self, section_id: str) -> None:
        self._send(open_section(section_id))

    def _read(self, hit: Hit | None) -> None:
        if hit is not None:
            self._reading.show_hit(hit.section_id, hit.snippet, came_from=self._tree.outline)


def _name_above(library: Library, section_id: str) -> str:
    """Return where a section stands; the document's own title goes without saying."""
    if library.title_id() is not None:
        return name_above(library, section_id)
    above = library.ancestors(section_id)
    return name_path(library, above[-1]).replace(" > ", " › ") if above else ""
