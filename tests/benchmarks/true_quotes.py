"""True quotes of a document, spelled as models spell them: without markup, with straight marks, on one line."""

import random
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from tests.quotes.visible_text import UNSHOWN, UNSPACED, Part, Unit

_KINDS = ("sentence", "part", "ellipsis", "neighbours", "item", "cell", "row", "code", "heading")
NEGATIONS = re.compile(
    r"\b(?:not|no|nor|never|none|cannot|without|except|unless|only|nicht|nie|niemals|ohne|außer|nur|kein\w*)\b|n't\b",
    re.IGNORECASE,
)
_LENGTH_MAX = 400
_SENTENCE_END = re.compile(r"(?<=[^\s.][^\s.][.!?])\s+(?=[A-ZÄÖÜ])")
_INNER_END = re.compile(r"[.!?:;…]\s|[。！？]")
"""Where a sentence may end: a quote with an ellipsis is true without doubt only if none is in what it leaves out."""
_UNCLEAR = re.compile(rf"…|\.\.|{UNSHOWN}|\$(?![\s\d(.])|\\[(\[]|\[\[|\]\[")
"""An ellipsis, a picture, a formula, or a link without a target: models spell these in different ways."""
_NUMBER_SIGN = re.compile(r"[\d%‰°$€£¥()+±−×.,¼-¾⁰-⁹]")
"""What may be a part of the number on its other side."""
_STRAIGHT = str.maketrans({**dict.fromkeys("“”„«»", '"'), **dict.fromkeys("‘’‚", "'"), "\u00a0": " ", "\u202f": " "})
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_GAPS = (" … ", " ... ", " [...] ", " […] ")


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote that stands in a part of a document."""

    kind: str
    text: str
    part: Part
    unit: int
    """Index of the unit in which it begins."""


def spell(text: str, chance: random.Random) -> str:
    """Spell words as a model would."""
    text = _UNSEEN.sub("", text.translate(_STRAIGHT))
    text = "".join(unicodedata.normalize("NFKC", each) if "ﬀ" <= each <= "ﬆ" else each for each in text)
    return " ".join((text.replace("–", "-") if chance.random() < 0.5 else text).split())


def split_sentences(text: str) -> list[str]:
    """Divide a paragraph where a full stop stands before a capital letter."""
    return _SENTENCE_END.split(text)


def draw_true_quotes(parts: Sequence[Part], count: int, chance: random.Random) -> list[Quote]:
    """Draw quotes of all kinds that a document has, as many of each as there are, up to a number of quotes."""
    pools: dict[str, list[Quote]] = {kind: [] for kind in _KINDS}
    for part in parts:
        for quote in _list_quotes(part, chance):
            is_clear = not _UNCLEAR.search(quote.text) or quote.kind == "ellipsis"
            if is_clear and len(quote.text) <= _LENGTH_MAX and sum(map(str.isalnum, quote.text)) > 2:
                pools[quote.kind].append(quote)
    for pool in pools.values():
        chance.shuffle(pool)
    drawn: dict[str, Quote] = {}
    while len(drawn) < count and any(pools.values()):
        for pool in filter(None, pools.values()):
            quote = pool.pop()
            drawn.setdefault(quote.text, quote)
    return [*drawn.values()][:count]


def _list_quotes(part: Part, chance: random.Random) -> Iterator[Quote]:
    for index, unit in enumerate(part.units):
        if unit.kind != "prose":
            yield Quote(unit.kind, spell(unit.text, chance), part, index)
        if unit.kind in ("prose", "item"):
            for kind, text in _list_phrases(unit, chance):
                yield Quote(kind, spell(text, chance), part, index)
    for start, cells in part.list_rows():
        texts = [spell(cell.text, chance) for cell in cells]
        yield Quote("row", join_cells(texts), part, start)
    for kind, group in groupby(enumerate(part.units), key=lambda pair: pair[1].kind):
        if kind == "item":
            for (index, one), (_, other) in pairwise(group):
                yield Quote("neighbours", spell(f"{one.text} {other.text}", chance), part, index)


def join_cells(texts: Sequence[str]) -> str:
    """Write cells side by side, with a bar between them if two could read as one number."""
    is_number = any(_NUMBER_SIGN.match(one[-1]) and _NUMBER_SIGN.match(other[0]) for one, other in pairwise(texts))
    return (" | " if is_number else " ").join(texts)


def _can_cut(words: Sequence[str], *edges: int) -> bool:
    """Tell whether no number stands at any place between two words where a quote is to begin or end."""
    return not any(
        _NUMBER_SIGN.match(words[edge - 1][-1]) or _NUMBER_SIGN.match(words[edge][0])
        for edge in edges
        if 0 < edge < len(words)
    )


def _list_phrases(unit: Unit, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield whole sentences, parts of them, neighbours, and sentences with an ellipsis, each with its kind."""
    sentences = split_sentences(unit.text)
    if unit.kind == "prose":
        yield from (("sentence", sentence) for sentence in sentences)
    yield from (("neighbours", f"{one} {other}") for one, other in pairwise(sentences))
    for sentence in sentences:
        words = sentence.split(" ")
        if len(words) < 9 or _UNCLEAR.search(sentence):
            continue
        start = chance.randrange(len(words) - 5)
        end = start + chance.randint(4, 12)
        if _can_cut(words, start, end):
            yield "part", " ".join(words[start:end])
        first, last = chance.randint(2, 4), chance.randint(2, 4)
        omitted = " ".join(words[first:-last])
        has_end = _INNER_END.search(" ".join(words[:-1]) + " ")
        # a word in brackets or code may hide an end of its own
        is_plain = not re.search(f'[()\\[\\]"“”`/|{UNSPACED}]', sentence)
        is_whole = _can_cut(words, first, len(words) - last) and not NEGATIONS.search(omitted)
        if len(words) > 10 and is_plain and is_whole and not has_end:
            yield "ellipsis", " ".join(words[:first]) + chance.choice(_GAPS) + " ".join(words[-last:])
