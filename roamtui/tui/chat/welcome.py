"""The view before the first question: an introduction, three keys, and example questions."""

from __future__ import annotations

from textual.content import Content
from typing_extensions import override

from roamtui.document.plain import sanitise_line, strip_anchor
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.content_view import ContentView, ExampleTarget, Target, link_target, wrap
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


class WelcomeView(ContentView):
    """An introduction to the first minute with the app."""

    def __init__(self, title: str, examples: tuple[str, ...], model: ModelLabel, keys: Keymap) -> None:
        super().__init__(id="welcome")
        self._document_title = strip_anchor(sanitise_line(title))
        self._has_title = False
        self._examples = examples
        self._model = model
        self._keys = keys

    @property
    @override
    def targets(self) -> tuple[Target, ...]:
        return tuple(ExampleTarget(question) for question in self._examples)

    def show_title(self, *, has_title: bool) -> None:
        """Show the document's title if the first line of the screen does not."""
        if has_title != self._has_title:
            self._has_title = has_title
            self.invalidate()

    def show_examples(self, examples: tuple[str, ...]) -> None:
        self._examples = examples
        self.invalidate()

    def show_model(self, model: ModelLabel) -> None:
        self._model = model
        self.invalidate()

    @override
    def render_content(self, width: int) -> Content:
        lines = []
        if self._has_title:
            lines += [*wrap(Content.styled(self._document_title, "bold $primary"), width), Content()]
        lines += [*wrap(Content(_WHAT), width), Content()]
        for action_id, words in _LESSONS:
            lead = Content.styled(f"{self._keys.format_first_key(action_id):<6} ", "bold $accent")
            lines += wrap(Content(words), width, lead=lead, follow=" " * 7)
        if self._examples:
            lines += [Content(), Content.styled("Try", "bold $muted")]
            for index, question in enumerate(self._examples):
                row = link_target(Content(sanitise_line(question)), index, is_selected=index == self.selected)
                lines += wrap(row, width, lead=Content.styled("› ", "bold $secondary"), follow="  ")
        how = f"{self._keys.format_first_key('global.choose_model')} to change."
        model = Content.assemble(
            ("Model  ", "bold $muted"), (self._model.name, "bold"), f" · {self._model.note} ", (how, "$muted")
        )
        return Content("\n").join([*lines, Content(), *wrap(model, width)])
