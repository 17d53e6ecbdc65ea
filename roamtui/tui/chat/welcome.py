"""The view before the first question: what the document is, keys, where the person left off, and example questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from typing_extensions import override

from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line, shorten, strip_anchor
from roamtui.outline.structure import describe_contents
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.content_view import (
    ContentView,
    ConversationTarget,
    ExampleTarget,
    Target,
    attach_target,
    wrap,
)
from roamtui.tui.status_line import ModelLabel

if TYPE_CHECKING:  # the first screen does without the store
    from roamtui.conversation.log import ConversationSummary

_CHAPTERS_LINES_MAX = 2
"""Maximum number of lines with the titles of chapters."""
_LINE_END_LENGTH = 8
"""Number of characters that may stay free at the end of a line."""
_KEY_HINTS = (
    ("input.send", "ask your question"),
    ("global.back", "browse the outline"),
    ("global.help", "show all keys"),
)
"""Actions, and what their keys do."""
_LIST_MARKER = Content.styled("› ", "bold $secondary")
_CONVERSATIONS_SHOWN = 2


class WelcomeView(ContentView):
    """What the chat shows before the first question."""

    def __init__(self, library: Library, examples: tuple[str, ...], model: ModelLabel, keys: Keymap) -> None:
        super().__init__(id="welcome")
        self._library = library
        self._is_title_shown = False
        self._examples = examples
        self._model = model
        self._keys = keys
        self._saved_conversations: tuple[ConversationSummary, ...] = ()

    @property
    @override
    def targets(self) -> tuple[Target, ...]:
        saved = (ConversationTarget(saved.id) for saved in self._saved_conversations[:_CONVERSATIONS_SHOWN])
        return (*saved, *map(ExampleTarget, self._examples))

    def set_title_shown(self, *, is_shown: bool) -> None:
        """Set whether the view begins with the document's title, because the screen has no header with it."""
        if is_shown != self._is_title_shown:
            self._is_title_shown = is_shown
            self.invalidate()

    def show_library(self, library: Library) -> None:
        """Describe another version of the document."""
        self._library = library
        self.invalidate()

    def show_examples(self, examples: tuple[str, ...]) -> None:
        self._examples = examples
        self.invalidate()

    def show_saved_conversations(self, saved: tuple[ConversationSummary, ...]) -> None:
        """Show the first of the saved conversations, and how many more there are."""
        self._saved_conversations = saved
        self.invalidate()

    def show_model(self, model: ModelLabel) -> None:
        self._model = model
        self.invalidate()

    @override
    def render_content(self, width: int) -> Content:
        lines = []
        if self._is_title_shown:
            title = strip_anchor(sanitise_line(self._library.title))
            lines += [*wrap(Content.styled(title, "bold $primary"), width), Content()]
        contents, titles = describe_contents(self._library)
        chapters = " · ".join(strip_anchor(sanitise_line(title)) for title in titles)
        chapters = shorten(chapters, _CHAPTERS_LINES_MAX * (width - _LINE_END_LENGTH))
        lines += wrap(Content(contents), width)
        lines += wrap(Content.styled(chapters, "$muted"), width) if chapters else []
        lines.append(Content())
        for action_id, words in _KEY_HINTS:
            lead = Content.styled(f"{self._keys.format_first_key(action_id):<6} ", "bold $accent")
            lines += wrap(Content(words), width, lead=lead, follow=" " * 7)
        lines += self._render_last_time(width)
        if self._examples:
            lines += [Content(), Content.assemble(("Try", "bold $muted"), (" · ↑ takes one", "$muted"))]
            first = len(self.targets) - len(self._examples)  # the index of an example as a target
            for index, question in enumerate(self._examples, first):
                row = attach_target(Content(sanitise_line(question)), index, is_selected=index == self.selected)
                lines += wrap(row, width, lead=_LIST_MARKER, follow="  ")
        how = f"{self._keys.format_first_key('global.choose_model')} changes it."
        model = Content.assemble(
            ("Model  ", "bold $muted"), (self._model.name, "bold"), f" · {self._model.note} ", (how, "$muted")
        )
        return Content("\n").join([*lines, Content(), *wrap(model, width)])

    def _render_last_time(self, width: int) -> list[Content]:
        """Return the lines about saved conversations."""
        lines: list[Content] = []
        if self._saved_conversations:
            more = len(self._saved_conversations) - _CONVERSATIONS_SHOWN
            key = self._keys.format_first_key("global.conversations")
            about = f" · {key} lists {f'{more:,} more' if more > 0 else 'them'}"
            lines.append(Content.assemble(("Saved", "bold $muted"), (about, "$muted")))
            for index, saved in enumerate(self._saved_conversations[:_CONVERSATIONS_SHOWN]):
                lines.append(_LIST_MARKER + self._link(saved.title, index, width - 2))
        return [Content(), *lines] if lines else []

    def _link(self, words: str, index: int, width: int) -> Content:
        cut = Content(sanitise_line(words)).truncate(max(4, width), ellipsis=True)
        return attach_target(cut, index, is_selected=index == self.selected)
