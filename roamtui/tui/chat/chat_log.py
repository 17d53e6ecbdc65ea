"""`ChatLog`: the conversation from top to bottom, with one selection over all that it names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message
from textual.scrollbar import ScrollTo, ScrollUp
from textual.widget import Widget
from typing_extensions import override

from roamtui.conversation.narration import Weight
from roamtui.conversation.transcript import Citation
from roamtui.tui.actions import Scope, bind
from roamtui.tui.chat.content_view import ContentView, SectionTarget, TargetChosen
from roamtui.tui.chat.messages import Messages
from roamtui.tui.commands import CopyWanted, KeepWanted, NothingDone
from roamtui.tui.context import FirstContext

if TYPE_CHECKING:
    from roamtui.tui.chat.exchange_view import ExchangeView


class ChatLog(VerticalScroll, inherit_bindings=False):
    """Shows exchanges and notices, the newest in view unless a person scrolled away; of a long answer its beginning."""

    BINDINGS = bind(Scope.CHAT)
    DEFAULT_CSS = """
    ChatLog {
        height: 1fr;
        background: $background;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    """

    class Ready(Message):
        """Messages can be shown from now on."""

    class AgainWanted(Message):
        """A person wants the last question asked again, as it is or changed."""

        def __init__(self, *, is_edited: bool, opening: tuple[str, ...] = ()) -> None:
            super().__init__()
            self.is_edited = is_edited
            self.opening = opening
            """Sections to open before."""

    class ForkWanted(Message):
        """A person wants a conversation of its own from before a question on."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, first: FirstContext, welcome: Widget) -> None:
        """Show `welcome` until the first question."""
        super().__init__(id="chat-log")
        self._messages = Messages(first, welcome)
        self._selected: tuple[ContentView, int] | None = None
        self._keeper = EndKeeper(self, self._find_answer)

    @override
    def compose(self) -> ComposeResult:
        yield self._messages

    def on_mount(self) -> None:
        """Tell that messages can be shown, and follow them as they grow."""
        self.watch(self, "virtual_size", self._keep_end, init=False)
        self.post_message(self.Ready())

    @property
    def current(self) -> ExchangeView | None:
        """The exchange that is under way, or the last one."""
        return self._messages.current

    @property
    def has_messages(self) -> bool:
        """Whether there is any question in it."""
        return self.current is not None

    def expect(self, question: str, within: str | None, waiting_for: str) -> None:
        """Show at once, in view, what a person asked of which section, and what must come before it can begin."""
        self._messages.expect(question, within, waiting_for)
        self._keeper.start()

    def end_waiting(self) -> None:
        """Show a question that was sent, and never begun, no longer."""
        self._messages.end_waiting()

    def begin(self, number: int, question: str) -> None:
        """Show a question as begun, in view."""
        self._messages.begin(number, question)
        self._messages.shed()
        self._keeper.start()

    def forget(self, number: int) -> None:
        """Show question `number` and all that follow no longer."""
        self.clear_selection()
        self._messages.forget(number)

    def restore(self) -> None:
        """Show a saved conversation."""
        self._messages.restore()
        if self.current is not None:
            self._keeper.start()

    def start_over(self) -> None:
        """Show the conversation that the session holds now, from its last answer."""
        self.clear_selection()
        self._messages.start_over()
        self.scroll_home(animate=False, immediate=True)
        self._keeper.stop()
        if self.current is not None:
            self._keeper.start()

    def add_notice(self, text: str, weight: Weight = Weight.INFO) -> None:
        """Say something in the conversation."""
        self._messages.add_notice(text, weight)
        is_kept = weight is Weight.INFO and self._keeper.is_keeping
        if weight is Weight.ERROR or (self.current is not None and not is_kept):
            self.anchor()

    def show_earlier(self) -> None:
        """Show some earlier questions; what is in view stays in view."""
        self.clear_selection()
        self._let_scroll()
        before = self._messages.virtual_size.height
        self._messages.show_earlier()

        def stay() -> None:
            self.scroll_to(y=self.scroll_y + self._messages.virtual_size.height - before, animate=False)

        self.call_after_refresh(stay)

    @property
    def has_targets(self) -> bool:
        """Whether there is anything to select."""
        return next(self._walk_targets(), None) is not None

    def clear_selection(self) -> bool:
        """Select nothing; return whether something was selected."""
        if self._selected is None:
            return False
        self._selected[0].select_target(None)
        self._selected = None
        return True

    def action_next_target(self) -> None:
        """Select the next section that the conversation names."""
        self._move_selection(1)

    def action_previous_target(self) -> None:
        """Select the previous section that the conversation names."""
        self._move_selection(-1)

    def action_show_target(self) -> None:
        """Jump to the selected section; select the first source of the last answer where none is."""
        if self._selected is None:
            self._move_selection(1)
        if self._selected is not None:
            view, index = self._selected
            self.post_message(TargetChosen(view.targets[index]))

    @override
    def action_page_down(self) -> None:
        """Scroll down by a page."""
        self.scroll_page_down(animate=False)

    @override
    def action_page_up(self) -> None:
        """Scroll up by a page."""
        self._let_scroll()
        self.scroll_page_up(animate=False)

    def action_first(self) -> None:
        """Go to the beginning."""
        self._let_scroll()
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        """Go to the end."""
        self.anchor()

    def action_retry(self) -> None:
        """Ask the last question again."""
        if self.current is not None:
            self.post_message(self.AgainWanted(is_edited=False))

    def action_open_unread(self) -> None:
        """Ask the last question again with what search found for it and nobody opened."""
        if self.current is not None and self.current.unread is not None and self.current.unread.likely:
            opening = tuple(hit.section_id for hit in self.current.unread.likely)
            self.post_message(self.AgainWanted(is_edited=False, opening=opening))

    def action_edit(self) -> None:
        """Change the last question."""
        if self.current is not None:
            self.post_message(self.AgainWanted(is_edited=True))

    def action_fork(self) -> None:
        """Begin a new conversation from before the selected question, else from before the last one."""
        view = self.current
        if self._selected is not None:
            view = self._messages.find_exchange(self._selected[0]) or view
        if view is not None:
            self.post_message(self.ForkWanted(view.number))

    def action_keep(self) -> None:
        """Keep the selected quote, or section."""
        target = self._selected[0].targets[self._selected[1]] if self._selected is not None else None
        if isinstance(target, SectionTarget):
            self.post_message(KeepWanted(target.section_id, citation=target.citation))
        else:
            self.post_message(NothingDone("select a quote first, by j and k"))

    def action_copy(self) -> None:
        """Copy the last answer with its sources."""
        if self.current is not None and self.current.answer.strip():
            self.post_message(CopyWanted(write_answer(self.current.answer, self.current.citations), "the answer"))

    @on(events.MouseScrollUp)
    @on(ScrollUp)
    @on(ScrollTo)
    def _let_scroll(self) -> None:
        """Stay where the person goes, whatever comes below."""
        self._keeper.stop()
        self.release_anchor()

    def on_exchange_view_resized(self) -> None:
        """Follow an exchange as it grows, by name: the first screen does without its class."""
        self._keep_end()

    def _keep_end(self) -> None:
        self.call_after_refresh(self._keeper.fit)

    def _find_answer(self) -> int | None:
        """Return the line where the newest answer begins, with the empty one before it."""
        newest = self._messages.newest
        if newest is None or newest.answer_line is None:
            return None
        first = self._messages.gutter.top + newest.virtual_region.y
        return max(0, first + newest.answer_line - 1)

    def _walk_targets(self) -> Iterator[tuple[ContentView, int]]:
        for view in self.query(ContentView):
            if view.display:
                for index in view.walked:
                    yield view, index

    def _move_selection(self, step: int) -> None:
        places = list(self._walk_targets())
        if not places:
            return
        if self._selected in places:
            place = places.index(self._selected) + step
        else:
            place = self._first_place(places) if step > 0 else len(places) - 1
        self.clear_selection()
        self._selected = places[max(0, min(place, len(places) - 1))]
        view, index = self._selected
        view.select_target(index)
        self._let_scroll()
        self.call_after_refresh(self._show_selected)

    def _first_place(self, places: list[tuple[ContentView, int]]) -> int:
        """Return where the sources of the last exchange begin; without sources, where it begins itself."""
        current = self.current
        if current is None:
            return 0
        views = {current.sources} if current.sources.display else set(current.query(ContentView))
        return next((i for i, (view, _) in enumerate(places) if view in views), 0)

    def _show_selected(self) -> None:
        if self._selected is not None:
            view = self._selected[0]
            line = view.region.y - self.region.y + round(self.scroll_y) + view.line_of_selected
            if not self.scroll_y <= line < self.scroll_y + self.size.height - 1:
                self.scroll_to(y=max(0, line - self.size.height // 2), animate=False)


class EndKeeper:
    """Keeps the newest in view; a long answer stays at its beginning, to be read."""

    def __init__(self, view: Widget, find_answer: Callable[[], int | None]) -> None:
        """Scroll `view`.

        Args:
            view: What is scrolled.
            find_answer: Returns the line of the view's content where the newest answer begins, None before it does.
        """
        self._view = view
        self._find_answer = find_answer
        self._is_keeping = False

    @property
    def is_keeping(self) -> bool:
        """Whether the newest is kept in view."""
        return self._is_keeping

    def start(self) -> None:
        """Keep the newest in view from now on."""
        self._view.anchor(anchor=False)  # Textual's own anchor knows no answer that is being read
        self._is_keeping = True
        self.fit()

    def stop(self) -> None:
        """Let the person scroll."""
        self._is_keeping = False

    def fit(self) -> None:
        """Scroll to the end, or as far as the answer's beginning allows; never back."""
        if not self._is_keeping:
            return
        answer = self._find_answer()
        end = self._view.max_scroll_y
        line = end if answer is None else min(end, answer)
        if line > self._view.scroll_y:
            self._view.scroll_to(y=line, animate=False, immediate=True)


def write_answer(answer: str, citations: tuple[Citation, ...]) -> str:
    """Return an answer with its sources as Markdown, for use elsewhere."""
    if not citations:
        return answer.strip() + "\n"
    lines = [answer.strip(), "", "Sources:", ""]
    for citation in citations:
        place = " > ".join(citation.path) or "unknown section"
        lines_told = f", {citation.place}" if citation.start_line else ""
        quote = f': "{citation.quote}" ({citation.state.words})' if citation.quote else ""
        lines.append(f"- [{citation.section_id}] {place}{lines_told}{quote}")
    return "\n".join(lines) + "\n"
