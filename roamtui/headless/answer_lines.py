"""Answers as text: as the model wrote them, or laid out for a terminal with coloured verdicts.

Only `_paint` writes control sequences, around sanitised text: none from a document or a model gets through.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from textwrap import dedent

from roamtui.answer_report import AnswerReport, format_basis
from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.notices import Severity, format_cost
from roamtui.markdown.blocks import Emphasis
from roamtui.markdown.escaping import write_code
from roamtui.markdown.layout import PROSE_WIDTH_MAX, MarkdownLayout, View
from roamtui.markdown.lines import Run, RunStyle, TextRole, make_run, wrap_runs
from roamtui.markdown.parser import parse_markdown
from roamtui.markdown.quoted_sentence import QuotedSentence, SentencePart
from roamtui.markdown.units import UnitKind, list_units, read_visible_line
from roamtui.outline.labels import PATH_STEP, format_path
from roamtui.quotes.verdicts import AnswerProof, Unsourced, VerdictMark
from roamtui.quotes.wording import SENTENCE_LABEL, describe_citation, format_nearest, format_sentence
from roamtui.retrieval import policy
from roamtui.sanitiser import get_isolates, sanitise_text
from roamtui.text import shorten

_WIDTH_MIN = 20
_INDENT = "  "
_INNER_QUOTES = str.maketrans("“”", "‘’")
"""Replaces quotation marks inside a quote, because `recheck` would take them for its end."""
_BOLD, _DIM, _ITALIC, _UNDERLINED, _STRUCK = 1, 2, 3, 4, 9
_RED, _GREEN, _YELLOW, _CYAN = 31, 32, 33, 36
"""Codes of styles in a terminal: parameters of "select graphic rendition" (ECMA-48)."""
_EMPHASIS_CODES = {
    Emphasis.STRONG: _BOLD,
    Emphasis.ITALIC: _ITALIC,
    Emphasis.STRUCK: _STRUCK,
    Emphasis.CODE: _CYAN,
}
_ROLE_CODES = {
    **dict.fromkeys((TextRole.H1, TextRole.H2, TextRole.H3, TextRole.H4), _BOLD),
    **dict.fromkeys((TextRole.BAR, TextRole.RULE, TextRole.GRID, TextRole.ASIDE), _DIM),
}
_COLOURS = {"success": _GREEN, "warning": _YELLOW, "error": _RED, "": _CYAN}
"""By `QuoteState.rating`."""


def get_answer_width() -> int:
    """Return the width of an answer in the terminal, in columns."""
    return max(_WIDTH_MIN, min(PROSE_WIDTH_MAX, shutil.get_terminal_size().columns))


def can_show_styles() -> bool:
    """Return whether the terminal shows styles and the person has not turned them off (no-color.org)."""
    can_show = sys.platform != "win32" or "WT_SESSION" in os.environ  # an old console shows sequences as text
    return can_show and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def wrap_line(text: str, width: int, indent: str) -> str:
    """Wrap a line to `width` cells. `indent` begins each part, and counts."""
    parts = wrap_runs([make_run(text)], width - len(indent))
    return "\n".join(indent + "".join(run.text for run in part) for part in parts)


def render_report(report: AnswerReport, model_name: str, *, is_laid_out: bool) -> str:
    """Render an answer with its sources: laid out for a terminal, or as lines that `recheck` reads."""
    exchange = report.exchange
    if is_laid_out:
        width = get_answer_width()
        is_styled = can_show_styles()
        answer = render_answer(report.proof, width=width, is_styled=is_styled)
        listed = [*_list_sources(report), *_list_closing_lines(report, model_name)]
        lines = [answer, *(_render_line(line, width, is_styled=is_styled) for line in listed)]
        return "\n".join(lines) + "\n"
    if exchange.has_passages:
        lines = _list_passages(report)
    else:
        lines = [exchange.answer] if exchange.answer else []
        lines += ["", *report.sources] if exchange.citations else []
        lines += _list_closing_lines(report, model_name)
    return sanitise_text("\n".join(lines) + "\n")


def _list_sources(report: AnswerReport) -> list[str | QuotedSentence]:
    exchange = report.exchange
    lines: list[str | QuotedSentence] = []
    for number, citation in enumerate(exchange.citations, start=1):
        source = describe_citation(citation, report.library)
        sign = "" if exchange.has_passages else citation.state.sign
        section = PATH_STEP.join(filter(None, [source.document, source.title]))
        place = f"· {source.place}" if source.place else ""
        lines.append(" ".join(filter(None, [str(number), sign, section, place])))
        if nearest := format_nearest(citation):
            lines.append(f"{_INDENT}{nearest}")
        if citation.surroundings is not None:
            lines.append(citation.surroundings)
    return lines


def _list_closing_lines(report: AnswerReport, model_name: str) -> list[str]:
    exchange = report.exchange
    tokens = exchange.usage.input_tokens + exchange.usage.output_tokens
    note = "; choose a model with --model" if exchange.has_passages else ""
    if tokens:
        cost = format_cost(exchange.usage)
        note = f"; {tokens:,} tokens{f', {cost}' if cost else ''}"
    notice, severity = report.sourcing_notice or ("", Severity.INFO)
    if severity is Severity.WARNING:
        notice = f"! {notice}"
    lines = [report.quote_summary, notice, format_basis(exchange), f"({model_name}{note})"]
    return [*filter(None, lines)]


def _render_line(line: str | QuotedSentence, width: int, *, is_styled: bool) -> str:
    """Wrap a line to a width in cells. The text around a quote is dim."""
    if isinstance(line, str):
        return wrap_line(line, width, _INDENT)
    indent = 2 * _INDENT
    opening, closing = get_isolates(line.sentence)
    runs: list[Run] = []
    for part in (SentencePart(f"{SENTENCE_LABEL} "), *line.list_parts()):
        role = TextRole.TEXT if part.is_quoted else TextRole.ASIDE
        emphasis = Emphasis.STRUCK if part.is_struck else Emphasis.NONE
        runs.append(make_run(part.text, RunStyle(role=role, emphasis=emphasis)))
    rows = wrap_runs(runs, width - len(indent))
    return "\n".join(
        f"{indent}{opening}{_paint(row, _get_codes, is_styled=is_styled)}{closing}" for row in rows
    )


def _list_passages(report: AnswerReport) -> list[str]:
    """List the passages, each below an empty line: its path and place, then its key sentence.

    `recheck` reads the line of the sentence. A row of a table follows once more, with the heads of its
    columns. A last line names the words of the question that the passage has.
    """
    lines = [lead] if (lead := report.lead) else []
    for card in report.list_cards():
        passage = card.passage
        path = format_path(report.library, passage.section_id)
        lines += ["", f"{path}, {passage.place}"]
        if passage.key_sentence.words:
            quotes = [_format_prose(passage.key_sentence.words, policy.KEY_SENTENCE_WIDTH_MAX)]
        else:
            quotes = [*_quote_whole(passage.quote or "")]
        lines += (f"{quote}[{passage.section_id}]" for quote in quotes)
        if passage.key_sentence.row:
            row = shorten(passage.key_sentence.row, policy.KEY_SENTENCE_WIDTH_MAX)
            lines.append(f"{_INDENT}{format_sentence(row)}")
        if card.label:
            lines.append(f"{_INDENT}{card.label}")
    return lines


def _quote_whole(passage: str) -> Iterator[str]:
    """Yield a passage as quotes that `recheck` reads again: prose in one line, and code as it is.

    What is after as many characters as a key sentence may have is left out.
    """
    units = list_units(passage, parse_markdown(passage))
    room = policy.KEY_SENTENCE_WIDTH_MAX
    for is_code, group in groupby(units, key=lambda unit: unit.kind is UnitKind.CODE):
        alike = [*group]
        text = passage[passage.rfind("\n", 0, alike[0].start) + 1 : alike[-1].end]
        quote = _format_code(text, room) if is_code else _format_prose(read_visible_line(text), room)
        yield quote
        room -= len(quote)
        if room <= 0:
            break


def _format_prose(words: str, length_max: int) -> str:
    return f"“{shorten(words, length_max).translate(_INNER_QUOTES)}” "


def _format_code(text: str, length_max: int) -> str:
    """Write lines of code between fences, up to a length in characters, and at least one line."""
    lines: list[str] = []
    for line in dedent(text).splitlines():
        if lines and len(line) + sum(map(len, lines)) > length_max:
            lines.append("…")
            break
        lines.append(line)
    return write_code("\n".join(lines)) + "\n"


def render_answer(proof: AnswerProof, *, width: int, is_styled: bool) -> str:
    """Lay out an answer as lines of at most `width` columns, except for code."""
    markdown = proof.markdown
    layout = MarkdownLayout(width=width, view=View.TERMINAL, links=markdown.links)

    def get_codes(style: RunStyle) -> tuple[int, ...]:
        match proof.judge(style.group, style.link_number):
            case VerdictMark(verdict=verdict):
                return (_BOLD, _COLOURS[verdict.rating])
            case Citation(state=state):
                return (_STRUCK if state is QuoteState.NOT_FOUND else _UNDERLINED, _COLOURS[state.rating])
            case Unsourced():
                return (_ITALIC, _YELLOW)
            case None:
                return _get_codes(style)

    lines = [_paint(line.runs, get_codes, is_styled=is_styled) for line in layout.lay_out(markdown.blocks)]
    return "".join(line.rstrip(" ") + "\n" for line in lines)


def _get_codes(style: RunStyle) -> tuple[int, ...]:
    codes = [code for emphasis, code in _EMPHASIS_CODES.items() if emphasis in style.emphasis]
    return (*codes, *([_ROLE_CODES[style.role]] if style.role in _ROLE_CODES else []))


def _paint(runs: Sequence[Run], get_codes: Callable[[RunStyle], tuple[int, ...]], *, is_styled: bool) -> str:
    """Join runs. If `is_styled`, put the control sequences of their styles around them."""
    parts: list[str] = []
    for codes, group in groupby(runs, key=lambda run: get_codes(run.style)):
        text = "".join(run.text for run in group)
        if codes and is_styled and text:
            text = f"\x1b[{';'.join(map(str, codes))}m{text}\x1b[0m"
        parts.append(text)
    return "".join(parts)
