"""The text of an answer. It looks the same while it streams and when it is complete, so nothing jumps at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from time import monotonic

from textual.content import Content
from textual.timer import Timer
from typing_extensions import override

from roamtui.agent.citations import MARK, MARKED_ID
from roamtui.conversation.transcript import Citation
from roamtui.document.markdown.parser import read_markdown
from roamtui.document.plain import sanitise_text
from roamtui.tui.chat.content_view import ContentView, LinkTarget, SectionTarget, Target, link_target
from roamtui.tui.markdown.layout import MarkdownLayout
from roamtui.tui.markdown.line import Line, draw_code_ground, render_run

_PAUSE_SECONDS_MIN = 1 / 60
_PAUSE_FACTOR = 4
"""The pause between two drawings, as a multiple of the drawing time, so that a long answer leaves time for keys."""
_MARK_STYLE = "bold $accent"


class AnswerView(ContentView):
    """Markdown with numbered citation marks. A click on a mark jumps to its section, a click on a link follows it.

    Keys select only links, because the list of sources has each section once.
    """

    def __init__(self, text: str = "", citations: tuple[Citation, ...] = ()) -> None:
        super().__init__()
        self.text = text
        """The answer as the model wrote it."""
        self._citations = citations
        self.numbers: dict[str, int] = {}
        """Section numbers in the order of first mention, shared with the list of sources."""
        self._targets: list[SectionTarget | LinkTarget] = []
        self._is_streaming = False
        self._drawing_seconds = 0.0
        self._timer: Timer | None = None

    @property
    @override
    def targets(self) -> tuple[Target, ...]:
        return tuple(self._targets)

    @property
    @override
    def keyboard_targets(self) -> Sequence[int]:
        return [index for index, target in enumerate(self._targets) if isinstance(target, LinkTarget)]

    def append(self, text: str) -> None:
        """Append streamed text."""
        self.text += text
        self._is_streaming = True
        if self._timer is None:
            pause_seconds = max(_PAUSE_SECONDS_MIN, self._drawing_seconds * _PAUSE_FACTOR)
            self._timer = self.set_timer(pause_seconds, self._draw_streamed)

    def finish(self, text: str, citations: tuple[Citation, ...]) -> None:
        """Show the complete answer."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.text = text
        self._is_streaming = False
        self._citations = citations
        self.invalidate()

    def number_citations(self) -> None:
        """Assign a number to each section that the answer names."""
        for _, _, section_ids in iter_citation_marks(self.text):
            for section_id in section_ids:
                self.numbers.setdefault(section_id, len(self.numbers) + 1)

    def _draw_streamed(self) -> None:
        self._timer = None
        self.invalidate()

    @override
    def render_content(self, width: int) -> Content:
        started = monotonic()
        self._targets.clear()
        text = sanitise_text(self.text).strip()
        if self._is_streaming:
            text = close_open_markup(text)
        self.number_citations()
        markdown = read_markdown(text, read_text=self._read_marks)
        # The n-th mark of a section stands for its n-th citation, and any further mark for its last one.
        unused: dict[str, list[Citation]] = {}
        for citation in self._citations:
            unused.setdefault(citation.section_id, []).append(citation)
        for link in markdown.links:
            if not link.is_mark:
                self._targets.append(LinkTarget(link.href, next(iter(unused), None)))
                continue
            own = unused.get(link.href, [])
            self._targets.append(SectionTarget(link.href, own[0] if own else None))
            if len(own) > 1:
                own.pop(0)
        layout = MarkdownLayout(width=width, can_scroll=False)
        layout.add_blocks(markdown.blocks)
        content = Content("\n").join([self._draw_line(line, width) for line in layout.lines])
        self._drawing_seconds = monotonic() - started
        return content

    def _read_marks(self, text: str, is_first: bool) -> Iterator[tuple[str, str | None]]:  # noqa: ARG002, FBT001 - a `ReadText`
        """Yield the text with each citation mark replaced by its section's number."""
        position = 0
        for start, end, section_ids in iter_citation_marks(text):
            yield text[position:start], None
            for section_id in section_ids:
                yield f"[{self.numbers.setdefault(section_id, len(self.numbers) + 1)}]", section_id
            position = end
        yield text[position:], None

    def _draw_line(self, line: Line, width: int) -> Content:
        parts = []
        for run in line.runs:
            index = run.look.link
            if index is None:
                parts.append(render_run(run.text, run.look))
                continue
            is_mark = isinstance(self._targets[index], SectionTarget)
            words = Content.styled(run.text, _MARK_STYLE) if is_mark else render_run(run.text, run.look)
            parts.append(link_target(words, index, is_selected=index == self.selected))
        content = Content("").join(parts)
        return draw_code_ground(content, width) if line.is_code else content


def iter_citation_marks(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield the citation marks of `text` in order: start, end, and ids without page numbers and ranges."""
    for match in MARK.finditer(text):
        yield match.start(), match.end(), tuple(dict.fromkeys(MARKED_ID.findall(match.group())))


_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_CUT_CITATION = re.compile(r" ?\[[0-9a-f]{0,8}\Z")
_CUT_STRONG = re.compile(r"\*{1,2}\Z")


def close_open_markup(text: str) -> str:
    """Close the open markup of truncated Markdown and drop an incomplete citation."""
    if len(_FENCE.findall(text)) % 2:
        return text
    text = _CUT_CITATION.sub("", text)
    paragraph = text[text.rfind("\n\n") + 1 :]
    if paragraph.count("`") % 2:
        return f"{text}`" if not text.endswith("`") else text[:-1]
    if paragraph.count("**") % 2:
        shown, cut = _CUT_STRONG.subn("", text)
        return shown if cut and text.endswith("**") else f"{shown.rstrip()}**"
    return text
