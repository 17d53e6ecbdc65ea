"""Conversations and notes as Markdown.

`roamtui.quotes.claims` parses the source lines, so it must understand every change to their format.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import PurePath

from msgspec.structs import replace

from roamtui.answer_report import AnswerReport
from roamtui.conversation.citations import Citation
from roamtui.conversation.notices import format_usage
from roamtui.conversation.state import ConversationState
from roamtui.markdown.blocks import Table
from roamtui.markdown.parser import parse_markdown
from roamtui.outline.labels import PATH_STEP
from roamtui.paths import is_standard_input
from roamtui.quotes.located_notes import LocatedNote
from roamtui.quotes.wording import (
    PASSAGE_LABEL,
    format_sentence,
    format_source_line,
    list_path_titles,
    simplify_quote,
)
from roamtui.sanitiser import sanitise_line, sanitise_text
from roamtui.sources.source_names import abbreviate_sources, format_sources
from roamtui.text import normalise_line_ends

_ROW = re.compile(r"^\s*\|", re.MULTILINE)


def render_markdown(state: ConversationState, source: str) -> str:
    """Render a conversation: each question as a heading, then its answer and the sources of its quotes."""
    parts = [f"# {sanitise_line(state.title) or 'Conversation'}", _format_source(source)]
    parts += [f"Added source: {abbreviate_sources(name)}" for name in state.added_sources]
    if usage := format_usage(state.spent):
        parts.append(f"Model: {sanitise_line(state.model)} · read {usage}")
    for exchange in state.exchanges:
        parts.append(f"## {sanitise_line(exchange.question)}")
        report = AnswerReport(exchange, state.library)
        endings = [f"*{text}*" for text, _ in report.endings]
        if exchange.has_passages:
            parts += [report.lead, *endings, *_list_passages(report)]
        else:
            parts += [_number_marks(report), *endings, "\n".join(report.sources)]
        parts += [f"*{sanitise_line(text)}*" for text in report.closing_sentences]
    return sanitise_text("\n\n".join(filter(None, parts))) + "\n"


def _number_marks(report: AnswerReport) -> str:
    """Return the answer with a number and a sign in place of each mark that has a citation."""
    parts: list[str] = []
    position = 0
    answer = report.exchange.answer
    for mark in report.proof.marks:
        if mark.numbers:
            parts += answer[position : mark.start], mark.label
            position = max(position, mark.end)
    return "".join([*parts, answer[position:]])


def _list_passages(report: AnswerReport) -> Iterator[str]:
    """Yield for each passage its place, its key row with column heads, its text, and its question words."""
    for number, card in enumerate(report.list_cards(), start=1):
        passage = card.passage
        yield format_source_line(replace(passage, quote=None), number, PASSAGE_LABEL)
        if passage.key_sentence.row:
            yield f"   {format_sentence(passage.key_sentence.row)}"
        lines = normalise_line_ends(passage.quote or "").split("\n")
        yield "\n".join(f"   > {line}" for line in lines)
        if card.label:
            yield f"   {sanitise_line(card.label)}"


def _format_source(source: str) -> str:
    return f"Source: {'- (standard input)' if is_standard_input(source) else abbreviate_sources(source)}"


def render_notes(notes: Sequence[LocatedNote], source: str, title: str) -> str:
    """Render notes in the given order: section titles as headings, quotes with places, then comments.

    The headings leave out the document's `title`. `source` is the path or URL of the document.
    """
    parts = [f"# Notes: {sanitise_line(title)}", _format_source(source)]
    for path, group in groupby(notes, key=lambda located: list_path_titles(located.current_citation, title)):
        parts.append(f"## {PATH_STEP.join(path) or '(untitled)'}")
        for located in group:
            citation = located.current_citation
            location = f"— {_format_location(citation, format_sources(source))} [{citation.section_id}]"
            if (quote := located.note.citation.quote) is not None:
                is_table = any(isinstance(block, Table) for block in parse_markdown(quote).blocks)
                if _ROW.search(quote) and not is_table:  # rows without a header are not a table
                    quote = simplify_quote(quote)
                lines = normalise_line_ends(quote.strip("\r\n")).split("\n")
                location = "\n".join(f"> {line}".rstrip() for line in [*lines, "", location])
            sentence = format_sentence(citation.sentence) if citation.sentence else ""
            change = f"*({located.change_label})*" if located.change_label else ""
            parts += filter(None, [location, sentence, change, located.note.comment])
    return sanitise_text("\n\n".join(parts)) + "\n"


def _format_location(citation: Citation, source: str) -> str:
    """Format the file, section and page or line of a citation: ``handbook.md › Late fees · line 12``."""
    file = citation.doc or source
    file = sanitise_line(file if "://" in file else PurePath(file).name)
    section = sanitise_line(citation.path[-1]) if citation.path else ""
    return f"{PATH_STEP.join(dict.fromkeys(filter(None, [file, section])))} · {citation.position}"
