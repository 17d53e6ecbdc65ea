"""Looks a quote up in a text: as it stands, then with white space, Markdown marks and typographic signs made alike."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

_ALIKE = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»″〝〞＂「」『』", '"'),
        **dict.fromkeys("‘’‚‛‹›′`´", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2009\u200a\u202f\u3000", " "),
        **dict(zip("，。：；！？（）", ",.:;!?()", strict=True)),
    }
)
_MARK = re.compile(
    r"(?=[\]\[!<\\&*`~\"' \t#>\-+\d_\u00ad\u200b-\u200d\ufeff|])(?:"  # one of which begins each: a third of the time
    r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)"  # the target of a link
    r"|\]\[[^\]\n]*\]|!?\[\^[^\]\n]+\]|!(?=\[)|[\[\]]"  # a reference, a footnote, brackets
    r"|(?P<break><br\s*/?>|\\(?=\s))"
    r"|</?(?:a|b|code|em|i|kbd|mark|small|span|strong|sub|sup|u)\b[^<>\n]*>"
    r"|(?P<entity>&(?:amp|lt|gt|quot|nbsp|#39);)"
    r"|\\(?=[!-/:-@\[-`{-~])"  # an escape
    r"|\*+|`+|~~|\"|'"  # emphasis, code, quotation marks
    r"|(?:(?<=[\n\r])|\A)(?:[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-+][ \t]+))+"  # marks at the start of a line
    r"|(?P<number>(?:(?<=[\n\r])|\A)[ \t>]*\d{1,9}[.)][ \t]+)"
    r"|(?<![^\W_])(?<![^\W_]\\)_+|_+(?![^\W_])"  # underscores that are no part of a word, escaped or not
    r"|[\u00ad\u200b-\u200d\ufeff]"  # what cannot be seen
    r"|(?<=\d) (?=[%‰°])"  # some languages set a space there
    r"|\|)"
)
_NUMBERED = re.compile(r"(?:\A|[\n\r])[\s>]*\d")
"""What stands before a number of a list, and elsewhere too."""
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": " "}
_GAP = re.compile(r"\s*(?:\[(?:…|\.{3})\]|…|\.{3,4})\s*")
_EDGE = " \t\n.,;:!?-\\"
_BROKEN_WORD = re.compile("(?<=[^\\W\\d_])[-\u00ad\u2010][ \t]*(?:\r\n?|\n)[ \t]*(?=[^\\W\\d_])")
"""A hyphen at the end of a line, as books and laws have them."""
_JOINED = re.compile(r"[\u0300-\u036f\u3099\u309a\ufb00-\ufb06]")
"""Accents that stand for themselves, and ligatures, as files of some systems and PDFs have them."""
_GLUED_SPACES_MIN = 2
"""Spaces of a quote from which on it may stand glued to its neighbours: fewer words could be part of a name."""
_LENGTH_MIN = 2
"""Letters or digits; less proves nothing."""
_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of scripts in which a word may go on without a space."""


@dataclass(frozen=True, slots=True)
class QuoteMatch:
    """Where a quote was found."""

    start: int
    end: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class _NormalisedText:
    text: str
    offsets: array[int]
    """Offset in the original of each character of `text`."""


def find_quote(quote: str, text: str) -> QuoteMatch | None:
    """Return where `quote` stands in `text`, None where it does not.

    A quote with an ellipsis is found where its parts follow one another. A quote that would begin or end inside a
    number is another number, and one that would begin inside a word can say the opposite ("legal" of "illegal"), so
    these are not found.
    """
    if sum(character.isalnum() for character in quote) < _LENGTH_MIN:
        return None
    start = _find_exact(quote, text)
    if start >= 0:
        return QuoteMatch(start, start + len(quote), is_exact=True)
    for has_numbers in (True, False) if _NUMBERED.search(text) else (True,):
        match = _find_parts(quote, text, has_numbers=has_numbers)
        if match is not None:
            return match
    return _find_across_lines(quote, text) if _BROKEN_WORD.search(text) else None


def _find_exact(quote: str, text: str) -> int:
    found = text.find(quote)
    while found >= 0:
        end = found + len(quote)
        is_cut_after = quote[-1].isdigit() and text[end : end + 1].isdigit()
        if not is_cut_after and not _is_one_word(text[found - 1 : found], quote[0]):
            return found
        found = text.find(quote, found + 1)
    return -1


def _find_parts(quote: str, text: str, *, has_numbers: bool) -> QuoteMatch | None:
    pieces = (normalise_markdown(piece, has_numbers=True).text for piece in _GAP.split(quote))
    parts = [part for part in map(_trim, pieces) if part]
    if not parts:
        return None
    plain = strip_markup(text, has_numbers=has_numbers)
    position = 0
    first = -1
    for part in parts:
        found = _find_whole(part, plain, position)
        if found < 0 and first < 0 and " " in part:  # a sentence may go on with what it began with there
            found = _find_whole(part[0].swapcase() + part[1:], plain, position)
        if found < 0:
            return None
        first = found if first < 0 else first
        position = found + len(part)
    offsets = normalise_markdown(text, has_numbers=has_numbers).offsets
    end = offsets[position - 1] + 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return QuoteMatch(offsets[first], end, is_exact=False)


def _trim(piece: str) -> str:
    """Return a piece of a quote without the marks at its ends; a minus stays with its number."""
    trimmed = piece.strip(_EDGE)
    return f"-{trimmed}" if trimmed[:1].isdigit() and f"-{trimmed}" in piece else trimmed


def _find_across_lines(quote: str, text: str) -> QuoteMatch | None:
    """Return where a quote stands in a text with words that a line break divides after a hyphen."""
    for joint in ("", "-"):
        match = _find_parts(quote, _BROKEN_WORD.sub(joint, text), has_numbers=True)
        if match is not None:
            bounds = [match.start, match.end - 1]
            for broken in _BROKEN_WORD.finditer(text):
                cut = broken.end() - broken.start() - len(joint)
                bounds = [one + cut if broken.start() + len(joint) <= one else one for one in bounds]
            return QuoteMatch(bounds[0], bounds[1] + 1, is_exact=False)
    return None


def _find_whole(part: str, text: str, start: int) -> int:
    """Return where `part` stands in `text` and neither begins nor ends inside a word, -1 where it does not.

    Pages that lost the borders of their cells glue words ("extensionFind the…"): some words may begin or end there.
    """
    is_long = part.count(" ") >= _GLUED_SPACES_MIN
    found = text.find(part, start)
    while found >= 0:
        end = found + len(part)
        edges = ((text[found - 1 : found], part[0]), (part[-1], text[end : end + 1]))
        if all((is_long and a.islower() and b.isupper()) or not _is_one_word(a, b) for a, b in edges):
            return found
        found = text.find(part, found + 1)
    return -1


def _is_one_word(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum() and not (_WITHOUT_SPACES.match(left) or _WITHOUT_SPACES.match(right))


_SPACES = re.compile(r"\s+")
_WORD_OR_SPACE = re.compile(r"(?P<word>\S+)|\s+")


@lru_cache(maxsize=256)
def normalise_markdown(text: str, *, has_numbers: bool = False) -> _NormalisedText:
    """Return `text` without marks and with single spaces, and where each of its characters came from.

    Args:
        text: Markdown.
        has_numbers: Whether a number at the start of a line stays, as in a date that a line break divides; else it is
            taken for one of a list.
    """
    alike = text.translate(_ALIKE)
    characters: list[str] = []
    offsets = array("Q")
    position = 0
    for match in _MARK.finditer(alike):
        if has_numbers and match.lastgroup == "number":
            continue
        _append(alike[position : match.start()], position, characters, offsets)
        if match.lastgroup in ("break", "entity"):
            _append(_read_mark(match, has_numbers=False), match.start(), characters, offsets)
        position = match.end()
    _append(alike[position:], position, characters, offsets)
    return _NormalisedText("".join(characters), offsets)


@lru_cache(maxsize=256)
def strip_markup(text: str, *, has_numbers: bool) -> str:
    """Return the text that `normalise` returns, in half of the time: most quotes stand in few of the texts."""
    alike = text.translate(_ALIKE)
    plain = _SPACES.sub(" ", _MARK.sub(partial(_read_mark, has_numbers=has_numbers), alike))
    return normalise_markdown(text, has_numbers=has_numbers).text if _JOINED.search(plain) else plain


def _read_mark(mark: re.Match[str], *, has_numbers: bool) -> str:
    """Return what a mark stands for, most for nothing."""
    match mark.lastgroup:
        case "break":
            return " "
        case "entity":
            return _ENTITIES.get(mark.group(), "")
        case "number" if has_numbers:
            return mark.group()
        case _:
            return ""


def _append(text: str, start: int, characters: list[str], offsets: array[int]) -> None:
    """Add words as they are, and one space for each run of white space."""
    for part in _WORD_OR_SPACE.finditer(text):
        begin = start + part.start()
        word = part.group()
        if part.lastgroup == "word" and _JOINED.search(word):
            for piece, offset in _compose(word):
                characters.append(piece)
                offsets.extend([begin + offset] * len(piece))
        elif part.lastgroup == "word":
            characters.append(word)
            offsets.extend(range(begin, start + part.end()))
        elif not (characters and characters[-1] == " "):
            characters.append(" ")
            offsets.append(begin)


def _compose(word: str) -> Iterator[tuple[str, int]]:
    """Yield each letter of a word in one piece with its accents, a ligature as its letters, and where it stands."""
    begin = 0
    for end in range(1, len(word) + 1):
        if end == len(word) or not unicodedata.combining(word[end]):
            letter = word[begin:end]
            yield unicodedata.normalize("NFKC" if "\ufb00" <= letter[0] <= "\ufb06" else "NFC", letter), begin
            begin = end
