"""Where sentences end: the marks after a full stop, and the full stops of abbreviations.

Each reader of sentences has its own pattern for their ends: search also divides lines of a PDF, an answer has
marks after its full stops, a quote must not join sentences that lack a space between them, and in a text that
repeats itself, any full stop will do.
"""

import re

CLOSERS = r"[\"'”’»)\]」』*_]*+"
"""Pattern of the marks that may stand between the end of a sentence and the space after it."""
_ABBREVIATION_WORDS = """
al capt cf co corp dept dr e.g ed eds excl gen i.e inc incl jr lt ltd mr mrs ms mt prof reg resp sr st treas
vs viz bzw d.h ggf inkl u.a vgl z.b mme p.ej p.ex sra
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_WORDS.split())
"""Words without their full stop, which ends a sentence only before one of `_OPENERS`."""
_BEFORE_NUMBER_WORDS = "abs approx art arts ca ch eq fig figs no nos nr pp sec secs sect vol ziff"
_BEFORE_NUMBER = frozenset(_BEFORE_NUMBER_WORDS.split())
"""Words that are abbreviations before a number, but may end a sentence elsewhere."""
_OPENING_WORDS = """
all although an any as at because but by each for he however if in it its no on our she since such that the
their there these they this those to under we when while you das der die diese ein eine er es sie wenn wir
"""
_OPENERS = frozenset(_OPENING_WORDS.split())
"""Words that begin a sentence even after an abbreviation."""
_DOTTED = re.compile(r"(?![ap]\.m\b)(?:[^\W\d_]\.)+[^\W\d_]\Z")
"""Letters with full stops, as in `U.S.` or `L.L.C.`"""
_ORDINAL = re.compile(
    r"\b(?:am|ab|bis|das|dem|den|der|des|die|im|seit|vom|zum|zur)\s+\d{1,2}\Z", re.IGNORECASE
)
"""A German ordinal number, without its full stop."""
_LAST_WORD = re.compile(r"[\w.&]+$")
_WORD = re.compile(r"\w+")
_BEFORE_WORD = re.compile(r"[\s>*_\"'“‘(\[]*")


def is_abbreviation(text: str, start: int, stop: int, end: int) -> bool:
    """Return whether the full stop at `stop` belongs to the word or number before it.

    The sentence begins at `start`. `end` is the offset after the full stop and its closing marks.
    """
    last = _LAST_WORD.search(text, max(start, stop - 20), stop)
    word = last.group().lower() if last else ""
    if word in _BEFORE_NUMBER:
        following = _BEFORE_WORD.match(text, end)
        return following is not None and text[following.end() : following.end() + 1].isdigit()
    if word.isdigit() and last is not None:
        is_enumerator = not text[start : last.start()].strip()
        return bool(is_enumerator or _ORDINAL.search(text, start, stop))
    is_initial = len(word) == 1 and word.isalpha() and word != "i"
    if not (is_initial or word in _ABBREVIATIONS or _DOTTED.match(word)):
        return False
    opener = _WORD.search(text, end)
    return opener is None or opener.group().lower() not in _OPENERS
