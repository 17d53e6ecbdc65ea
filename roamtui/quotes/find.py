"""Find a quote in a text: first character by character, then without regard to white space, markup and typography.

No quote matches a part of a number: "5 %" in "0.5 %", or "200" in "1,200". Numbers are read in the original text. In a
normalised text, a thin space inside a number looks like a space between words.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from roamtui.document.text import Bounds

_ALIKE = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»″〝〞＂「」『』", '"'),
        **dict.fromkeys("‘’‚‛‹›′`´", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2009\u200a\u202f\u3000", " "),
        **dict(zip("，。：；！？（）", ",.:;!?()", strict=True)),
    }
)
_MARKUP = (
    # The lookahead lists every first character and saves two thirds of the time.
    r"(?=[\]\[!<\\&*`~\"' \t#>\-+\d_\u00ad\u200b-\u200d\ufeff|])(?:"
    r"(?P<break><br\s*/?>|\\(?=\s)|(?<=[\n\r])\|(?:[ \t]*+:?-++:?[ \t]*+\|)++"  # the line below the head of a table
    r"|\||(?<=\d)(?:[*`~\[\]]+|</?su[bp]>)(?=\d))"  # between words, cells or numbers
    r"|\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)"  # link target
    r"|\]\[[^\]\n]*\]|!?\[\^[^\[\]\n]+\]|!(?=\[)|[\[\]]"  # reference, footnote, brackets
    r"|</?(?:a|b|code|em|i|kbd|mark|small|span|strong|sub|sup|u)\b[^<>\n]*>"
    r"|(?P<entity>&(?:amp|lt|gt|quot|nbsp|#39);)"
    r"|\\(?=[!-/:-@\[-`{-~])"  # escape
    r"|\*+|`+|~~|\"|'"  # emphasis, code, quotation marks
    r"|(?:(?<=[\n\r])|\A)(?:[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-+][ \t]+))+"  # marks at the start of a line
    r"|(?<![^\W_])(?<![^\W_]\\)_+|_+(?![^\W_])"  # underscores outside of words, escaped or not
    r"|[\u00ad\u200b-\u200d\ufeff]"  # invisible characters
    r"|(?<=\d) (?=[%‰°]))"  # some languages put a space before a percent sign
)
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": " "}
GAP = re.compile(r"(?:(?<!\s)\s++)?(?:\[(?:…|\.{3})\]|…|\.{3,4})\s*+")
"""An ellipsis for omitted words."""
_SHORTENED_TARGET = re.compile(r"(?<=\]\()[^()\s]*(?:…|\.{3})(?=\)|\Z)")
"""The link target that `annotate_with_ids` has shortened. This ellipsis omits no words."""
_EDGE = " \t\n.,;:!?-\\"
_LEADING = re.compile(r"\A(?:(?!-?(?:[$¢-¥₠-⃀] ?-?)?\.?\d)[ \t\n.,;:!?\\-])+")
_BROKEN_WORD = re.compile("(?<=[^\\W\\d_])[-\u00ad\u2010][ \t]*(?:\r\n?|\n)[ \t]*(?=[^\\W\\d_])")
"""A word hyphenated at the end of a line, as in books and laws."""
_INVISIBLE = "\u200b"
_ACCENT_OR_LIGATURE = re.compile(r"[\u0300-\u036f\u3099\u309a\ufb00-\ufb06]")
"""Combining accents and ligatures, as in PDFs and in files of some systems."""
_GLUED = re.compile(r"(?<=[a-z\d])(?<!not)(?<!non)(?<!never)(?<!without)(?=[A-Z][a-z])")
"""Where a page without cell borders, or a PDF, lacks a space between two words: "extensionFind the", "2020The". A word
that reverses the meaning of the next one is no such place, as in ``notAllowed``."""
_GLUED_SPACES_MIN = 2
"""Minimum number of spaces in the words of a match that starts or ends there. Fewer words may be part of a name."""
_LENGTH_MIN = 2
"""Minimum number of letters and digits. A shorter quote proves nothing, unless it has many signs."""
_SIGNS_MIN = 5
"""Minimum length of a quote with fewer letters and digits, such as "(b) [***]". The text must have it exactly."""
_IN_WORD = r"[^\W_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A letter or digit, but not of a script without spaces between words."""
_INSIDE_WORD = rf"(?<={_IN_WORD})(?={_IN_WORD})"
"""Compiled when it is needed, because that takes 2 ms."""

_NO_BREAK_SPACE = "\u00a0\u2005-\u200a\u202f"
"""Spaces that group digits: no-break and thin spaces."""
_SEPARATOR = rf"(?:[,.'’{_NO_BREAK_SPACE}]|&(?:nbsp|thinsp|#160|#8201|#8239);)"
_UNSEEN = (
    r"(?:[*_`~\\\u00ad\u200b-\u200d\u2060\ufeff]|</?(?:b|code|em|i|mark|small|span|strong|u)\b[^<>\n]*>"
    r"|<!--[^<>\n]*-->)*+"
)
"""Markup that a reader does not see, as in ``0.**5**``."""
_DIGITS = "[\\d¼-¾⁰¹²³⁴-⁹⅐-⅞]++"
_MINUS = r"\-‐-–−﹣－"
_POWER = rf"(?:\^[{{(]?[+{_MINUS}]?\d+|[⁺⁻]?[⁰¹²³⁴-⁹]+|<sup>[+{_MINUS}]?\d+)"
_NUMBER = (
    rf"(?![a-z \n|])(?P<sign>[+±{_MINUS}]{_UNSEEN})?"  # no number starts with these: saves half of the time
    rf"(?:(?P<currency>[A-Z]{{0,3}}[$¢-¥֏؋৲৳৻૱௹฿៛₠-⃀﷼﹩＄￠￡￥￦]){_UNSEEN}[ \t{_NO_BREAK_SPACE}]?+{_UNSEEN})?"
    rf"(?P<bare>(?:(?<!\w)[+{_MINUS}]{_UNSEEN})?"
    rf"(?:(?<![^\s(\[|$¢-¥₠-⃀+{_MINUS}*_~<>=/])[.,])?"  # ".5", but not the full stop of a sentence before
    rf"{_DIGITS}(?:{_UNSEEN}{_SEPARATOR}?{_DIGITS}|{_SEPARATOR}{_UNSEEN}{_DIGITS})*+"
    rf"(?:[eE][+{_MINUS}]?\d+|\^[{{(]?[+{_MINUS}]?\d+|\s?[×·x*]\s?10{_POWER})?"
    rf"(?:{_UNSEEN}[%‰％]|{_UNSEEN}\s{{1,2}}{_UNSEEN}[%‰％](?!\w))?)"
)
"""Compiled when it is needed, because that takes 3 ms."""
_OPERAND = rf"(?:[^\W_]|[%‰％°)\]]|\d[$¢-¥₠-⃀]){_UNSEEN}\Z"
"""Text directly before a hyphen that is not a minus sign."""
_DIGIT = re.compile(r"\d")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[,.]?\d|(?<=\d[,.])\d")
"""A position between two digits, the usual case. This quick test matters in texts with thousands of matches."""
_REACH = 48
"""Number of characters to read on each side of a position."""
_NEAR = 12
"""Number of characters around a position to check. If no digit is among them, the position is not inside a number."""


def find_quote(quote: str, text: str) -> Bounds | None:
    """Return the bounds of a quote in a text, or None if the text does not contain it.

    An ellipsis may omit words of one sentence, list item or table row. A match must not start or end inside a number,
    because that is a different number, nor start inside a word, which may mean the opposite ("legal" in "illegal").
    """
    has_words = sum(character.isalnum() for character in quote) >= _LENGTH_MIN
    if not has_words and len("".join(quote.split())) < _SIGNS_MIN:
        return None
    start = _find_part(quote, _NormalisedText(text, range(len(text))), text, is_exact=True)
    if start >= 0:
        return start, start + len(quote)
    whole = _SHORTENED_TARGET.sub("", quote) if "](" in quote else quote
    pieces = (normalise_markdown(piece).text for piece in GAP.split(whole))
    # marks at the ends of a piece do not count, but a sign or a point belongs to its number
    parts = [part for piece in pieces if (part := _LEADING.sub("", piece).rstrip(_EDGE))]
    if not has_words or not parts:
        return None
    texts = [text]
    if _BROKEN_WORD.search(text):  # the hyphen may belong to the word or not
        texts += [
            _BROKEN_WORD.sub(lambda gap: _INVISIBLE * len(gap[0]), text),
            _BROKEN_WORD.sub(lambda gap: "-".ljust(len(gap[0]), _INVISIBLE), text),
        ]
    spellings = [parts]
    if " " in parts[0]:  # the first word may be quoted from, or put, inside a sentence
        spellings.append([parts[0][0].swapcase() + parts[0][1:], *parts[1:]])
    found = (_find_parts(spelling, one) for one in texts for spelling in spellings)
    return next(filter(None, found), None)


def _find_parts(parts: Sequence[str], text: str) -> Bounds | None:
    """Return the bounds of plain parts in a text, if each starts in the sentence where the part before ends."""
    from roamtui.search.units import find_sentence_end  # noqa: PLC0415 - imports the Markdown parser

    normal = normalise_markdown(text)
    plain, offsets = normal.text, normal.offsets
    first = _find_part(parts[0], normal, text)
    while first >= 0:
        end, next_first = first + len(parts[0]), first + 1
        for part in parts[1:]:
            # the end of a sentence or, outside of sentences, of a line
            sentence_end = find_sentence_end(text, offsets[end - 1]) or text.find("\n", offsets[end - 1])
            limit = len(offsets) if sentence_end < 0 else bisect_left(offsets, sentence_end)
            if part is parts[1]:  # an earlier match would end in the same sentence
                next_first = max(next_first, limit - len(parts[0]) + 1)
            gap = GAP.match(plain, end)  # an ellipsis of the text itself omits nothing
            last_start = max(limit - 1, gap.end() if gap else 0)
            start = _find_part(part, normal, text, end, last_start + len(part))
            if start < 0:
                break
            end = start + len(part)
        else:
            last = offsets[end - 1] + 1
            while last < len(text) and unicodedata.combining(text[last]):
                last += 1
            return offsets[first], last
        first = _find_part(parts[0], normal, text, next_first)
    return None


def _find_part(
    part: str, normal: _NormalisedText, text: str, start: int = 0, stop: int | None = None, *, is_exact: bool = False
) -> int:
    """Return the offset of `part` in the plain text, or -1. A match must not start or end inside a word or number.

    An exact match may end inside a word, but not before a unit, as in 5m.
    """
    plain, offsets = normal.text, normal.offsets
    inside_word = re.compile(_INSIDE_WORD)
    may_be_glued = part.count(" ") >= _GLUED_SPACES_MIN
    has_open_end = is_exact and not part[-1].isdigit()
    index = plain.find(part, start, stop)
    while index >= 0:
        end = index + len(part)
        edges = (index,) if has_open_end else (index, end)
        is_cut = any(
            inside_word.match(plain, edge) and not (may_be_glued and _GLUED.match(plain, edge)) for edge in edges
        )
        if not is_cut and not divides_number(text, offsets[index], offsets[end - 1] + 1):
            return index
        index = plain.find(part, index + 1, stop)
    return -1


_WORD_OR_SPACE = re.compile(r"(?P<word>\S+)|\s+")


class _NormalisedText(Struct, frozen=True):
    text: str
    offsets: Sequence[int]
    """Offset in the original text, for each character."""


@lru_cache(maxsize=256)
def normalise_markdown(text: str) -> _NormalisedText:
    """Remove markup, collapse white space, and unify characters that look alike, such as dashes.

    A number at the start of a line stays, because it may be part of a date that spans two lines.
    """
    alike = text.translate(_ALIKE)
    pieces: list[tuple[str, int]] = []
    position = 0
    for match in re.finditer(_MARKUP, alike):
        pieces.append((alike[position : match.start()], position))
        if match.lastgroup is not None:
            pieces.append((" " if match.lastgroup == "break" else _ENTITIES.get(match[0], ""), match.start()))
        position = match.end()
    pieces.append((alike[position:], position))
    characters: list[str] = []
    offsets = array("Q")
    for part, start in ((part, start) for piece, start in pieces for part in _WORD_OR_SPACE.finditer(piece)):
        word, begin = part[0], start + part.start()
        if part.lastgroup != "word":
            if not (characters and characters[-1] == " "):  # one space for each run of white space
                characters.append(" ")
                offsets.append(begin)
        elif _ACCENT_OR_LIGATURE.search(word):
            first = 0
            for end in range(1, len(word) + 1):  # join a letter and its accents, split a ligature into letters
                if end == len(word) or not unicodedata.combining(word[end]):
                    is_ligature = "\ufb00" <= word[first] <= "\ufb06"
                    letters = unicodedata.normalize("NFKC" if is_ligature else "NFC", word[first:end])
                    characters.append(letters)
                    offsets.extend([begin + first] * len(letters))
                    first = end
        else:
            characters.append(word)
            offsets.extend(range(begin, begin + len(word)))
    return _NormalisedText("".join(characters), offsets)


def divides_number(text: str, start: int, end: int) -> bool:
    """Return whether `start` or `end` is inside a number."""
    edges = (start, end)
    if any(_BETWEEN_DIGITS.match(text[max(0, edge - 2) : edge + 2], min(edge, 2)) for edge in edges):
        return True
    return widen_to_numbers(text, start, end) != edges


def widen_to_numbers(text: str, start: int, end: int) -> Bounds:
    """Move each bound that is inside a number outwards, so that the whole number is included.

    Sign, separators, decimals, exponent and percent sign belong to the number; the full stop or comma of a sentence
    does not. A quote may omit a currency sign before the number, but not part of that sign.
    """
    bounds = [start, end]
    for side, position in enumerate((start, end)):
        low = max(0, position - _REACH)
        around, at = text[low : position + _REACH], position - low
        if not _DIGIT.search(around, max(0, at - _NEAR), at + _NEAR):
            continue
        number = next((match for match in re.finditer(_NUMBER, around) if match.end() > at), None)
        if number is None:
            continue
        first = number.start()
        if number["sign"] and re.search(_OPERAND, around[:first]):
            first = number.end("sign")
        is_signed = first < number.end("sign")
        is_bare = number["currency"] and not is_signed and number.end("currency") <= at <= number.start("bare")
        if first < at and not is_bare:
            bounds[side] = low + (first, number.end())[side]
    return bounds[0], bounds[1]
