"""Looks a quote up in a text: as it stands, then with white space, Markdown marks and typographic signs made alike."""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from roamtui.agent.numbers import divides_number

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
    r"(?P<break><br\s*/?>|\\(?=\s)|\||(?<=\d)(?:[*`~\[\]]+|</?su[bp]>)(?=\d))"  # what divides words, cells and numbers
    r"|\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)"  # the target of a link
    r"|\]\[[^\]\n]*\]|!?\[\^[^\[\]\n]+\]|!(?=\[)|[\[\]]"  # a reference, a footnote, brackets
    r"|</?(?:a|b|code|em|i|kbd|mark|small|span|strong|sub|sup|u)\b[^<>\n]*>"
    r"|(?P<entity>&(?:amp|lt|gt|quot|nbsp|#39);)"
    r"|\\(?=[!-/:-@\[-`{-~])"  # an escape
    r"|\*+|`+|~~|\"|'"  # emphasis, code, quotation marks
    r"|(?:(?<=[\n\r])|\A)(?:[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-+][ \t]+))+"  # marks at the start of a line
    r"|(?P<number>(?:(?<=[\n\r])|\A)[ \t>]*\d{1,9}[.)][ \t]+)"
    r"|(?<![^\W_])(?<![^\W_]\\)_+|_+(?![^\W_])"  # underscores that are no part of a word, escaped or not
    r"|[\u00ad\u200b-\u200d\ufeff]"  # what cannot be seen
    r"|(?<=\d) (?=[%‰°]))"  # some languages set a space there
)
_NUMBERED = re.compile(r"(?:\A|(?<![\s>])(?:[^\S\n\r]|>)*+[\n\r])[\s>]*+\d")
"""What stands before a number of a list, and elsewhere too."""
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": " "}
GAP = re.compile(r"(?:(?<!\s)\s++)?(?:\[(?:…|\.{3})\]|…|\.{3,4})\s*+")
"""An ellipsis, which leaves out words."""
_EDGE = " \t\n.,;:!?-\\"
_LEADING = re.compile(r"\A(?:(?!-?(?:[$¢-¥₠-⃀] ?-?)?\.?\d)[ \t\n.,;:!?\\-])+")
_EDGE_LENGTH = 12
"""Characters on each side of a piece within which a number has a digit that the piece might divide."""
_DIGIT = re.compile(r"\d")
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
    is_joined: bool = False
    """Whether an ellipsis leaves out more than words of one sentence: the text may say nothing of the kind."""


@dataclass(frozen=True, slots=True)
class _NormalisedText:
    text: str
    offsets: array[int]
    """Offset in the original of each character of `text`."""


def find_quote(quote: str, text: str) -> QuoteMatch | None:
    """Return where a text says what `quote` says, None where it does not.

    A quote with an ellipsis leaves out words of one sentence, list item or table row. A quote that would begin or end
    inside a number is another number, and one that would begin inside a word can say the opposite ("legal" of
    "illegal"), so these are not found.
    """
    match = find_quoted_words(quote, text)
    return match if match is not None and not match.is_joined else None


def find_quoted_words(quote: str, text: str) -> QuoteMatch | None:
    """Return where the words of a quote stand, also where an ellipsis joins several sentences, which proves nothing."""
    if sum(character.isalnum() for character in quote) < _LENGTH_MIN:
        return None
    start = _find_exact(quote, text)
    if start >= 0:
        return QuoteMatch(start, start + len(quote), is_exact=True)
    joined: QuoteMatch | None = None
    for has_numbers in (True, False) if _NUMBERED.search(text) else (True,):
        match = _find_parts(quote, text, has_numbers=has_numbers)
        if match is not None and not match.is_joined:
            return match
        joined = joined or match
    match = _find_across_lines(quote, text) if _BROKEN_WORD.search(text) else None
    return joined if joined is not None and (match is None or match.is_joined) else match


def _find_exact(quote: str, text: str) -> int:
    found = text.find(quote)
    while found >= 0:
        end = found + len(quote)
        is_cut = _is_one_word(text[found - 1 : found], quote[0]) or _is_suffixed(quote[-1], text[end : end + 2])
        if not is_cut and not divides_number(text, found, end):
            return found
        found = text.find(quote, found + 1)
    return -1


def _is_suffixed(last: str, following: str) -> bool:
    """Return whether letters belong to a number before them, as in 5m; in a torn page a word may follow ("2020The")."""
    is_word = following[:1].isupper() and following[1:].islower()
    return last.isdigit() and _is_one_word(last, following[:1]) and not is_word


@dataclass(frozen=True, slots=True)
class _Searched:
    """A text in which quotes are looked up by words, and where these stand in it."""

    text: str
    has_numbers: bool

    @property
    def plain(self) -> str:
        return strip_markup(self.text, has_numbers=self.has_numbers)

    @property
    def offsets(self) -> array[int]:
        return normalise_markdown(self.text, has_numbers=self.has_numbers).offsets

    def find(self, part: str, start: int = 0, stop: int | None = None) -> int:
        """Return where `part` stands in the plain text, neither beginning nor ending inside a word or number, else -1.

        Pages that lost the borders of their cells glue words ("extensionFind the…"): some words may begin or end there.
        """
        plain = self.plain
        is_long = part.count(" ") >= _GLUED_SPACES_MIN
        found = plain.find(part, start, stop)
        while found >= 0:
            end = found + len(part)
            edges = ((plain[found - 1 : found], part[0]), (part[-1], plain[end : end + 1]))
            is_whole = all((is_long and a.islower() and b.isupper()) or not _is_one_word(a, b) for a, b in edges)
            if is_whole and not self._divides_number(found, end):
                return found
            found = plain.find(part, found + 1, stop)
        return -1

    def _divides_number(self, start: int, end: int) -> bool:
        if not any(
            _DIGIT.search(self.plain, max(0, edge - _EDGE_LENGTH), edge + _EDGE_LENGTH) for edge in (start, end)
        ):
            return False  # without the offsets, which take as long again
        return divides_number(self.text, self.offsets[start], self.offsets[end - 1] + 1)

    def find_all(self, parts: Sequence[str]) -> tuple[int, int] | None:
        """Return the bounds of parts that follow one another, whatever lies between them."""
        position = 0
        for part in parts if len(parts) > 1 else ():  # most quotes fail here, before it matters where numbers stand
            position = self.plain.find(part, position) + len(part)
            if position < len(part):
                return None
        first, position = -1, 0
        for part in parts:
            found = self.find(part, position)
            if found < 0:
                return None
            first = found if first < 0 else first
            position = found + len(part)
        return first, position

    def find_in_sentences(self, parts: Sequence[str]) -> tuple[int, int] | None:
        """Return the bounds of parts of which each begins in the sentence that the one before it ends in."""
        first = self.find(parts[0])
        while first >= 0:
            position = first + len(parts[0])
            limit = following = self._find_sentence_end(position - 1)
            for part in parts[1:]:
                own = GAP.match(self.plain, position)  # the text's own ellipsis leaves out nothing
                last = max(following - 1, own.end() if own else 0)
                found = self.find(part, position, last + len(part))
                if found < 0:
                    break
                position = found + len(part)
                following = self._find_sentence_end(position - 1)
            else:
                return first, position
            first = self.find(parts[0], max(first + 1, limit - len(parts[0]) + 1))  # earlier ones end in that sentence
        return None

    def _find_sentence_end(self, index: int) -> int:
        """Return where the sentence of a character ends in the plain text, its line where it is in none."""
        from roamtui.search.sentences import find_sentence_end  # noqa: PLC0415 - brings the Markdown parser

        offset = self.offsets[index]
        end = find_sentence_end(self.text, offset) or self.text.find("\n", offset)
        return len(self.offsets) if end < 0 else bisect_left(self.offsets, end)

    def match(self, bounds: tuple[int, int], *, is_joined: bool = False) -> QuoteMatch:
        """Return what stands at these bounds of the plain text."""
        end = self.offsets[bounds[1] - 1] + 1
        while end < len(self.text) and unicodedata.combining(self.text[end]):
            end += 1
        return QuoteMatch(self.offsets[bounds[0]], end, is_exact=False, is_joined=is_joined)


def _find_parts(quote: str, text: str, *, has_numbers: bool) -> QuoteMatch | None:
    pieces = (normalise_markdown(piece, has_numbers=True).text for piece in GAP.split(quote))
    parts = [part for part in map(_trim, pieces) if part]
    spellings = [parts] if parts else []
    if parts and " " in parts[0]:  # a sentence may go on with what it began with there
        spellings.append([parts[0][0].swapcase() + parts[0][1:], *parts[1:]])
    searched = _Searched(text, has_numbers)
    joined: QuoteMatch | None = None
    for parts in spellings:
        bounds = searched.find_all(parts)
        if bounds is not None and len(parts) > 1:
            joined = joined or searched.match(bounds, is_joined=True)
            bounds = searched.find_in_sentences(parts)
        if bounds is not None:
            return searched.match(bounds)
    return joined


def _trim(piece: str) -> str:
    """Return a piece of a quote without the marks at its ends; sign and point stay with their number."""
    return _LEADING.sub("", piece).rstrip(_EDGE)


def _find_across_lines(quote: str, text: str) -> QuoteMatch | None:
    """Return where a quote stands in a text with words that a line break divides after a hyphen."""
    joined: QuoteMatch | None = None
    for joint in ("", "-"):
        match = _find_parts(quote, _BROKEN_WORD.sub(joint, text), has_numbers=True)
        if match is None:
            continue
        bounds = [match.start, match.end - 1]
        for broken in _BROKEN_WORD.finditer(text):
            cut = broken.end() - broken.start() - len(joint)
            bounds = [one + cut if broken.start() + len(joint) <= one else one for one in bounds]
        match = replace(match, start=bounds[0], end=bounds[1] + 1)
        if not match.is_joined:
            return match
        joined = joined or match
    return joined


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
