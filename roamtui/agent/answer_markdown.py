"""Read an answer as Markdown blocks in which its quotes and the marks of its citations are told apart.

A quote may hold emphasis, code and links, so its place among the words is known only after parsing. Before, it is put
between characters that hardly anybody writes. They count as punctuation, as the quotation marks next to them do, so all
else is parsed as without them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from roamtui.agent.proof import AnswerProof, ProvenMark
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
from roamtui.document.markdown.parser import read_markdown
from roamtui.document.plain import sanitise_text

_START, _END, _MARK, _STOP = "\ufe47", "\ufe48", "\ufe35", "\ufe36"
_FIRST_DIGIT = 0xFE10
_TO_DIGITS = {ord("0") + digit: _FIRST_DIGIT + digit for digit in range(10)}
_FROM_DIGITS = {_FIRST_DIGIT + digit: str(digit) for digit in range(10)}
_SIGN = re.compile(f"([{_START}{_END}{_MARK}])([\ufe10-\ufe19]+){_STOP}")
_RESERVED = re.compile("[\ufe10-\ufe19\ufe35\ufe36\ufe47\ufe48]")
_NO_PROSE = re.compile(r"\]\([^()\s]*\s+\Z|=\Z|^ {0,3}\[[^\[\]\n]+\]:[^\n]*\Z", re.MULTILINE)
"""What stands before the title of a link or the value of an attribute."""
_LOOK_BACK = 300
"""In characters."""


def read_answer_markdown(
    answer: str,
    proof: AnswerProof,
    *,
    with_unquoted: bool = False,
    close_markup: Callable[[str], str] | None = None,
) -> Markdown:
    """Parse an answer.

    Args:
        answer: Its text, as the model wrote it.
        proof: Its quotes and marks.
        with_unquoted: Whether statements without a quote make groups too.
        close_markup: Closes what is open at the end of an answer that still streams in.

    Returns:
        Blocks in which `Words.group` is the index of a quote, or of a statement after all quotes, and links of which
        those with `is_mark` have the index of a mark as their address.
    """
    pieces: list[str] = []
    position = 0
    for start, end, sign in sorted(_list_signs(answer, proof, with_unquoted=with_unquoted)):
        pieces += (_RESERVED.sub("\N{REPLACEMENT CHARACTER}", answer[position:start]), sign)
        position = end
    pieces.append(_RESERVED.sub("\N{REPLACEMENT CHARACTER}", answer[position:]))

    def read_marks(text: str, is_first: bool) -> Iterator[tuple[str, str | None]]:  # noqa: ARG001, FBT001 - a `ReadText`
        position = 0
        for match in _SIGN.finditer(text):
            if match[1] == _MARK:
                yield text[position : match.start()], None
                position = match.end()
                for index in _list_marks_at(proof, _parse_number(match)):
                    yield proof.marks[index].label, str(index)
        yield text[position:], None

    text = sanitise_text("".join(pieces)).strip()
    markdown = read_markdown(text if close_markup is None else close_markup(text), read_text=read_marks)
    grouping = _Grouping(answer, proof)
    return replace(markdown, blocks=tuple(map(grouping.read_block, markdown.blocks)))


def _list_signs(answer: str, proof: AnswerProof, *, with_unquoted: bool) -> Iterator[tuple[int, int, str]]:
    """Yield what replaces the text between two offsets: ends of quotes and statements, and pairs of brackets."""
    for index, quote in enumerate(proof.quotes):
        is_fence = answer.startswith(("```", "~~~"), quote.start)
        if not is_fence and not _NO_PROSE.search(answer, max(0, quote.start - _LOOK_BACK), quote.start):
            yield quote.start, quote.start, _make_sign(_START, index)
            yield quote.end, quote.end, _make_sign(_END, index)
    for index, (start, end) in enumerate(proof.unquoted if with_unquoted else (), start=len(proof.quotes)):
        yield start, start, _make_sign(_START, index)
        yield end, end, _make_sign(_END, index)
    for index, mark in enumerate(proof.marks):
        is_first = index == 0 or proof.marks[index - 1].start != mark.start
        if is_first and not is_link_text(answer, mark):
            yield mark.start, mark.end, _make_sign(_MARK, index)


def is_link_text(answer: str, mark: ProvenMark) -> bool:
    """Return whether the brackets of a mark are those of a Markdown link, or of the definition of one."""
    line_start = answer.rfind("\n", 0, mark.start) + 1
    is_definition = answer.startswith(":", mark.end) and not answer[line_start : mark.start].strip()
    return is_definition or answer.startswith("(", mark.end)


def _make_sign(kind: str, index: int) -> str:
    return f"{kind}{str(index).translate(_TO_DIGITS)}{_STOP}"


def _parse_number(sign: re.Match[str]) -> int:
    return int(sign[2].translate(_FROM_DIGITS))


def _list_marks_at(proof: AnswerProof, first: int) -> Iterator[int]:
    """Yield the indexes of the marks in one pair of brackets."""
    for index in range(first, len(proof.marks)):
        if proof.marks[index].start != proof.marks[first].start:
            return
        yield index


class _Grouping:
    """Takes the signs out of blocks, in their order, and groups the words between two of them."""

    def __init__(self, answer: str, proof: AnswerProof) -> None:
        self._answer = answer
        self._proof = proof
        self._group: int | None = None

    def read_block(self, block: Block) -> Block:  # noqa: PLR0911 - one for each kind
        match block:
            case Paragraph() | Heading():
                return replace(block, words=self._read_words(block.words))
            case Code():
                return replace(block, text=_SIGN.sub(self._restore, block.text))
            case Table():
                rows = (replace(row, cells=tuple(map(self._read_words, row.cells))) for row in block.rows)
                return replace(block, rows=tuple(rows))
            case List():
                items = (replace(item, blocks=self._read_blocks(item.blocks)) for item in block.items)
                return replace(block, items=tuple(items))
            case Quote():
                return replace(block, title=self._read_words(block.title), blocks=self._read_blocks(block.blocks))
            case Details():
                return replace(block, summary=self._read_words(block.summary), blocks=self._read_blocks(block.blocks))
            case ThematicBreak():
                return block

    def _read_blocks(self, blocks: Sequence[Block]) -> tuple[Block, ...]:
        return tuple(map(self.read_block, blocks))

    def _read_words(self, inline: Inline) -> Inline:
        return tuple(grouped for words in inline for grouped in self._divide(words))

    def _divide(self, words: Words) -> Iterator[Words]:
        """Yield words without signs, with the quote that they belong to."""
        text = words.text
        if Emphasis.CODE in words.emphasis:
            text = _SIGN.sub(self._restore, text)
        signs = [*_SIGN.finditer(text)]
        if words is LINE_BREAK or not (signs or self._group is not None or text != words.text):
            yield words
            return
        position = 0
        for sign in signs:
            if sign.start() > position:
                yield replace(words, text=text[position : sign.start()], group=self._group)
            position = sign.end()
            number = _parse_number(sign)
            if sign[1] == _START:
                self._group = number
            elif self._group == number:
                self._group = None
        if position < len(text):
            yield replace(words, text=text[position:], group=self._group)

    def _restore(self, sign: re.Match[str]) -> str:
        """Return what a sign replaced, for code, where nothing is a quote or a mark."""
        if sign[1] != _MARK:
            return ""
        mark = self._proof.marks[_parse_number(sign)]
        return self._answer[mark.start : mark.end]
