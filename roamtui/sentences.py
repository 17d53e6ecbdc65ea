"""Finds where sentences end. No other module decides this.

A text here is the visible text of one block, or its source: emphasis marks at the edge of a sentence do no
harm. A blank line or a forced line end ends a sentence too, unless the next line starts in lower case, as
after a page break.
"""

import re
from collections.abc import Iterator

from roamtui.text import Bounds

FILLER = "\ufffc"
"""Callers write it over each character of a mark that is not a word, such as the id of a source. After a full
stop, such a mark belongs to the sentence that ends there."""
HARD_BREAK = "\u2028"
"""A forced line end in visible text. In a source, it is written as two spaces before the end of the line."""
CLOSERS = r"[\"'”’»“‘«‹›)\]」』*_]*+"
"""Pattern of the marks that may be between the end of a sentence and the space after it."""
_NOTE = (
    r"\[\^[^\[\]\s]{1,100}\]|\[[^\[\]\s]{1,12}\]|\^\([^()\s]{1,12}\)|<sup>[^<>]*</sup>"
    r"|\^?\d{1,2}\^?(?![^\s\"'”’»)\]])|[¹²³⁰⁴-⁹]+"
)
"""The mark of a note after a full stop."""
_WIDE_STOPS = "。！？｡।॥؟۔։።။។‼⁇⁈⁉⸮"
"""Stops that no abbreviation has. So they end a sentence even if a letter follows directly."""
_MARK = rf"\s*{FILLER}++"
_END = re.compile(
    rf"""
    (?<![.!?…])                             # no match starts inside a row of full stops
    (?P<stops>
        (?:(?<![\s(\[])[.…]|[!?])[.!?…]*+
        (?>(?:[ \xa0][.!?…]++(?![^\W_]))*)  # full stops after a space leave words out
    )
    (?P<closers>{CLOSERS})
    (?P<notes>(?>(?:{_MARK}|{_NOTE})*))
    {CLOSERS}
    (?:(?=\s)|(?P<glued>(?=[^\W\d_])))      # the space between two sentences may be missing
    |(?P<wide>[{_WIDE_STOPS}]++[」』”’）】]*+(?>(?:{_MARK})*))
    |(?P<line>(?:\n[ \t>]*\n|[ ]{{2}}\n|{HARD_BREAK})\s*+)
    """,
    re.VERBOSE,
)
_STOPPED = re.compile(rf"[.!?…{_WIDE_STOPS}]{CLOSERS}\s*\Z")
_CONTINUATION = re.compile(r"[\s>*_\"'“‘«„]*(?!\w{1,4}[.)])(?=[^\W\d_])")
"""The start of a line that continues a sentence, if it is in lower case. The next item of a list does not."""
_OPENING = re.compile(r"[\s>*_\"'“‘«„‹「『(\[]*")
_LOOK = 40
"""Number of characters around a paragraph's end that tell whether its sentence continues."""
_PARENTHESIS_LENGTH_MAX = 300
"""A parenthesis that does not close within this many characters is ignored."""
_ABBREVIATION_WORDS = """
al capt cf co corp dept dr e.g ed eds excl gen i.e inc incl jr lt ltd mr mrs ms mt prof reg resp sr st treas
vs viz bzw d.h ggf inkl u.a vgl z.b mme p.ej p.ex sra
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_WORDS.split())
"""Abbreviations, without their full stop. It ends a sentence only before one of `_OPENERS`."""
_BEFORE_NUMBER_WORDS = "abs approx art arts ca eq fig figs no nos sec secs sect vol ziff"
_BEFORE_NUMBER = frozenset(_BEFORE_NUMBER_WORDS.split())
"""Words that are abbreviations before a number, but may end a sentence elsewhere."""
_CONSONANTS = re.compile(r"[b-df-hj-np-tv-xz]+")
"""A word without vowels is an abbreviation before a number: "cl. 4", "Nr. 5"."""
_NUMBER = re.compile(r"[ \xa0]\d")
"""If it follows a capitalised word with a full stop, the stop belongs to the word: "Jan. 5", "Sched. 3"."""
_OPENING_WORDS = """
all although an any as at because but by each for he however if in it its no on our she since such that the
their there these they this those to under we when while you das der die diese ein eine er es sie wenn wir
"""
_OPENERS = frozenset(_OPENING_WORDS.split())
"""Words that begin a sentence even after an abbreviation."""
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]\Z")
"""Letters with full stops, as in `U.S.` or `L.L.C.`"""
_TIMES = ("a.m", "p.m")
"""Times of day. Their last full stop may end a sentence too."""
_ORDINAL = re.compile(
    r"\b(?:am|ab|bis|das|dem|den|der|des|die|im|seit|vom|zum|zur)\s+\d{1,2}\Z", re.IGNORECASE
)
"""A German ordinal number, without its full stop."""
_BRACKET = re.compile(r"[()]")
_LAST_WORD = re.compile(r"[\w.&]+$")
_WORD = re.compile(r"\w+")
_WORD_LENGTH_MAX = 40
_LAST_LETTERS = re.compile(r"(?<![\w./@])[^\W\d_]{2,}\Z")
_FIRST_LETTERS = re.compile(r"[^\W\d_]+(?=[\s,;])")
"""With `_LAST_LETTERS`, the words of two sentences that lack the space between them, but not `System.IO`."""


def iter_sentence_ends(text: str) -> Iterator[int]:
    """Yield the offset after each sentence of a text but the last, before the space that follows."""
    start = position = depth = 0
    for match in _END.finditer(text):
        stop, end = match.span()
        for bracket in _BRACKET.findall(text, position, end):
            depth = max(0, depth + (1 if bracket == "(" else -1))
        position = end
        if depth > 0 and text.find(")", end, end + _PARENTHESIS_LENGTH_MAX) >= 0:
            continue
        opening = _OPENING.match(text, end)
        following = "" if opening is None else text[opening.end() : opening.end() + 1]
        if not following:
            continue
        if match["line"]:
            is_inside = continues_sentence(text[max(start, stop - _LOOK) : stop], text[end : end + _LOOK])
        else:
            is_inside = not match["wide"] and (following.islower() or _belongs_to_word(text, start, match))
        if is_inside:
            continue
        if not match["line"] or start < stop:
            yield stop if match["line"] else end
        start = end
        depth = 0


def continues_sentence(before: str, after: str) -> bool:
    """Return whether a paragraph continues the sentence of the one before, as after a page break."""
    opening = _CONTINUATION.match(after)
    return opening is not None and after[opening.end()].islower() and _STOPPED.search(before[-_LOOK:]) is None


def strip_full_stop(text: str) -> str:
    """Remove the full stop at the end of a text, unless it belongs to an abbreviation."""
    bare = text.removesuffix(".")
    last = _LAST_WORD.search(bare, max(0, len(bare) - _WORD_LENGTH_MAX))
    return text if last is not None and _has_full_stop(last[0].lower()) else bare


def widen_to_sentences(text: str, start: int, end: int) -> Bounds:
    """Return the bounds of the sentences that a part of a text touches."""
    first = 0
    last = len(text)
    for offset in iter_sentence_ends(text):
        if offset >= end:
            last = offset
            break
        if offset <= start:
            first = offset
    opening = len(text[first:last]) - len(text[first:last].lstrip())
    return first + opening, first + len(text[first:last].rstrip())


def _belongs_to_word(text: str, start: int, match: re.Match[str]) -> bool:
    """Return whether a stop does not end the sentence that begins at `start`, but belongs to a word."""
    stop = match.start()
    is_after_word = text[max(0, stop - 2) : stop].isalpha()
    if match["notes"][:1].isdecimal() and not is_after_word:
        return True  # 1.5, or A.1
    if match["glued"] is not None:
        last = _LAST_LETTERS.search(text, max(start, stop - _WORD_LENGTH_MAX), stop)
        first = _FIRST_LETTERS.match(text, match.end())
        return last is None or first is None or not (last[0].islower() and first[0][0].isupper())
    return match["stops"] == "." and _is_abbreviation(text, start, stop, match.end("closers"))


def _is_abbreviation(text: str, start: int, stop: int, end: int) -> bool:
    """Return whether the full stop at `stop` belongs to the word or number before it.

    The sentence begins at `start`. `end` is the offset after the full stop and its closing marks.
    """
    last = _LAST_WORD.search(text, max(start, stop - _WORD_LENGTH_MAX), stop)
    word = last.group().lower() if last else ""
    following = _OPENING.match(text, end)
    if last is not None and following is not None and text[following.end() : following.end() + 1].isdigit():
        is_short = word in _BEFORE_NUMBER or _CONSONANTS.fullmatch(word)
        if is_short or (last[0][0].isupper() and _NUMBER.match(text, stop + 1)):
            return True
    if word.isdigit() and last is not None:
        is_enumerator = _WORD.search(text, start, last.start()) is None
        return bool(is_enumerator or _ORDINAL.search(text, start, stop))
    is_initial = len(word) == 1 and word.isalpha() and word != "i"
    if word in _TIMES or not (is_initial or _has_full_stop(word)):
        return False
    opener = _WORD.search(text, end)
    return opener is None or opener.group().lower() not in _OPENERS


def _has_full_stop(word: str) -> bool:
    """Return whether a lower-case word, without its last full stop, is written with one."""
    return word in _ABBREVIATIONS or _DOTTED.match(word) is not None
