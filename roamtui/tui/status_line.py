"""The lines at the top and bottom of the screen: document, status of the conversation, and keys.

A click on a part of them runs the action of its key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import Reactive, reactive
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static
from typing_extensions import override

from roamtui.conversation.budget import share_window
from roamtui.conversation.events import ConversationEvent
from roamtui.conversation.messages import OFFLINE
from roamtui.conversation.notices import format_usage
from roamtui.conversation.progress import SPINNER_SECONDS, ReplyProgress, get_spinner_frame
from roamtui.models.base import format_window
from roamtui.program import qualify_commands
from roamtui.sanitiser import sanitise_line
from roamtui.sources.source_names import format_sources
from roamtui.text import format_token_count, format_tokens
from roamtui.tui.actions import SECTION_PANES, Action, Keymap, Scope

if TYPE_CHECKING:
    from roamtui.agent.agent import Agent
    from roamtui.conversation.conversation import Conversation
    from roamtui.tui.background_work import BackgroundWork

_GAP = "  "
_HINT_GAP = "   "
_CUT = " …"
"""Added to the last hint if the others do not fit."""
_MORE_HINTS = ("global.find", "global.choose_model")
"""Actions whose keys are shown after those of the focused part, if there is room."""
_MATCH_HINTS = ("global.next_match", "global.previous_match")
"""Actions whose keys are shown first after a search."""
_HEADER_HINTS = ("global.open_document", "global.conversations")
"""Actions whose keys the header shows."""


class ClickableLine(Widget):
    """A line whose parts can be clicked, unless a dialog covers it."""

    auto_links = Reactive(default=False)


class StatusLine(ClickableLine):
    """Shows the model and its progress, a message, the open sections, and the tokens and cost so far."""

    message: reactive[str] = reactive("")
    """What just happened, in a few words, until the next key or click."""

    def __init__(self, agent: Agent, work: BackgroundWork, keys: Keymap) -> None:
        """Draw the model and the conversation of `agent`, and `work`. A `refresh` shows their changes."""
        super().__init__()
        self._agent = agent
        self._work = work
        self.reply = ReplyProgress()
        self._stop_key = keys.first_keys["global.copy_or_cancel"]
        self._reload_key = keys.first_keys["global.reload"]

    def handle_event(self, event: ConversationEvent) -> None:
        """Show the progress of a question."""
        was_running = self.reply.is_running
        self.reply.handle_event(event)
        if self.reply.is_running != was_running:
            self.auto_refresh = SPINNER_SECONDS if self.reply.is_running else None
            self.refresh()

    def has_room(self, message: str) -> bool:
        """Return whether a message fits on the line, after the model and what goes on."""
        return self._draw_work().cell_length + len(_GAP) + cell_len(message) <= self.size.width

    def _draw_work(self) -> Content:
        """Draw the model, what it does for a question, and other news."""
        model = self._draw_model()
        if self.reply.is_running:
            frame = get_spinner_frame(monotonic() if self.app.animation_level != "none" else 0)
            activity = f"{frame} {self.reply.describe()}"
            work = Content.assemble((activity, "bold $accent"), (f" · {self._stop_key} stops", "$muted"))
            model += _GAP + _make_clickable(work, "global.copy_or_cancel")
        words = [self._work.progress]
        if self._work.reloader.is_outdated:
            words.append(f"Document changed on disk · {self._reload_key} to reload")
        news = (Content.styled(sanitise_line(each), "bold $warning") for each in filter(None, words))
        return Content(_GAP).join((model, *news)).truncate(self.size.width, ellipsis=True)

    @override
    def render(self) -> Content:
        state = self._agent.conversation.state
        message = Content(sanitise_line(self.message))
        opened = self._format_open_sections()
        sections = _make_clickable(Content(opened or "No open sections"), "global.go_tree")
        usage = format_usage(state.spent)
        used = Content.styled(f"read {usage}" if usage else "", "$muted")
        embedding = Content.styled(self._work.embedding, "$muted")
        return _join_fitting([self._draw_work(), message, sections, used, embedding], self.size.width, _GAP)

    def _format_open_sections(self) -> str:
        """Format how many sections are open and their size, and say if the model has no room for all."""
        state = self._agent.conversation.state
        model = self._agent.model
        count = len(state.open_sections)
        if not count:
            return ""
        words = f"◆ {count} open · ~{format_token_count(state.open_tokens)}"
        room = share_window(model.window_tokens, tools_tokens=0, token_ratio=model.token_ratio).open_max
        has_room = state.open_tokens <= room or model.name == OFFLINE
        return words if has_room else f"{words}, room for {format_tokens(room)}"

    def _draw_model(self) -> Content:
        """Draw the model: its name, its window unless it is a provider's, and whether it is small."""
        model = self._agent.model
        window = model.facts.window_tokens if model.facts.window_note else None
        assumed = "assumed " if model.facts.is_window_assumed and model.window_limit is None else ""
        words = ["" if window is None else f"{assumed}{format_window(window)}"]
        words.append("small model" if model.small_reason else "")
        facts = ", ".join(filter(None, words))
        name = Content.styled(sanitise_line(model.name), "bold $primary")
        name += Content.styled(f" · {facts}" if facts else "", "$muted")
        return _make_clickable(name, "global.choose_model")


def _make_clickable(part: Content, action_id: str) -> Content:
    return part.stylize(Style.from_meta({"@click": f"screen.run({action_id!r})"}))


def _join_fitting(parts: Iterable[Content], width: int, gap: str) -> Content:
    """Join the first parts that fit on a line. Empty parts are skipped."""
    line = Content()
    for part in filter(None, parts):
        longer = line + gap + part if line else part
        if longer.cell_length > width:
            break
        line = longer
    return line


class HintLine(ClickableLine):
    """Shows the keys that are useful where the focus is. A click on a key runs its action."""

    scope: reactive[Scope] = reactive(Scope.INPUT)
    has_matches: reactive[bool] = reactive(default=False)
    """Whether a search found matches to step through."""

    def __init__(self, keys: Keymap) -> None:
        super().__init__()
        self._keys = keys

    def list_hinted(self) -> tuple[list[Action], list[Action]]:
        """List the actions to hint at on the left and on the right. In the question box, letters are text."""
        scopes = (self.scope, Scope.SECTION) if self.scope in SECTION_PANES else (self.scope,)
        ids = [action.id for scope in scopes for action in self._keys.iter_actions(scope) if action.is_hinted]
        if self.scope is Scope.INPUT:
            ids.insert(1, "global.back")
        elif self.has_matches and self.scope is not Scope.CHAT:
            ids = [*_MATCH_HINTS, *ids]
        if self.scope in SECTION_PANES:
            ids = ["global.go_question", *ids]
        always = [
            action for action in self._keys.iter_actions(Scope.GLOBAL) if action.is_hinted and action.keys
        ]
        here = self._keys.get_bound([*ids, *_MORE_HINTS])
        if self.scope is Scope.INPUT:
            always = [action for action in always if action.works_while_typing]
            here = [action for action in here if action.works_while_typing]
        return here, always

    @override
    def render(self) -> Content:
        here, always = self.list_hinted()
        right = _join_fitting(format_action_hints(always), self.size.width, _HINT_GAP)
        room = self.size.width - right.cell_length - len(_HINT_GAP)
        hints = [*format_action_hints(here)]
        left = _join_fitting(hints, room, _HINT_GAP)
        if left.cell_length < Content(_HINT_GAP).join(hints).cell_length and room >= len(_CUT):
            left = _join_fitting(hints, room - len(_CUT), _HINT_GAP) + _CUT
        return left + " " * max(0, self.size.width - left.cell_length - right.cell_length) + right


class MessageLine(Static):
    """A message at the foot of a screen, over the hints. A long one takes several lines."""

    def __init__(self, words: str, severity: str) -> None:
        super().__init__(Content(sanitise_line(words)), classes=f"-{severity}")


class WarningLine(Static):
    """Shows that nothing can be saved, as long as that is so. An answer would push a notice out of view."""

    failure: reactive[str] = reactive("", init=False)
    """Why nothing is saved, or empty."""

    def watch_failure(self, failure: str) -> None:
        """Show the failure, if there is one."""
        self.display = bool(failure)
        words = f"{failure} The next question tries again."
        self.update(Content(sanitise_line(qualify_commands(words))))


class HeaderLine(ClickableLine):
    """Shows the program's name, the document's title and source, and its number among the open ones."""

    number: reactive[str] = reactive("")
    """The position of this document among the open ones."""

    def __init__(self, conversation: Conversation, keys: Keymap) -> None:
        """Draw the document of `conversation`. A `refresh` shows another version of it."""
        super().__init__()
        self._conversation = conversation
        self._keys = keys

    @override
    def render(self) -> Content:
        library = self._conversation.state.library
        width = self.size.width
        title = sanitise_line(library.title)
        left = Content.assemble(("◆ roamtui", "bold $accent"), _GAP, (title, "bold"), self.number)
        hints = Content(_GAP).join(format_action_hints(self._keys.get_bound(_HEADER_HINTS)))
        if left.cell_length + len(_GAP) + hints.cell_length > width:  # the title says more than the keys
            hints = Content()
        room = width - hints.cell_length - (len(_GAP) if hints else 0)
        left = left.truncate(room, ellipsis=True)
        source = Content.styled(sanitise_line(format_sources(library.source)), "$muted")
        if left.cell_length + len(_GAP) + source.cell_length <= room:
            left += " " * (room - left.cell_length - source.cell_length) + source
        return left + " " * (width - left.cell_length - hints.cell_length) + hints


def format_action_hints(actions: Iterable[Action]) -> Iterator[Content]:
    """Yield a hint for each action. A click on the hint runs the action."""
    for action in actions:
        yield format_key_hint(action.key_names[0], action.label, f"screen.run({action.id!r})")


def format_key_hint(key: str, words: str, action: str = "") -> Content:
    """Return a hint: a key, highlighted, and `words` that say what it does. A click on it runs `action`."""
    hint = Content.assemble((key, "bold $accent"), " ", words)
    return hint.stylize(Style.from_meta({"@click": action})) if action else hint
