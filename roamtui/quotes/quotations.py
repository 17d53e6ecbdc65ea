"""Read every quotation of any text, so that each can be looked up in a document.

Such a text may have no ids, so all of its quotations are claims: block quotes, and words between quotation
marks.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from roamtui.document.library import Library
from roamtui.markdown.blocks import Block, List, Paragraph, Quote
from roamtui.markdown.parser import read_markdown
from roamtui.quotes.claims import Claim, find_claimed_marks
from roamtui.quotes.read import WORDS_MIN, read_answer
from roamtui.quotes.wording import blank_document_lines
from roamtui.quotes.words import read_words
from roamtui.text import Bounds

_START = re.compile(r"[ \t>*_]*")
_PREFIX = re.compile(r"^(?:[ \t]*(?:[-*+]|\d+[.)])[ \t]+)?[ \t>]*>[ \t]?", re.MULTILINE)
"""The marks of a block quote in each of its lines, perhaps in an item of a list."""
_ATTRIBUTION = re.compile(r"\n[ \t]*(?:[—–―]|--)[^\n]*\Z")
"""A last line that names the source of a block quote."""


def read_quotations(text: str, name: str, library: Library | None = None) -> tuple[Claim, ...]:
    """Return the quotations of a Markdown or plain text called `name`, each once, in order.

    If one names the id of a section, it is claimed to be from there.
    """
    text = blank_document_lines(text)
    marks = tuple(find_claimed_marks(text, library))
    quotes = [quote for quote in read_answer(text, marks).quotes if not (quote.is_code or quote.is_block)]
    starts = {quote.start for quote in quotes}
    is_block = bytearray(len(text))
    found: list[tuple[int, str, str]] = []
    for start, end in _iter_block_quotes(read_markdown(text).blocks):
        first = _START.match(text, start, end)
        if first is not None and first.end() in starts:
            continue  # the block only sets off what is between quotation marks
        is_block[start:end] = b"\1" * (end - start)
        words = text[start:end]
        ids: Sequence[str] = ()
        for mark in reversed([mark for mark in marks if start <= mark.start < end]):
            words = words[: mark.start - start] + words[mark.end - start :]
            ids = mark.section_ids
        found.append((start, _ATTRIBUTION.sub("", _PREFIX.sub("", words).rstrip()).strip(), "".join(ids[:1])))
    for quote in quotes:
        if not is_block[quote.start]:
            section_id = next((mark.section_id for mark in quote.marks), "")
            found.append((quote.start, quote.text, section_id))
    claims: dict[str, Claim] = {}
    line = 1
    position = 0
    for start, words, section_id in sorted(found):
        line += text.count("\n", position, start)
        position = start
        if words not in claims and len(read_words(words)) >= WORDS_MIN:
            claims[words] = Claim(quote=words, place=name, line=line, section_id=section_id)
    return tuple(claims.values())


def _iter_block_quotes(blocks: Iterable[Block], *, is_quoted: bool = False) -> Iterator[Bounds]:
    """Yield the bounds of each paragraph and item in block quotes. Alerts are no quotations."""
    for block in blocks:
        match block:
            case Quote(blocks=inner, alert=alert):
                yield from _iter_block_quotes(inner, is_quoted=not alert)
            case List(items=items):
                for item in items:
                    yield from _iter_block_quotes(item.blocks, is_quoted=is_quoted)
            case Paragraph(start=start, end=end) if is_quoted:
                yield start, end
            case _:
                pass
