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
from roamtui.document.plain import sanitise_line, strip_anchor
from roamtui.document.tokens import format_tokens
from roamtui.paths import display_path
from roamtui.tui.actions import Keymap, Scope, format_keys
from roamtui.tui.chat.content_view import ContentView

SPINNER_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SPINNER_SECONDS = 0.12
OFFLINE = "offline"
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
_MESSAGE_WIDTH_MIN = 20
"""In cells. If a message would get less room, the count of open sections is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusLineState:
    """The content of the status line."""

    model: str
    is_asking: bool = False
    step: int = 0
    """Step of the current question, or 0 before the first step."""
    usage: Usage = field(default_factory=Usage)
    """Usage of the whole conversation."""
    document_tokens: int = 0
    """Tokens of the whole source."""
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
            case ConversationSwitched():
                self.update_status(is_asking=False, step=0, message="")
            case NodesLoaded() | QuestionsRewound():
                self.update_status(message="")
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
        usage = Content()
        if status.usage.input_tokens or status.usage.output_tokens:
            usage = Content.styled(describe_usage(status.usage, status.document_tokens), "$muted")
        line = self._render_model(with_note=True)
        if message.cell_length > _measure_room(width, line, opened):
            line = self._render_model(with_note=False)
        room = _measure_room(width, line, opened)
        if message.cell_length > room:
            room = room if room >= _MESSAGE_WIDTH_MIN else _measure_room(width, line)
            message = message.truncate(room, ellipsis=True)
        return _join_fitting([line, message, opened, usage], width)

    def _render_model(self, *, with_note: bool) -> Content:
        """Return the model's name, and the step that it is working on."""
        status = self.status
        name = Content.styled(sanitise_line(status.model), "bold $primary")
        if status.model == OFFLINE and with_note:
            name += Content.styled(" (no language model)", "$muted")
        name = _make_clickable(name, "global.choose_model")
        if not status.is_asking:
            return name
        step = f"step {status.step}" if status.step else "waiting"
        stop = f"{self._keys.format_first_key('global.copy_or_cancel')} stops"
        work = Content.assemble((f"{SPINNER_FRAMES[self._frame]} {step}", "bold $accent"), (f" · {stop}", "$muted"))
        return _join_fitting([name, _make_clickable(work, "global.copy_or_cancel")], self.size.width)


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
        self._shown_ids: Sequence[str] = ()
        self.show_scope(Scope.INPUT)

    def show_scope(
        self, scope: Scope, *, is_offline: bool = False, has_citations: bool = False, has_passage: bool = False
    ) -> None:
        """Show the keys of a scope. The flags add the keys for choosing a model, for citations, and for a passage."""
        ids = self._list_hinted(scope)
        if scope in (Scope.TREE, Scope.READER):
            ids[2:2] = self._list_hinted(Scope.SECTION)
        if scope is Scope.CHAT and not has_citations:
            ids.remove("chat.select_citation")
        if scope is Scope.CHAT and has_passage:
            ids = [*_PASSAGE_HINTS, *(one for one in ids if one not in _PASSAGE_HINTS)]
        if scope is Scope.INPUT:
            ids[1:1] = ["global.previous_pane"] if has_citations else []
            ids += ["global.choose_model"] if is_offline else []
        self._shown_ids = (*ids, *_EXTRA_HINTS.get(scope, ()))
        self.refresh()

    def _list_hinted(self, scope: Scope) -> list[str]:
        return [action.id for action in self._keys.for_scope(scope) if action.is_hinted]

    @override
    def render(self) -> Content:
        right = self._join(self._list_hinted(Scope.GLOBAL), self.size.width)
        left = self._join(self._shown_ids, self.size.width - right.cell_length - len(_HINT_GAP))
        gap = self.size.width - left.cell_length - right.cell_length
        return left + " " * max(0, gap) + right

    def _join(self, action_ids: Iterable[str], width: int) -> Content:
        """Join the hints of the first actions that fit."""
        by_id = {action.id: action for action in self._keys.actions}
        bound = [by_id[action_id] for action_id in action_ids if by_id[action_id].keys]
        hints = [
            _make_clickable(format_key_hint(format_keys(action.keys)[0], action.label.lower()), action.id)
            for action in bound
        ]
        line = _join_fitting(hints, width, _HINT_GAP) if hints else Content()
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
        if room < 8 or self._source == self._document_title:
            return left.truncate(width, ellipsis=True)
        source = self._source if len(self._source) <= room else f"…{self._source[-(room - 1) :]}"
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


def describe_usage(usage: Usage, document_tokens: int = 0, *, is_short: bool = False) -> str:
    """Describe the tokens that the model read, new and from its provider's cache, and their cost.

    Args:
        usage: The usage of a question or a conversation.
        document_tokens: The tokens of the whole source, for comparison, or 0 to leave them out.
        is_short: Whether to give only the new tokens and the cost.
    """
    sign = "" if usage.source == "provider" else "~"  # an estimate
    new = f"{sign}{format_tokens(max(0, usage.input_tokens - usage.cached_tokens))}"
    words = [f"{new} tokens" if is_short else f"{new} new"]
    if usage.cached_tokens and not is_short:
        words.append(f"{format_tokens(usage.cached_tokens)} cached")
    if document_tokens:
        words.append(f"{format_tokens(document_tokens)} in document")
    if usage.cost_usd:
        words.append(f"${max(0.0001, usage.cost_usd):.{4 if usage.cost_usd < 0.1 else 2}f}")
    return " · ".join(words)


def describe_model(name: str) -> str:
    """Say in a sentence what a model does with questions."""
    if name == OFFLINE:
        return "no key, no network; quotes passages but does not reason."
    return "receives your questions and the sections it opens."


def format_key_hint(key: str, words: str) -> Content:
    """Return a hint: a key, highlighted, and `words` that say what it does."""
    return Content.assemble((key, "bold $accent"), " ", words)


class ScreenKeyHints(ContentView):
    """Lists the keys of a dialog. A key and its label stay on one line."""

    def __init__(self, keys: Keymap, *scopes: Scope) -> None:
        super().__init__()
        actions = [action for scope in scopes for action in keys.for_scope(scope) if action.keys and action.label]
        self._hints = [format_key_hint(format_keys(action.keys)[0], action.label) for action in actions]
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
