"""The messages of a conversation, the newest of them: what a person scrolls up to comes when they ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from typing_extensions import override

from roamtui.conversation.narration import Place, Weight, name_section, narrate
from roamtui.conversation.state import Exchange
from roamtui.conversation.transcript import Citation
from roamtui.document.plain import plain_line, plain_text
from roamtui.tui.chat.content_view import ContentView, EarlierTarget, Target, link_target, wrap
from roamtui.tui.context import FirstContext
from roamtui.tui.node_names import STEP, name_whole

if TYPE_CHECKING:
    from roamtui.tui.chat.exchange_view import ExchangeView


EXCHANGES_STEP = 20
"""Exchanges that are shown at first, and added at each wish for earlier ones."""
EXCHANGES_MAX = 40
"""When so many are shown and a new one comes, the oldest go: each costs time at every change below it."""


class EarlierView(ContentView):
    """Says how many earlier questions there are; choosing it shows some of them."""

    DEFAULT_CSS = """
    EarlierView { padding: 0 1; margin-bottom: 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._count = 0
        self.display = False

    @property
    @override
    def targets(self) -> tuple[Target, ...]:
        return (EarlierTarget(),) if self._count else ()

    def show_count(self, count: int) -> None:
        """Show how many questions are not shown."""
        self._count = count
        self.display = count > 0
        self.change()

    @override
    def lay_out(self, width: int) -> Content:
        words = "1 earlier question" if self._count == 1 else f"{self._count:,} earlier questions"
        row = link_target(Content.styled(f"↑ {words}", "$muted"), 0, is_selected=self.selected == 0)
        return row.truncate(width, ellipsis=True)


class Messages(Vertical):
    """Holds exchanges and notices."""

    # At least as high as the view: an anchored scroll view puts lower content below its top edge.
    DEFAULT_CSS = """
    Messages { height: auto; min-height: 100%; padding: 1 1 0 1; }
    """

    def __init__(self, first: FirstContext, welcome: Widget) -> None:
        """Show `welcome` until the first question."""
        super().__init__()
        self._first = first
        self._welcome = welcome
        self._earlier = EarlierView()
        self._shown: list[ExchangeView] = []
        self._expected: ExchangeView | None = None
        """A question that was sent, and has no number yet."""

    @override
    def compose(self) -> ComposeResult:
        yield self._earlier
        yield self._welcome

    @property
    def current(self) -> ExchangeView | None:
        """The exchange that is under way, or the last one."""
        return self._shown[-1] if self._shown else None

    @property
    def newest(self) -> ExchangeView | None:
        """The last exchange, also one that waits to be begun."""
        return self._expected or self.current

    def find_exchange(self, view: Widget) -> ExchangeView | None:
        """Return the exchange that shows `view`, None for what belongs to none."""
        return next((shown for shown in self._shown if shown in view.ancestors), None)

    def expect(self, question: str, within: str | None, waiting_for: str) -> None:
        """Show a question at the end that waits to be begun."""
        self._welcome.display = False
        self._expected = self._make_view(0, question, within)
        self._expected.wait_for(waiting_for)
        self.mount(self._expected)

    def end_waiting(self) -> None:
        """Take a question away that was never begun."""
        if self._expected is not None:
            self._expected.remove()
            self._expected = None
            self._welcome.display = not self._shown

    def begin(self, number: int, question: str) -> None:
        """Show a question as begun: the one that waits for it, else a new one at the end."""
        self._welcome.display = False
        view, self._expected = self._expected, None
        if view is None:
            exchange = self._first.state.transcript.exchanges[number - 1]
            view = self._make_view(number, question, exchange.within)
            self.mount(view)
        view.number = number
        self._shown.append(view)

    def restore(self) -> None:
        """Show the last exchanges of a saved conversation."""
        exchanges = self._first.state.transcript.exchanges
        if exchanges:
            self._welcome.display = False
            self.mount(*self._recall(exchanges[-EXCHANGES_STEP:]))
            self._count_earlier()

    def start_over(self) -> None:
        """Show the conversation that the session holds now, and nothing of the one before."""
        for child in self.children:
            if child is not self._earlier and child is not self._welcome:
                child.remove()
        self._shown = []
        self._earlier.show_count(0)
        self._welcome.display = True
        self.restore()

    def add_notice(self, text: str, weight: Weight) -> None:
        """Say something at the end, or before a question that waits to be begun."""
        self.mount(NoticeView(text, weight), before=self._expected)

    def show_earlier(self) -> None:
        """Show some more exchanges, before all others."""
        if not self._shown:
            return
        first = self._shown[0]
        end = first.number - 1
        exchanges = self._first.state.transcript.exchanges[max(0, end - EXCHANGES_STEP) : end]
        self.mount(*self._recall(exchanges), before=first)
        self._count_earlier()

    def forget(self, number: int) -> None:
        """Take question `number` and all that follows away: it is no longer part of the conversation."""
        left = [view for view in self._shown if view.number < number]
        if len(left) < len(self._shown):
            first = self.children.index(self._shown[len(left)])
            for child in self.children[first:]:
                child.remove()
        self._shown = left
        if not self._shown:
            self.restore()

    def shed(self) -> None:
        """Take the oldest exchanges away where there are too many."""
        if len(self._shown) > EXCHANGES_MAX:
            first = self.children.index(self._shown[0])
            self._shown = self._shown[-EXCHANGES_STEP:]
            for child in self.children[first : self.children.index(self._shown[0])]:
                child.remove()
            self._count_earlier()

    def _count_earlier(self) -> None:
        self._earlier.show_count(self._shown[0].number - 1 if self._shown else 0)

    def _make_view(self, number: int, question: str, within: str | None) -> ExchangeView:
        from roamtui.tui.chat.exchange_view import ExchangeView  # noqa: PLC0415 - not for the first screen

        about = "" if within is None else name_whole(self._first.state.library, within)
        return ExchangeView(number, question, about, self._name_source)

    def _recall(self, exchanges: tuple[Exchange, ...]) -> list[Widget]:
        """Return views of saved exchanges that stand before all others, each with the notices that stood below it."""
        from roamtui.agent.recheck import count_lost  # noqa: PLC0415 - only a conversation that goes on needs it

        library = self._first.state.library
        widgets: list[Widget] = []
        views: list[ExchangeView] = []
        for exchange in exchanges:
            view = self._make_view(exchange.number, exchange.question, exchange.within)
            widgets.append(view)
            for piece in (piece for event in exchange.events for piece in narrate(event, library)):
                if piece.place is Place.ANSWER:
                    view.add_piece(piece)
                else:
                    widgets.append(NoticeView(piece.write(with_ids=False), piece.weight))
            view.finish(exchange, library)
            views.append(view)
            if lost := count_lost(exchange.citations, library):
                words = "1 quote no longer stands" if lost == 1 else f"{lost} quotes no longer stand"
                is_last = exchange is self._first.state.transcript.exchanges[-1]
                advice = "r asks again" if is_last else "ask it again"
                widgets.append(NoticeView(f"{words} in the document of today; {advice}.", Weight.WARNING))
        self._shown[:0] = views
        return widgets

    def _name_source(self, citation: Citation) -> str:
        """Return the file of a citation, where there are several, and its section."""
        title = name_section(citation.section_id, self._first.state.library)
        file = plain_line(citation.doc.rpartition("/")[2] or citation.doc if "://" in citation.doc else citation.doc)
        return title if file in ("", title) else f"{file}{STEP}{title}"


_LOOKS = {
    Weight.INFO: ("·", "$muted"),
    Weight.WARNING: ("!", "$warning"),
    Weight.ERROR: ("✗", "$error"),
}


class NoticeView(ContentView):
    """Shows a notice with a sign, so that it is known without colour too."""

    DEFAULT_CSS = """
    NoticeView { padding: 0 1; margin: 1 0; }
    """

    def __init__(self, text: str, weight: Weight = Weight.INFO) -> None:
        super().__init__()
        self.text = text
        """What it says."""
        self.weight = weight
        """How much it matters."""

    @override
    def lay_out(self, width: int) -> Content:
        sign, style = _LOOKS[self.weight]
        text = Content.styled(plain_text(self.text), style)
        return Content("\n").join(wrap(text, width, lead=Content.styled(f"{sign} ", style), follow="  "))
