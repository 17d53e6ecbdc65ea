"""Find a quote in a text: first character by character, then without regard to white space, markup and typography."""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from roamtui.outline.spans import Bounds
from roamtui.quotes.numbers import divides_number

_ALIKE = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»″〝〞＂「」『』", '"'),
        **dict.fromkeys("‘’‚‛‹›′`´", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2009\u200a\u202f\u3000", " "),
        **dict(zip("，。：；！？（）", ",.:;!?()", strict=True)),
    }
)
_MARKUP = re.compile(
    # The lookahead lists every first character and saves two thirds of the time.
    r"(?=[\]\[!<\\&*`~\"' \t#>\-+\d_\u00ad\u200b-\u200d\ufeff|])(?:"
    r"(?P<break><br\s*/?>|\\(?=\s)|\||(?<=\d)(?:[*`~\[\]]+|</?su[bp]>)(?=\d))"  # between words, cells or numbers
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
_EDGE_LENGTH = 12
"""Number of characters to check on each side of an edge of a match. Without a digit there, it cannot cut a number."""
_DIGIT = re.compile(r"\d")
_BROKEN_WORD = re.compile("(?<=[^\\W\\d_])[-\u00ad\u2010][ \t]*(?:\r\n?|\n)[ \t]*(?=[^\\W\\d_])")
"""A word hyphenated at the end of a line, as in books and laws."""
_ACCENT_OR_LIGATURE = re.compile(r"[\u0300-\u036f\u3099\u309a\ufb00-\ufb06]")
"""Combining accents and ligatures, as in PDFs and in files of some systems."""
_GLUED_SPACES_MIN = 2
"""A match may start or end where a space is missing between two words, as in "extensionFind", only if the quoted words
contain at least this many spaces. Fewer words may be part of a name."""
_NEGATION = re.compile(r"(?:n[o']t|non|\bno|never|without|\bun|\bdis)\Z", re.IGNORECASE)
"""The end of a word that reverses the meaning of the next one, as in ``isNotAllowed``."""
_LENGTH_MIN = 2
"""Minimum number of letters and digits. A shorter quote proves nothing, unless it has many signs."""
_SIGNS_MIN = 5
"""Minimum length of a quote with fewer letters and digits, such as "(b) [***]". The text must have it exactly."""
_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of scripts without spaces between words."""


@dataclass(frozen=True, slots=True)
class _NormalisedText:
    text: str
    offsets: array[int]
    """Offset in the original text, for each character."""


def find_quote(quote: str, text: str) -> Bounds | None:
    """Return the bounds of a quote in a text, or None if the text does not contain it.

    An ellipsis may omit words of one sentence, list item or table row. A match must not start or end inside a number,
    because that is a different number, nor start inside a word, which may mean the opposite ("legal" in "illegal").
    """
    has_words = sum(character.isalnum() for character in quote) >= _LENGTH_MIN
    if not has_words and len("".join(quote.split())) < _SIGNS_MIN:
        return None
    start = _find_exact(quote, text)
    if start >= 0:
        return start, start + len(quote)
    if not has_words:
        return None
    bounds = _find_parts(quote, text)
    return _find_across_lines(quote, text) if bounds is None and _BROKEN_WORD.search(text) else bounds


def _find_exact(quote: str, text: str) -> int:
    start = text.find(quote)
    while start >= 0:
        end = start + len(quote)
        is_unit = (  # as in 5m; text from PDF may lack spaces: "2020The"
            quote[-1].isdigit() and _is_one_word(quote[-1], text[end : end + 1]) and not _is_glued(text, end)
        )
        is_cut = _is_one_word(text[start - 1 : start], quote[0]) or is_unit
        if not is_cut and not divides_number(text, start, end):
            return start
        start = text.find(quote, start + 1)
    return -1


@dataclass(frozen=True, slots=True)
class _NormalisedSearch:
    """Searches a normalised text. Its offsets are computed only if a match needs them, because that is slow."""

    text: str

    @property
    def plain(self) -> str:
        return strip_markup(self.text)

    @property
    def offsets(self) -> array[int]:
        return normalise_markdown(self.text).offsets

    def find(self, part: str, start: int = 0, stop: int | None = None) -> int:
        """Return the offset of `part` in the plain text, or -1. A match must not start or end inside a word or number.

        A long match may also start or end where a page without cell borders glues words ("extensionFind the…").
        """
        plain = self.plain
        is_long = part.count(" ") >= _GLUED_SPACES_MIN
        index = plain.find(part, start, stop)
        while index >= 0:
            end = index + len(part)
            if all(
                not _is_one_word(plain[edge - 1 : edge], plain[edge : edge + 1]) or (is_long and _is_glued(plain, edge))
                for edge in (index, end)
            ):
                neighbourhoods = (plain[max(0, edge - _EDGE_LENGTH) : edge + _EDGE_LENGTH] for edge in (index, end))
                # Most matches have no digits near their edges. Only the others need the offsets, which are slow.
                if not any(map(_DIGIT.search, neighbourhoods)):
                    return index
                if not divides_number(self.text, self.offsets[index], self.offsets[end - 1] + 1):
                    return index
            index = plain.find(part, index + 1, stop)
        return -1

    def find_parts(self, parts: Sequence[str]) -> Bounds | None:
        """Return the bounds of parts in the plain text if each starts in the sentence where the previous part ends."""
        position = 0
        for part in parts:  # most quotes already fail this cheap test
            position = self.plain.find(part, position) + len(part)
            if position < len(part):
                return None
        first = self.find(parts[0])
        while first >= 0:
            position = first + len(parts[0])
            if len(parts) == 1:
                return first, position
            first_sentence_end = sentence_end = self._find_sentence_end(position - 1)
            for part in parts[1:]:
                gap = GAP.match(self.plain, position)  # an ellipsis of the text itself omits nothing
                last_start = max(sentence_end - 1, gap.end() if gap else 0)
                start = self.find(part, position, last_start + len(part))
                if start < 0:
                    break
                position = start + len(part)
                sentence_end = self._find_sentence_end(position - 1)
            else:
                return first, position
            # an earlier match would end in the same sentence
            first = self.find(parts[0], max(first + 1, first_sentence_end - len(parts[0]) + 1))
        return None

    def _find_sentence_end(self, index: int) -> int:
        """Return the end of a character's sentence in the plain text, or of its line if it is in no sentence."""
        from roamtui.search.sentences import find_sentence_end  # noqa: PLC0415 - imports the Markdown parser

        offset = self.offsets[index]
        end = find_sentence_end(self.text, offset) or self.text.find("\n", offset)
        return len(self.offsets) if end < 0 else bisect_left(self.offsets, end)


def _find_parts(quote: str, text: str) -> Bounds | None:
    whole = _SHORTENED_TARGET.sub("", quote) if "](" in quote else quote
    pieces = (normalise_markdown(piece).text for piece in GAP.split(whole))
    # marks at the ends of a piece do not count, but a sign or a point belongs to its number
    parts = [part for piece in pieces if (part := _LEADING.sub("", piece).rstrip(_EDGE))]
    spellings = [parts] if parts else []
    if parts and " " in parts[0]:  # the first word may be quoted from, or put, inside a sentence
        other_spelling = parts[0][0].swapcase() + parts[0][1:]
        if other_spelling != parts[0]:
            spellings.append([other_spelling, *parts[1:]])
    search = _NormalisedSearch(text)
    bounds = next(filter(None, map(search.find_parts, spellings)), None)
    if bounds is None:
        return None
    end = search.offsets[bounds[1] - 1] + 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return search.offsets[bounds[0]], end


def _find_across_lines(quote: str, text: str) -> Bounds | None:
    """Find a quote in a text with words hyphenated at the ends of lines."""
    for joint in ("", "-"):
        match = _find_parts(quote, _BROKEN_WORD.sub(joint, text))
        if match is None:
            continue
        start, last = match[0], match[1] - 1
        for broken in _BROKEN_WORD.finditer(text):
            cut = broken.end() - broken.start() - len(joint)
            start, last = (bound + cut if broken.start() + len(joint) <= bound else bound for bound in (start, last))
        return start, last + 1
    return None


def _is_glued(text: str, position: int) -> bool:
    """Return whether two words, or a number and a word, meet here without a space: "extensionFind", "2020The"."""
    before, after = text[position - 1 : position], text[position : position + 2]
    is_edge = after[:1].isupper() and (before.islower() or (before.isalnum() and after[1:].islower()))
    return is_edge and not _NEGATION.search(text, max(0, position - 8), position)


def _is_one_word(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum() and not (_WITHOUT_SPACES.match(left) or _WITHOUT_SPACES.match(right))


_SPACES = re.compile(r"\s+")
_WORD_OR_SPACE = re.compile(r"(?P<word>\S+)|\s+")


@lru_cache(maxsize=256)
def normalise_markdown(text: str) -> _NormalisedText:
    """Remove markup, collapse white space, and unify characters that look alike, such as dashes.

    A number at the start of a line stays, because it may be part of a date that spans two lines.
    """
    alike = text.translate(_ALIKE)
    characters: list[str] = []
    offsets = array("Q")
    position = 0
    for match in _MARKUP.finditer(alike):
        _append(alike[position : match.start()], position, characters, offsets)
        if match.lastgroup in ("break", "entity"):
            _append(_replace_markup(match), match.start(), characters, offsets)
        position = match.end()
    _append(alike[position:], position, characters, offsets)
    return _NormalisedText("".join(characters), offsets)


@lru_cache(maxsize=256)
def strip_markup(text: str) -> str:
    """Return the text of `normalise_markdown` without its offsets, in half the time.

    Few texts contain a given quote, and only those need offsets.
    """
    alike = text.translate(_ALIKE)
    plain = _SPACES.sub(" ", _MARKUP.sub(_replace_markup, alike))
    return normalise_markdown(text).text if _ACCENT_OR_LIGATURE.search(plain) else plain


def _replace_markup(mark: re.Match[str]) -> str:
    match mark.lastgroup:
        case "break":
            return " "
        case "entity":
            return _ENTITIES.get(mark.group(), "")
        case _:
            return ""


def _append(text: str, start: int, characters: list[str], offsets: array[int]) -> None:
    """Append words with their offsets, and one space for each run of white space."""
    for part in _WORD_OR_SPACE.finditer(text):
        begin = start + part.start()
        word = part.group()
        if part.lastgroup != "word":
            if not (characters and characters[-1] == " "):
                characters.append(" ")
                offsets.append(begin)
        elif _ACCENT_OR_LIGATURE.search(word):
            first = 0
            for end in range(1, len(word) + 1):  # join a letter and its accents, split a ligature into letters
                if end == len(word) or not unicodedata.combining(word[end]):
                    is_ligature = "\ufb00" <= word[first] <= "\ufb06"
                    piece = unicodedata.normalize("NFKC" if is_ligature else "NFC", word[first:end])
                    characters.append(piece)
                    offsets.extend([begin + first] * len(piece))
                    first = end
        else:
            characters.append(word)
            offsets.extend(range(begin, start + part.end()))
