"""`Line`: a line of Markdown as styled runs of sanitised text. Wraps runs to a width."""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate, pairwise

from msgspec import Struct

from roamtui.markdown.blocks import Emphasis
from roamtui.sanitiser import sanitise_text
from roamtui.text import WIDE

TAB_WIDTH = 4
_WRAPPED_PIECE = (
    rf"[^\S\xa0\u202f]+|(?:[^\s\[{WIDE}]++|\[[\d,]+ [✓!✗]\]|[\[\xa0\u202f])+"
    r"|.[、。，．」』）】〉》！？：；]*"
)
"""Text to keep on one line: white space, a word with the marks of citations, or a wide character with its
closing marks. It is compiled when it is needed, because that takes 1 ms."""


class TextRole(StrEnum):
    """The role of a run, such as a bullet. The look of the run depends on it."""

    TEXT = "text"
    H1 = "h1"
    H2 = "h2"
    H3 = "h3"
    H4 = "h4"
    BULLET = "bullet"
    """The mark of a list item: a bullet or a number."""
    QUOTE = "quote"
    BAR = "bar"
    """The vertical line to the left of a quote."""
    RULE = "rule"
    """A horizontal line."""
    GRID = "grid"
    """Border lines of a table."""
    # The roles of alerts, such as `[!NOTE]`: their titles, and the bars next to them.
    NOTE = "note"
    TIP = "tip"
    IMPORTANT = "important"
    WARNING = "warning"
    CAUTION = "caution"
    ASIDE = "aside"
    """Added text that is not in the document: languages of code, placeholders for images, URLs of links."""
    CODE = "code"
    CODE_KEYWORD = "code-keyword"
    CODE_NAME = "code-name"
    """Names that code defines or calls, as far as the highlighter recognises them."""
    CODE_STRING = "code-string"
    CODE_NUMBER = "code-number"
    CODE_COMMENT = "code-comment"


class RunStyle(Struct, frozen=True):
    """How a run looks, and the link and the group that it belongs to."""

    role: TextRole = TextRole.TEXT
    emphasis: Emphasis = Emphasis.NONE
    link_number: int | None = None
    """Index of the run's link among those of the text that was laid out."""
    group: int | None = None
    """See `Words.group`."""


class Run(Struct, frozen=True):
    """Text of one style, without a line end."""

    text: str
    style: RunStyle = RunStyle()


class Line(Struct, frozen=True, kw_only=True):
    """A laid-out line, with its position in the document."""

    runs: tuple[Run, ...] = ()
    block_start: int
    """Offset in the document of the block that the line belongs to."""
    block_end: int
    """Offset after that block."""
    block_number: int
    """Number of the block, shared by the lines of a paragraph or row. Negative for lines between blocks."""
    prefix_length: int = 0
    """Number of characters at the start that are not from the document, such as indents, bullets and bars."""
    is_code: bool = False
    """Whether it has the background of code, up to the right edge."""
    is_page_mark: bool = False
    """Whether it marks the start of a page and has no text from the document."""

    @property
    def text(self) -> str:
        """The line's characters."""
        return "".join(run.text for run in self.runs)

    @property
    def has_content(self) -> bool:
        """Whether it has characters other than spaces."""
        return bool(self.text.strip())


def make_run(text: str, style: RunStyle = RunStyle()) -> Run:
    """Make a run of sanitised text from a document."""
    return Run(sanitise_text(text).replace("\n", " ").replace("\t", " "), style)


def measure_runs(runs: tuple[Run, ...] | list[Run]) -> int:
    """Return the width of runs in cells."""
    return sum(measure(run.text) for run in runs)


def measure(text: str) -> int:
    """Return the width of sanitised text in cells."""
    if text.isascii() and text.isprintable():
        return len(text)
    import wcwidth  # noqa: PLC0415 - its tables take 5 ms to load

    return wcwidth.wcswidth(text)


def measure_longest_word(runs: Sequence[Run]) -> int:
    """Return the width in cells of the longest piece that should stay on one line."""
    pieces = re.findall(_WRAPPED_PIECE, "".join(" " if run is HARD_BREAK_RUN else run.text for run in runs))
    return max((measure(piece) for piece in pieces if not piece.isspace()), default=0)


def chop(text: str, width: int) -> list[str]:
    """Cut text into pieces of at most `width` cells. A wider character becomes a piece of its own."""
    import wcwidth  # noqa: PLC0415

    pieces = [""]
    filled = 0
    for character in wcwidth.iter_graphemes(text):
        cells = measure(character)
        if filled and filled + cells > width:
            pieces.append("")
            filled = 0
        pieces[-1] += character
        filled += cells
    return pieces


HARD_BREAK_RUN = Run("\n")
"""A marker among runs that forces a line break. It is recognised by identity, not equality."""


def wrap_runs(runs: Sequence[Run], width: int | None) -> list[list[Run]]:
    """Wrap runs into one or more lines of at most `width` cells, without spaces at their ends."""
    paragraphs: list[list[Run]] = [[]]
    for run in runs:
        if run is HARD_BREAK_RUN:
            paragraphs.append([])
        else:
            paragraphs[-1].append(run)
    lines: list[list[Run]] = []
    for paragraph in paragraphs:
        text = "".join(run.text for run in paragraph)
        if width is None or measure(text) <= width:
            lines += _divide_runs(paragraph, [(len(text) - len(text.lstrip(" ")), len(text.rstrip()))])
        else:
            lines += _divide_runs(paragraph, _break_text(text, max(1, width)))
    return lines


def cut_runs(runs: Sequence[Run], width: int) -> list[list[Run]]:
    """Cut runs into lines of at most `width` cells, keeping every character."""
    text = "".join(run.text for run in runs)
    if measure(text) <= width:
        return [list(runs)]
    return _divide_runs(runs, pairwise(accumulate(map(len, chop(text, max(1, width))), initial=0)))


def _divide_runs(runs: Sequence[Run], ranges: Iterable[tuple[int, int]]) -> list[list[Run]]:
    """Return the runs of each range of characters. The ranges are in order, so one pass is enough."""
    divided: list[list[Run]] = []
    first = first_start = 0  # the first run that can be in the next range, and the offset of its text
    for start, end in ranges:
        while first < len(runs) and first_start + len(runs[first].text) <= start:
            first_start += len(runs[first].text)
            first += 1
        sliced: list[Run] = []
        number = first
        position = first_start
        while number < len(runs) and position < end:
            run = runs[number]
            text = run.text[max(0, start - position) : end - position]
            if text:
                sliced.append(run if len(text) == len(run.text) else Run(text, run.style))
            position += len(run.text)
            number += 1
        divided.append(sliced)
    return divided


def _break_text(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of each line, without spaces at its ends. Pieces wider than a line are cut."""
    line_start: int | None = None  # None until the line has its first piece
    line_end = filled_cells = 0  # cells of the line so far, with the spaces that would precede the next piece
    for piece in re.finditer(_WRAPPED_PIECE, text):
        if piece[0].isspace():
            filled_cells += len(piece[0])
            continue
        cells = measure(piece[0])
        if line_start is not None and filled_cells + cells > width:
            yield line_start, line_end
            line_start = None
        if line_start is None:
            line_start = piece.start()
            filled_cells = 0
        if cells > width:
            *full_lines, rest = chop(piece[0], width)
            for part in full_lines:
                yield line_start, line_start + len(part)
                line_start += len(part)
            cells = measure(rest)
        line_end = piece.end()
        filled_cells += cells
    if line_start is not None:
        yield line_start, line_end
    elif not text.strip():
        yield 0, 0
