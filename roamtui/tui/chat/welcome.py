"""The view before the first question: an introduction or where the person left off, keys, and example questions."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content
from typing_extensions import override

from roamtui.document.plain import sanitise_line, strip_anchor
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.content_view import (
    ContentView,
    ConversationTarget,
    ExampleTarget,
    NotesTarget,
    Target,
    link_target,
    wrap,
)
from roamtui.tui.status_line import ModelLabel

_WHAT = (
    "A model reads the outline, opens the sections it needs, and proves its answer with quotes."
    " What it opens stays open for the next question."
)
_LESSONS = (
    ("input.send", "ask your question"),
    ("global.back", "browse the outline"),
    ("global.help", "show all keys"),
)
_POINT = Content.styled("› ", "bold $secondary")
_CONVERSATIONS_SHOWN = 2
_QUOTES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class StaleQuote:
    """A quote of an answer or a note that the document no longer has."""

    quote: str
    target: ConversationTarget | NotesTarget


class WelcomeView(ContentView):
    """An introduction to the first minute with the app."""

    def __init__(self, title: str, examples: tuple[str, ...], model: ModelLabel, keys: Keymap) -> None:
        super().__init__(id="welcome")
        self._document_title = strip_anchor(sanitise_line(title))
        self._has_title = False
        self._examples = examples
        self._model = model
        self._keys = keys
        self._place = ""
        self._earlier: tuple[tuple[str, str], ...] = ()
        """Ids and titles of the saved conversations."""
        self._stale: tuple[StaleQuote, ...] = ()

    @property
    @override
    def targets(self) -> tuple[Target, ...]:
        saved = (ConversationTarget(conversation_id) for conversation_id, _ in self._earlier[:_CONVERSATIONS_SHOWN])
        stale = (quote.target for quote in self._stale[:_QUOTES_SHOWN])
        return (*saved, *stale, *map(ExampleTarget, self._examples))

    def set_title_shown(self, *, has_title: bool) -> None:
        """Show the document's title if the first line of the screen does not."""
        if has_title != self._has_title:
            self._has_title = has_title
            self.invalidate()

    def show_examples(self, examples: tuple[str, ...]) -> None:
        self._examples = examples
        self.invalidate()

    def show_reading_place(self, place: str) -> None:
        """Show where the person stopped reading."""
        self._place = place
        self.invalidate()

    def show_saved_conversations(self, earlier: tuple[tuple[str, str], ...]) -> None:
        """Show saved conversations by id and title, the newest first."""
        self._earlier = earlier
        self.invalidate()

    def show_stale(self, stale: tuple[StaleQuote, ...]) -> None:
        """Show quotes that the document no longer has."""
        self._stale = stale
        self.invalidate()

    def show_model(self, model: ModelLabel) -> None:
        self._model = model
        self.invalidate()

    @override
    def render_content(self, width: int) -> Content:
        lines = []
        if self._has_title:
            lines += [*wrap(Content.styled(self._document_title, "bold $primary"), width), Content()]
        if not (self._place or self._earlier):  # who was here before knows
            lines += [*wrap(Content(_WHAT), width), Content()]
        for action_id, words in _LESSONS:
            lead = Content.styled(f"{self._keys.format_first_key(action_id):<6} ", "bold $accent")
            lines += wrap(Content(words), width, lead=lead, follow=" " * 7)
        lines += self._render_last_time(width)
        if self._examples:
            key = self._keys.format_first_key("input.history_previous")
            lines += [Content(), Content.assemble(("Try", "bold $muted"), (f" · {key} takes one", "$muted"))]
            first = len(self.targets) - len(self._examples)
            for index, question in enumerate(self._examples, first):
                row = link_target(Content(sanitise_line(question)), index, is_selected=index == self.selected)
                lines += wrap(row, width, lead=_POINT, follow="  ")
        how = f"{self._keys.format_first_key('global.choose_model')} to change."
        model = Content.assemble(
            ("Model  ", "bold $muted"), (self._model.name, "bold"), f" · {self._model.note} ", (how, "$muted")
        )
        return Content("\n").join([*lines, Content(), *wrap(model, width)])

    def _render_last_time(self, width: int) -> list[Content]:
        """Return lines on where the person stopped reading, saved conversations, and quotes that are gone."""
        lines: list[Content] = []
        if self._place:
            key = self._keys.format_first_key("global.continue_reading")
            lead = Content.styled("Reading  ", "bold $muted")
            lines += wrap(
                Content.assemble(self._place, (f" · {key} continues", "$muted")), width, lead=lead, follow="  "
            )
        if self._earlier:
            more = len(self._earlier) - _CONVERSATIONS_SHOWN
            key = self._keys.format_first_key("global.conversations")
            about = f" · {key} lists {f'{more:,} more' if more > 0 else 'them'}"
            lines.append(Content.assemble(("Saved", "bold $muted"), (about, "$muted")))
            for index, (_, title) in enumerate(self._earlier[:_CONVERSATIONS_SHOWN]):
                lines.append(_POINT + self._link(title, index, width - 2))
        if self._stale:
            count = "1 quote is" if len(self._stale) == 1 else f"{len(self._stale):,} quotes are"
            lines += wrap(Content.styled(f"! {count} no longer in the document", "bold $warning"), width)
            first = min(len(self._earlier), _CONVERSATIONS_SHOWN)
            for index, stale in enumerate(self._stale[:_QUOTES_SHOWN], first):
                lines.append(_POINT + self._link(f"“{stale.quote}”", index, width - 2))
        return [Content(), *lines] if lines else []

    def _link(self, words: str, index: int, width: int) -> Content:
        cut = Content(sanitise_line(words)).truncate(max(4, width), ellipsis=True)
        return link_target(cut, index, is_selected=index == self.selected)
