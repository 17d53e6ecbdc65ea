"""Parse an answer into Markdown blocks whose quotes and citation marks are identified.

A quote may contain emphasis, code and links, so its position among the parsed words is known only after parsing.
Therefore *placeholders* are inserted at both ends of a quote, and replace the marks, before the answer is parsed. They
consist of characters that hardly anybody writes. Markdown treats these as punctuation, like the quotation marks next to
them, so the rest of the answer is parsed as if they were not there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from roamtui.document.markdown.blocks import (
    LINE_BREAK,
    Block,
    Code,
    Details,
    Emphasis,
    Heading,
    Inline,
    List,
    Markdown,
    Paragraph,
    Quote,
    Table,
    ThematicBreak,
    Words,
)
from roamtui.document.markdown.fences import FENCE
from roamtui.document.markdown.parser import read_markdown
from roamtui.document.plain import sanitise_text, strip_blank_lines
from roamtui.quotes.verdicts import AnswerProof, JudgedMark

_GROUP_START, _GROUP_END, _MARKS, _PLACEHOLDER_END = "\ufe47", "\ufe48", "\ufe35", "\ufe36"
"""A placeholder consists of one of the first three characters, the digits of an index, and the last character."""
_FIRST_DIGIT = 0xFE10
_TO_DIGITS = {ord("0") + digit: _FIRST_DIGIT + digit for digit in range(10)}
_FROM_DIGITS = {_FIRST_DIGIT + digit: str(digit) for digit in range(10)}
_PLACEHOLDER = re.compile(f"([{_GROUP_START}{_GROUP_END}{_MARKS}])([\ufe10-\ufe19]+){_PLACEHOLDER_END}")
_RESERVED = re.compile("[\ufe10-\ufe19\ufe35\ufe36\ufe47\ufe48]")
_BEFORE_NON_PROSE = re.compile(r"\]\([^()\s]*\s+\Z|=\Z|^ {0,3}\[[^\[\]\n]+\]:[^\n]*\Z", re.MULTILINE)
"""Text directly before the title of a link or link definition, or the value of an attribute. These are not quotes."""
_LOOK_BACK = 300
"""Number of characters before a quote that are searched for `_BEFORE_NON_PROSE`."""


def read_answer_markdown(
    answer: str,
    proof: AnswerProof,
    *,
    close_markup: Callable[[str], str] | None = None,
) -> Markdown:
    """Parse an answer.

    Args:
        answer: The text, as the model wrote it.
        proof: The answer's quotes and marks.
        close_markup: Closes unfinished markup at the end of an answer that is still streaming in.

    Returns:
        The blocks and links of the answer. `Words.group` is the index of a quote. The URL of a link with
        `is_reference_mark` is the index of its mark.
    """
    pieces: list[str] = []
    position = 0
    for start, end, placeholder in sorted(_list_replacements(answer, proof)):
        pieces += (_RESERVED.sub("\N{REPLACEMENT CHARACTER}", answer[position:start]), placeholder)
        position = end
    pieces.append(_RESERVED.sub("\N{REPLACEMENT CHARACTER}", answer[position:]))

    def read_marks(text: str, is_first: bool) -> Iterator[tuple[str, str | None]]:  # noqa: ARG001, FBT001 - a `SplitMarks`
        position = 0
        for match in _PLACEHOLDER.finditer(text):
            if match[1] == _MARKS:
                yield text[position : match.start()], None
                position = match.end()
                for index in _list_marks_at(proof, _parse_number(match)):
                    yield proof.marks[index].label, str(index)
        yield text[position:], None

    text = strip_blank_lines(sanitise_text("".join(pieces)))
    markdown = read_markdown(text if close_markup is None else close_markup(text), split_marks=read_marks)
    grouper = _WordGrouper(answer, proof)
    return replace(markdown, blocks=tuple(map(grouper.group_block, markdown.blocks)))


def _list_replacements(answer: str, proof: AnswerProof) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and placeholder of each replacement.

    Placeholders are inserted at the ends of quotes, and replace the brackets that contain marks.
    """
    for index, quote in enumerate(proof.quotes):
        before = max(0, quote.start - _LOOK_BACK)
        if not (FENCE.match(answer, quote.start) or _BEFORE_NON_PROSE.search(answer, before, quote.start)):
            yield quote.start, quote.start, _make_placeholder(_GROUP_START, index)
            yield quote.end, quote.end, _make_placeholder(_GROUP_END, index)
    for index, mark in enumerate(proof.marks):
        is_first = index == 0 or proof.marks[index - 1].start != mark.start
        if is_first and not is_link_text(answer, mark):
            yield mark.start, mark.end, _make_placeholder(_MARKS, index)


def is_link_text(answer: str, mark: JudgedMark) -> bool:
    """Check whether the brackets of a mark belong to a Markdown link, or to the definition of one."""
    line_start = answer.rfind("\n", 0, mark.start) + 1
    is_definition = answer.startswith(":", mark.end) and not answer[line_start : mark.start].strip()
    return is_definition or answer.startswith("(", mark.end)


def _make_placeholder(kind: str, index: int) -> str:
    return f"{kind}{str(index).translate(_TO_DIGITS)}{_PLACEHOLDER_END}"


def _parse_number(placeholder: re.Match[str]) -> int:
    return int(placeholder[2].translate(_FROM_DIGITS))


def _list_marks_at(proof: AnswerProof, first: int) -> Iterator[int]:
    """Yield the indexes of the marks in one pair of brackets."""
    for index in range(first, len(proof.marks)):
        if proof.marks[index].start != proof.marks[first].start:
            return
        yield index


class _WordGrouper:
    """Removes the placeholders from blocks, in document order, and groups the words between them."""

    def __init__(self, answer: str, proof: AnswerProof) -> None:
        self._answer = answer
        self._proof = proof
        self._group: int | None = None

    def group_block(self, block: Block) -> Block:  # noqa: PLR0911 - one for each kind
        match block:
            case Paragraph() | Heading():
                return replace(block, words=self._group_words(block.words))
            case Code():
                return replace(block, text=_PLACEHOLDER.sub(self._restore, block.text))
            case Table():
                rows = (replace(row, cells=tuple(map(self._group_words, row.cells))) for row in block.rows)
                return replace(block, rows=tuple(rows))
            case List():
                items = (replace(item, blocks=self._group_blocks(item.blocks)) for item in block.items)
                return replace(block, items=tuple(items))
            case Quote():
                return replace(block, title=self._group_words(block.title), blocks=self._group_blocks(block.blocks))
            case Details():
                return replace(block, summary=self._group_words(block.summary), blocks=self._group_blocks(block.blocks))
            case ThematicBreak():
                return block

    def _group_blocks(self, blocks: Sequence[Block]) -> tuple[Block, ...]:
        return tuple(map(self.group_block, blocks))

    def _group_words(self, inline: Inline) -> Inline:
        return tuple(grouped for words in inline for grouped in self._split_words(words))

    def _split_words(self, words: Words) -> Iterator[Words]:
        """Yield the words between placeholders, each with its group."""
        text = words.text
        if Emphasis.CODE in words.emphasis:
            text = _PLACEHOLDER.sub(self._restore, text)
        placeholders = [*_PLACEHOLDER.finditer(text)]
        if words is LINE_BREAK or not (placeholders or self._group is not None or text != words.text):
            yield words
            return
        position = 0
        for placeholder in placeholders:
            if placeholder.start() > position:
                yield replace(words, text=text[position : placeholder.start()], group=self._group)
            position = placeholder.end()
            number = _parse_number(placeholder)
            if placeholder[1] == _GROUP_START:
                self._group = number
            elif self._group == number:
                self._group = None
        if position < len(text):
            yield replace(words, text=text[position:], group=self._group)

    def _restore(self, placeholder: re.Match[str]) -> str:
        """Return the text that a placeholder in code replaced, since code contains neither quotes nor marks."""
        if placeholder[1] != _MARKS:
            return ""
        mark = self._proof.marks[_parse_number(placeholder)]
        return self._answer[mark.start : mark.end]
