"""Answers for a terminal: laid out like the chat, with the verdicts of quotes in colours.

Only `_paint` makes control sequences, around sanitised text, so none from a document or a model gets through.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from roamtui.conversation.transcript import QuoteState
from roamtui.markdown.blocks import Emphasis, Markdown
from roamtui.markdown.layout import MarkdownLayout
from roamtui.markdown.lines import Run, RunStyle, TextRole, make_run, wrap_runs
from roamtui.markdown.parser import read_markdown
from roamtui.quotes.answer_markdown import read_answer_markdown
from roamtui.quotes.verdicts import AnswerProof

WIDTH_MAX = 100
"""Maximum width of a line in columns. Longer lines are hard to read."""
_WIDTH_MIN = 20
_BOLD, _DIM, _ITALIC, _UNDERLINED, _STRUCK = 1, 2, 3, 4, 9
_RED, _GREEN, _YELLOW, _CYAN = 31, 32, 33, 36
"""Terminal codes for styles: parameters of "select graphic rendition" (ECMA-48)."""
_EMPHASIS_CODES = {Emphasis.STRONG: _BOLD, Emphasis.ITALIC: _ITALIC, Emphasis.STRUCK: _STRUCK, Emphasis.CODE: _CYAN}
_ROLE_CODES = {
    TextRole.H1: _BOLD,
    TextRole.H2: _BOLD,
    TextRole.H3: _BOLD,
    TextRole.H4: _BOLD,
    TextRole.BAR: _DIM,
    TextRole.RULE: _DIM,
    TextRole.GRID: _DIM,
    TextRole.ASIDE: _DIM,
}
_COLOURS = {
    QuoteState.FOUND: _GREEN,
    QuoteState.ELSEWHERE: _YELLOW,
    QuoteState.NOT_FOUND: _RED,
    QuoteState.NO_QUOTE: _CYAN,
}
_Codes = tuple[int, ...]
_Line = Sequence[Run]


def compute_text_width() -> int | None:
    """Return the width to write in, or None if stdout is not a terminal."""
    if not sys.stdout.isatty():
        return None
    return max(_WIDTH_MIN, min(WIDTH_MAX, shutil.get_terminal_size().columns))


def supports_styles() -> bool:
    """Return whether the terminal can show styles and the person wants them (no-color.org)."""
    can_show = sys.platform != "win32" or "WT_SESSION" in os.environ  # an old console shows sequences as text
    return can_show and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def render_answer(answer: str, proof: AnswerProof, *, width: int, is_styled: bool) -> str:
    """Lay out an answer as lines of at most `width` columns, except for code."""
    markdown = read_answer_markdown(answer, proof)

    def get_codes(style: RunStyle) -> _Codes:
        link = None if style.link_number is None else markdown.links[style.link_number]
        if link is not None and link.is_reference_mark:
            return (_BOLD, _COLOURS[proof.marks[int(link.href)].verdict])
        if style.quote_number is not None:
            state = proof.quotes[style.quote_number].state
            return (_STRUCK if state is QuoteState.NOT_FOUND else _UNDERLINED, _COLOURS[state])
        return ()

    return _paint(_lay_out(markdown, width), get_codes, is_styled=is_styled)


def render_markdown(text: str, *, width: int) -> str:
    """Lay out Markdown as lines of at most `width` columns, except for code, without styles."""
    return _paint(_lay_out(read_markdown(text), width), lambda _: (), is_styled=False)


def wrap_lines(texts: Iterable[str], width: int) -> str:
    """Wrap each line of some texts at words into lines of at most `width` columns, with the indent of the first."""
    wrapped: list[_Line] = []
    for line in (line for text in texts for line in text.split("\n")):
        indent = Run(" " * (len(line) - len(line.lstrip(" "))))
        wrapped += ([indent, *runs] for runs in wrap_runs([make_run(line)], width - len(indent.text)))
    return _paint(wrapped, lambda _: (), is_styled=False)


def _lay_out(markdown: Markdown, width: int) -> list[_Line]:
    layout = MarkdownLayout(width=width, can_scroll=False, can_click=False, links=markdown.links)
    layout.add_blocks(markdown.blocks)
    return [line.runs for line in layout.lines]


def _paint(lines: Iterable[_Line], get_codes: Callable[[RunStyle], _Codes], *, is_styled: bool) -> str:
    """Write lines with the codes of their styles. `get_codes` adds those of verdicts."""

    def get_all_codes(style: RunStyle) -> _Codes:
        if added := get_codes(style):
            return added
        codes = [code for emphasis, code in _EMPHASIS_CODES.items() if emphasis in style.emphasis]
        return tuple(dict.fromkeys([*codes, *filter(None, [_ROLE_CODES.get(style.role)])]))

    painted = []
    for line in lines:
        parts: list[str] = []
        for codes, runs in groupby(line, key=lambda run: get_all_codes(run.style)):
            text = "".join(run.text for run in runs)
            parts.append(f"\x1b[{';'.join(map(str, codes))}m{text}\x1b[0m" if codes and is_styled and text else text)
        painted.append("".join(parts).rstrip(" ") + "\n")
    return "".join(painted)
