"""The text of an answer, while it streams in and afterwards: the same picture, so that nothing jumps at the end."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from textual.content import Content
from typing_extensions import override

from roamtui.document.plain import plain_text
from roamtui.tui.chat.block_layout import lay_out_blocks
from roamtui.tui.chat.blocks import parse_blocks
from roamtui.tui.chat.content_view import ContentView
from roamtui.tui.chat.marks import Mark, Numbering, find_marks
from roamtui.tui.chat.targets import LinkTarget, SectionTarget, Target, link_target
from roamtui.tui.chat.unfinished import complete_marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.timer import Timer

    from roamtui.conversation.transcript import Citation

_REST_SECONDS_MIN = 1 / 60
_REST_FACTOR = 4
"""How many times as long as drawing took nothing is drawn again, so that a long answer leaves time for keys."""


class AnswerView(ContentView):
    """Shows Markdown with its citation marks as numbers; a click on one jumps to its section, on a link where it leads.

    Keys walk over the links alone: the list of sources has the sections, each once.
    """

    DEFAULT_CSS = """
    AnswerView { padding: 0 1; }
    """

    def __init__(self, text: str = "", citations: tuple[Citation, ...] = ()) -> None:
        super().__init__()
        self._text = text
        self._citations = citations
        self.numbering = Numbering()
        """Numbers of the sections, shared with the list of sources."""
        self._targets: list[SectionTarget | LinkTarget] = []
        self._is_coming = False
        self._cost_seconds = 0.0
        self._timer: Timer | None = None

    @property
    @override
    def targets(self) -> tuple[Target, ...]:
        return tuple(self._targets)

    @property
    @override
    def walked(self) -> Sequence[int]:
        return [index for index, target in enumerate(self._targets) if isinstance(target, LinkTarget)]

    @property
    def text(self) -> str:
        """The answer as the model wrote it."""
        return self._text

    def append(self, text: str) -> None:
        """Show some more of a streamed answer."""
        self._text += text
        self._is_coming = True
        if self._timer is None:
            rest_seconds = max(_REST_SECONDS_MIN, self._cost_seconds * _REST_FACTOR)
            self._timer = self.set_timer(rest_seconds, self._draw)

    def finish(self, text: str, citations: tuple[Citation, ...]) -> None:
        """Show the whole answer for good."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._text = text
        self._is_coming = False
        self._citations = citations
        self.change()

    def number_marks(self) -> None:
        """Give each section that the answer names its number."""
        for mark in find_marks(self._text):
            for section_id in mark.section_ids:
                self.numbering.number_of(section_id)

    def _draw(self) -> None:
        self._timer = None
        self.change()

    @override
    def lay_out(self, width: int) -> Content:
        started = monotonic()
        self._targets.clear()
        text = plain_text(self._text).strip()
        if self._is_coming:
            text = complete_marks(text)
        self.number_marks()
        content = lay_out_blocks(parse_blocks(text, self._decorate, self._link), width)
        self._cost_seconds = monotonic() - started
        return content

    def _decorate(self, text: str) -> Content:
        parts: list[Content] = []
        position = 0
        for mark in find_marks(text):
            parts += [Content(text[position : mark.start]), self._draw_mark(mark)]
            position = mark.end
        return Content("").join([*parts, Content(text[position:])])

    def _draw_mark(self, mark: Mark) -> Content:
        numbers: list[Content] = []
        for section_id in mark.section_ids:
            index = len(self._targets)
            self._targets.append(SectionTarget(section_id, self._find_citation(section_id)))
            number = Content.styled(f"[{self.numbering.number_of(section_id)}]", "bold $accent")
            numbers.append(link_target(number, index, is_selected=index == self.selected))
        return Content("").join(numbers)

    def _link(self, content: Content, href: str) -> Content:
        index = len(self._targets)
        base = next((citation.section_id for citation in self._citations), None)
        self._targets.append(LinkTarget(href, base))
        return link_target(content, index, is_selected=index == self.selected)

    def _find_citation(self, section_id: str) -> Citation | None:
        """Return the next citation of this section that no earlier mark has, else its last one."""
        own = [citation for citation in self._citations if citation.section_id == section_id]
        earlier = [target for target in self._targets[:-1] if isinstance(target, SectionTarget)]
        seen = sum(target.section_id == section_id for target in earlier)
        return own[min(seen, len(own) - 1)] if own else None
