"""The lines at the top and the bottom of the screen: the document, the status of the conversation, and the keys.

A click on a part of the lower lines runs the action of its key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from textual import events, on
from textual.content import Content
from textual.style import Style
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static
from typing_extensions import override

from roamtui.conversation.events import (
    ConversationEvent,
    ConversationSwitched,
    NodesLoaded,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    StepStarted,
)
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Usage
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line, strip_anchor
from roamtui.document.tokens import format_tokens
from roamtui.paths import display_path
from roamtui.tui.actions import Action, Keymap, Scope, format_keys
from roamtui.tui.chat.content_view import ContentView

SPINNER_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SPINNER_SECONDS = 0.12
_META_KEY = "roamtui_action"
_META_TAB = "roamtui_tab"
_PART_GAP = "  "
_HINT_GAP = "   "
_PASSAGE_HINTS = ("chat.show_target", "section.open", "section.note", "section.ask")
"""Actions on a selected passage."""
_EXTRA_HINTS = {
    Scope.INPUT: ("global.find", "global.open_document", "global.conversations"),
    Scope.TREE: ("global.find", "global.open_document"),
    Scope.CHAT: ("global.find",),
    Scope.READER: ("global.find",),
}
"""Global actions by scope. If there is room, their keys are shown after the keys of that scope."""
_LOST_SIGN = "✂"
_MESSAGE_WIDTH_MIN = 20
"""In cells. If a message would get less room, the count of open sections is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusLineState:
    """The content of the status line."""

    model: str
    model_note: str = ""
    """Shown after the name, such as "no language model"."""
    is_asking: bool = False
    step: int = 0
    """Step of the current question, or 0 before the first step."""
    usage: Usage = field(default_factory=Usage)
    """Usage of the whole conversation."""
    document_tokens: int = 0
    """Tokens of the whole source."""
    conversion_losses: str = ""
    """What conversions left out, such as `3 pictures, 1 chart`; empty if nothing."""
    open_count: int = 0
    open_tokens: int = 0
    alert: str = ""
    """A message that stays until its cause is gone."""
    is_progress: bool = False
    """Whether the message reports work in progress."""
    message: str = ""
    """What just happened, in a few words."""


class ClickableBar(Widget):
    """A line with parts that run an action when they are clicked."""

    def __init__(self, keys: Keymap, *, id: str) -> None:  # noqa: A002 (Textual's own name)
        super().__init__(id=id)
        self._keys = keys

    @on(events.Click)
    async def _run_clicked(self, event: events.Click) -> None:
        if chosen := event.style.meta.get(_META_KEY):
            await self.run_action(f"screen.run({chosen!r})")


def _make_clickable(part: Content, action_id: str) -> Content:
    return part.stylize(Style.from_meta({_META_KEY: action_id}))


class StatusLine(ClickableBar):
    """Shows a `StatusLineState`. If the line is too long, the message is cut, and then the last parts are left out."""

    def __init__(self, status: StatusLineState, keys: Keymap) -> None:
        super().__init__(keys, id="status-line")
        self.status = status
        """What the line shows."""
        self._frame = 0
        self._spinner: Timer | None = None

    def on_mount(self) -> None:
        self._spinner = self.set_interval(SPINNER_SECONDS, self._advance_spinner, pause=not self.status.is_asking)

    def update_status(self, **changes: object) -> None:
        """Change some fields of the status."""
        self.status = replace(self.status, **changes)  # type: ignore[arg-type]  # fields by name
        self.refresh()
        if self._spinner is not None and self.status.is_asking:
            self._spinner.resume()
        elif self._spinner is not None:
            self._spinner.pause()

    def show_message(self, words: str, *, is_progress: bool) -> None:
        """Replace the message. With `is_progress`, empty words remove only a message of progress."""
        if words or not is_progress or self.status.is_progress:
            self.update_status(message=words, is_progress=is_progress and bool(words))

    def clear_message(self) -> None:
        """Clear the message, which the next key may make untrue, unless it reports progress."""
        if self.status.message and not self.status.is_progress:
            self.update_status(message="")

    def show_state(self, state: ConversationState) -> None:
        """Show the open sections, and the tokens and cost of the conversation."""
        usage = Usage.total(exchange.usage for exchange in state.transcript.exchanges)
        document_tokens = state.library.tokens if usage.input_tokens else 0
        self.update_status(
            open_count=len(state.open_sections),
            open_tokens=state.open_tokens,
            usage=usage,
            document_tokens=document_tokens,
            conversion_losses=_format_losses(state.library),
        )

    def show_event(self, event: ConversationEvent) -> None:
        """Show the progress of a question, and clear a message that an event has made outdated."""
        match event:
            case QuestionAsked():
                self.update_status(is_asking=True, step=0, message="")
            case StepStarted(number=number):
                self.update_status(step=number)
            case QuestionAnswered():
                self.update_status(is_asking=False, step=0)
            case NodesLoaded() | QuestionsRewound():
                self.update_status(message="")
            case ConversationSwitched():
                self.update_status(is_asking=False, step=0, message="")
            case _:
                pass

    def _advance_spinner(self) -> None:
        if self.app.animation_level != "none":
            self._frame = (self._frame + 1) % len(SPINNER_FRAMES)
            self.refresh()

    @override
    def render(self) -> Content:
        status, width = self.status, self.size.width
        alert = Content.styled(sanitise_line(status.alert), "bold $warning")
        message = Content(_PART_GAP).join(part for part in (alert, Content(sanitise_line(status.message))) if part)
        size = f"◆ {status.open_count} open · ~{format_tokens(status.open_tokens)} tokens"
        opened = _make_clickable(Content(size if status.open_count else "No open sections"), "tree.go_to_cited")
        if status.conversion_losses:  # the sign is shown even if there is no room for the words
            opened += Content.styled(f" {_LOST_SIGN}", "$warning")
        lost = Content.styled(
            f"without {sanitise_line(status.conversion_losses)}" if status.conversion_losses else "", "$muted"
        )
        usage = Content()
        if status.usage.input_tokens or status.usage.output_tokens:
            usage = Content.styled(describe_usage(status.usage, status.document_tokens), "$muted")
        line = self._render_model(with_note=True)
        room = _measure_room(width, line, opened)
        if message.cell_length > room:
            line = self._render_model(with_note=False)
            room = _measure_room(width, line, opened)
        if message.cell_length > room:
            message = message.truncate(
                room if room >= _MESSAGE_WIDTH_MIN else _measure_room(width, line), ellipsis=True
            )
        return _join_fitting([line, message, opened, usage, lost], width)

    def _render_model(self, *, with_note: bool) -> Content:
        """Return the model's name, and the step that it is working on."""
        status = self.status
        name = Content.styled(sanitise_line(status.model), "bold $primary")
        if status.model_note and with_note:
            name += Content.styled(f" ({status.model_note})", "$muted")
        name = _make_clickable(name, "global.choose_model")
        if not status.is_asking:
            return name
        step = f"step {status.step}" if status.step else "waiting"
        stop = f"{self._keys.format_first_key('global.copy_or_cancel')} stops"
        work = Content.assemble((f"{SPINNER_FRAMES[self._frame]} {step}", "bold $accent"), (f" · {stop}", "$muted"))
        return _join_fitting([name, _make_clickable(work, "global.copy_or_cancel")], self.size.width)


def _format_losses(library: Library) -> str:
    """Return what the conversion of the document left out, or how many of several documents lack something."""
    lost = [document.lost for document in library.documents if document.lost]
    return f"parts of {len(lost)} documents" if len(lost) > 1 else "".join(lost)


def _measure_room(width: int, *parts: Content) -> int:
    """Return the number of cells that are free after `parts`, each followed by a gap."""
    return max(0, width - sum(part.cell_length + len(_PART_GAP) for part in parts))


def _join_fitting(parts: Iterable[Content], width: int, gap: str = _PART_GAP) -> Content:
    """Join the first parts that fit on a line, at least one. Empty parts are skipped."""
    line, *others = filter(None, parts)
    for part in others:
        longer = line + gap + part
        if longer.cell_length > width:
            break
        line = longer
    return line


class HintLine(ClickableBar):
    """Shows the keys that are useful where the focus is. A click on a key runs its action."""

    def __init__(self, keys: Keymap) -> None:
        super().__init__(keys, id="hint-line")
        self._scope = Scope.INPUT
        self._is_offline = False
        self._has_citations = False
        self._has_passage = False

    def show_scope(
        self, scope: Scope, *, is_offline: bool = False, has_citations: bool = False, has_passage: bool = False
    ) -> None:
        """Show the keys of a scope. The flags add the keys for choosing a model, for citations, and for a passage."""
        shown = (scope, is_offline, has_citations, has_passage)
        if shown != (self._scope, self._is_offline, self._has_citations, self._has_passage):
            self._scope, self._is_offline, self._has_citations, self._has_passage = shown
            self.refresh()

    @override
    def render(self) -> Content:
        by_id = {action.id: action for action in self._keys.actions}
        scope_ids = [action.id for action in self._keys.for_scope(self._scope) if action.is_hinted]
        if self._scope in (Scope.TREE, Scope.READER):
            scope_ids[2:2] = [action.id for action in self._keys.for_scope(Scope.SECTION) if action.is_hinted]
        if not self._has_citations and "chat.select_citation" in scope_ids:
            scope_ids.remove("chat.select_citation")
        if self._has_passage and self._scope is Scope.CHAT:
            scope_ids = [*_PASSAGE_HINTS, *(one for one in scope_ids if one not in _PASSAGE_HINTS)]
        if self._has_citations and self._scope is Scope.INPUT:
            scope_ids.insert(1, "global.previous_pane")
        if self._is_offline and self._scope is Scope.INPUT:
            scope_ids.append("global.choose_model")
        everywhere = [action for action in self._keys.for_scope(Scope.GLOBAL) if action.is_hinted]
        right = self._join(everywhere, self.size.width)
        room = self.size.width - right.cell_length - len(_HINT_GAP)
        left = self._join([by_id[action_id] for action_id in (*scope_ids, *_EXTRA_HINTS.get(self._scope, ()))], room)
        gap = self.size.width - left.cell_length - right.cell_length
        return left + " " * max(0, gap) + right

    def _join(self, actions: Sequence[Action], width: int) -> Content:
        """Join the hints of the first actions that fit."""
        bound = [action for action in actions if action.keys]
        hints = [format_key_hint(format_keys(action.keys)[0], action.label.lower()) for action in bound]
        clickable = [_make_clickable(hint, action.id) for hint, action in zip(hints, bound, strict=True)]
        line = _join_fitting(clickable, width, _HINT_GAP) if clickable else Content()
        return line if line.cell_length <= width else Content()


class MessageLine(Static):
    """A message at the foot of a screen. A long one takes several lines."""

    def __init__(self, words: str, severity: str) -> None:
        super().__init__(Content(sanitise_line(words)), classes=f"-{severity}")


class HeaderLine(Widget):
    """Shows the program's name, the document's title and its source, or a tab for each of several documents."""

    def __init__(self, title: str, source: str) -> None:
        super().__init__(id="header-line")
        self._titles: Sequence[str] = ()
        self._index = 0
        self.show(title, source)

    def show_tabs(self, titles: Sequence[str], index: int) -> None:
        """Show a tab for each document. `index` is the tab of this document."""
        self._titles, self._index = titles, index
        self.refresh()

    @on(events.Click)
    async def _turn_to_tab(self, event: events.Click) -> None:
        number = event.style.meta.get(_META_TAB)
        if number is not None:
            await self.run_action(f"app.turn_to({number})")

    def show(self, title: str, source: str) -> None:
        """Show another title and source."""
        self._document_title, self._source = strip_anchor(sanitise_line(title)), sanitise_line(display_path(source))
        self.refresh()

    @override
    def render(self) -> Content:
        width = self.size.width
        if len(self._titles) > 1:
            return self._draw_tabs(width)
        left = Content.assemble(("◆ roamtui", "bold $accent"), "  ", (self._document_title, "bold"))
        room = width - left.cell_length - 3
        source = self._source
        if room < 8 or source == self._document_title:
            return left.truncate(width, ellipsis=True)
        if len(source) > room:
            source = f"…{source[-(room - 1) :]}"
        gap = width - left.cell_length - Content(source).cell_length
        return Content.assemble(left, " " * max(1, gap), (source, "$muted"))

    def _draw_tabs(self, width: int) -> Content:
        """Return the tabs, each cut so that all fit."""
        line = Content.styled("◆", "bold $accent")
        room = max(4, (width - 1) // len(self._titles) - len("   "))
        for number, title in enumerate(self._titles, 1):
            is_current = number - 1 == self._index
            name = self._document_title if is_current else title
            tab = Content(f" {name}").truncate(room + 2, ellipsis=True) + " "
            tab = tab.stylize("bold $accent reverse" if is_current else "$muted")
            line += " " + tab.stylize(Style.from_meta({_META_TAB: number}))
        return line


def describe_usage(usage: Usage, document_tokens: int = 0) -> str:
    """Describe the tokens that the model read, new and from its provider's cache, and their cost.

    Args:
        usage: The usage of a question or a conversation.
        document_tokens: The tokens of the whole source, for comparison, or 0 to leave them out.
    """
    sign = "" if usage.source == "provider" else "~"  # an estimate
    words = [f"{sign}{format_tokens(max(0, usage.input_tokens - usage.cached_tokens))} new"]
    if usage.cached_tokens:
        words.append(f"{format_tokens(usage.cached_tokens)} cached")
    if document_tokens:
        words.append(f"{format_tokens(document_tokens)} in document")
    if usage.cost_usd:
        words.append(f"${usage.cost_usd:.4f}" if usage.cost_usd < 0.1 else f"${usage.cost_usd:.2f}")
    return " · ".join(words)


def summarise_usage(usage: Usage) -> str:
    """Return the new tokens that the model read and their cost, shorter than `describe_usage` does."""
    sign = "" if usage.source == "provider" else "~"  # an estimate
    words = f"{sign}{format_tokens(max(0, usage.input_tokens - usage.cached_tokens))} tokens"
    if not usage.cost_usd:
        return words
    cost = f"${usage.cost_usd:.2f}" if usage.cost_usd >= 0.1 else f"${max(0.001, usage.cost_usd):.3f}"
    return f"{words} · {'' if usage.cost_usd >= 0.001 else 'under '}{cost}"


OFFLINE = "offline"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLabel:
    """A model's name and notes about it."""

    name: str
    short_note: str = ""
    """For the status line."""
    note: str = "receives your questions and the sections it opens."
    """For the first screen."""


def make_model_label(name: str) -> ModelLabel:
    """Return the label of a model by its name."""
    if name == OFFLINE:
        note = "no key, no network; quotes passages but does not reason."
        return ModelLabel(name=name, short_note="no language model", note=note)
    return ModelLabel(name=sanitise_line(name))


def format_key_hint(key: str, words: str) -> Content:
    """Return a hint: a key, highlighted, and `words` that say what it does."""
    return Content.assemble((key, "bold $accent"), " ", words)


class ScreenKeyHints(ContentView):
    """Lists the keys of a dialog. A key and its label stay on one line."""

    def __init__(self, keys: Keymap, *scopes: Scope) -> None:
        super().__init__()
        self._hints = [
            format_key_hint(format_keys(action.keys)[0], action.label)
            for scope in scopes
            for action in keys.for_scope(scope)
            if action.keys and action.label
        ]
        self._hints.append(format_key_hint("esc", "close"))

    @override
    def render_content(self, width: int) -> Content:
        lines: list[Content] = []
        for hint in self._hints:
            longer = lines[-1] + _PART_GAP + hint if lines else hint
            if lines and longer.cell_length <= width:
                lines[-1] = longer
            else:
                lines.append(hint)
        return Content("\n").join(lines)


def adapt_flags(words: str) -> str:
    """Name a key instead of the flags that a model's error suggests, because a running app has no flags."""
    return words.replace("--api-base", "its URL (f2)").replace("with --model", "by f2").replace("--model", "f2")
