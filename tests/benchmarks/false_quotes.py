"""True quotes made false, in eleven ways."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from tests.benchmarks.true_quotes import NEGATIONS, Quote, join_cells, spell, split_sentences
from tests.quotes.visible_text import GAP, UNSHOWN, UNSPACED, Unit

_LETTER = rf"[^\W\d_⁰-₉¹²³{UNSPACED}]"
_LAST_LETTER = re.compile(rf"(?<={_LETTER}{_LETTER}){_LETTER}\W*\Z")
_FIRST_LETTER = re.compile(rf"\A\W*{_LETTER}(?={_LETTER}{_LETTER})")
_DIGIT = re.compile(r"[0-9]")
_NUMBER = re.compile(r"(?<![\w.])\d(?:[\d.,]*\d)(?!\w)")
_SIGN = re.compile(r"(?<![\w.,-])-?(?=[0-9])|(?<=[0-9])\.(?=[0-9])|(?<=\s)[<>=+≤≥](?=\s)")
"""A minus or its place, a decimal point, an operator."""
_OTHER_SIGNS = {"": "-", "-": "", ".": "", "<": ">", ">": "<", "=": "<", "+": "-", "≤": "≥", "≥": "≤"}
_WORD_BETWEEN = re.compile(rf"(?<=\w ){_LETTER}+ (?=\w)")
_TWO_WORDS = re.compile(rf"(?<![^\s])({_LETTER}+) ({_LETTER}+)(?![^\s.,;:])")
_NEIGHBOUR_DISTANCE_MIN = 3
"""Units between two quotes that are no neighbours: one of them may be empty but for a picture."""

Falsifier = Callable[[Quote, random.Random], str | None]
"""Makes a true quote false, or returns None if the quote does not allow it."""


def _cut_last_letter(quote: Quote, chance: random.Random) -> str | None:  # noqa: ARG001 - a falsifier
    last = _LAST_LETTER.search(quote.text)
    return quote.text[: last.start()] if last else None


def _cut_first_letter(quote: Quote, chance: random.Random) -> str | None:  # noqa: ARG001 - a falsifier
    first = _FIRST_LETTER.match(quote.text)
    return quote.text[first.end() :] if first else None


def _change_digit(quote: Quote, chance: random.Random) -> str | None:
    digits = [*_DIGIT.finditer(quote.text)]
    if not digits:
        return None
    digit = chance.choice(digits)
    other = (int(digit[0]) + chance.randint(1, 9)) % 10
    return f"{quote.text[: digit.start()]}{other}{quote.text[digit.end() :]}"


def _cut_number(quote: Quote, chance: random.Random) -> str | None:
    """End or begin the quote inside a number, where it would still have words."""
    numbers = [*_NUMBER.finditer(quote.text)]
    if not numbers:
        return None
    number = chance.choice(numbers)
    cut = chance.randint(number.start() + 1, number.end() - 1)
    sides = [quote.text[:cut].rstrip(".,"), quote.text[cut:].lstrip(".,")]
    long = [side for side in sides if sum(map(str.isalnum, side)) > 2 and not GAP.search(side)]
    return chance.choice(long) if long else None


def _change_sign(quote: Quote, chance: random.Random) -> str | None:
    signs = [*_SIGN.finditer(quote.text)]
    if not signs:
        return None
    sign = chance.choice(signs)
    return quote.text[: sign.start()] + _OTHER_SIGNS[sign[0]] + quote.text[sign.end() :]


def _drop(pattern: re.Pattern[str], quote: Quote, chance: random.Random) -> str | None:
    words = [*pattern.finditer(quote.text)]
    if not words:
        return None
    word = chance.choice(words)
    return quote.text[: word.start()] + quote.text[word.end() :]


def _drop_negation(quote: Quote, chance: random.Random) -> str | None:
    inner = [one for one in NEGATIONS.finditer(quote.text, 1) if quote.text[: one.start()].strip(" \"'(")]
    inner = [one for one in inner if re.match(r" *\w", quote.text[one.end() :])]
    if not inner or quote.kind == "ellipsis":
        return None
    word = chance.choice(inner)
    kept = "can" if word[0].lower() == "cannot" else ""
    return quote.text[: word.start()] + kept + quote.text[word.end() + (not kept) :]


def _swap_words(quote: Quote, chance: random.Random) -> str | None:
    pairs = [pair for pair in _TWO_WORDS.finditer(quote.text) if pair[1].lower() != pair[2].lower()]
    if not pairs:
        return None
    pair = chance.choice(pairs)
    return f"{quote.text[: pair.start()]}{pair[2]} {pair[1]}{quote.text[pair.end() :]}"


def _list_far_texts(quote: Quote, chance: random.Random) -> Iterator[str]:
    """Yield sentences, cells, rows or items like the quote that do not stand beside it."""
    units: Sequence[Unit] = quote.part.units
    if quote.kind == "row":
        rows = [*quote.part.list_rows()]
        here = next(number for number, (start, _) in enumerate(rows) if start == quote.unit)
        far = rows[: max(0, here - 2)] + rows[here + _NEIGHBOUR_DISTANCE_MIN :]
        yield from (join_cells([spell(cell.text, chance) for cell in cells]) for _, cells in far)
        return
    own = units[quote.unit]
    for index, unit in enumerate(units):
        is_far = abs(index - quote.unit) >= _NEIGHBOUR_DISTANCE_MIN and (unit.row != own.row or unit.kind != "cell")
        if is_far and unit.kind == own.kind and UNSHOWN not in unit.text and not GAP.search(unit.text):
            yield spell(split_sentences(unit.text)[-1], chance)


def _join_far(gap: str, quote: Quote, chance: random.Random) -> str | None:
    far = [text for text in _list_far_texts(quote, chance) if sum(map(str.isalnum, text)) > 2]
    return f"{quote.text}{gap}{chance.choice(far)}" if far and quote.kind != "ellipsis" else None


def _put_in_word(quote: Quote, chance: random.Random) -> str | None:
    section = quote.part.units[quote.unit].section
    others = [unit.text for unit in quote.part.units if unit.section != section]
    spaces = [*re.finditer(r"(?<=\w) (?=\w)", quote.text)]
    words = re.findall(rf"\b{_LETTER}{{4,}}\b", chance.choice(others)) if others else []
    if not spaces or not words:
        return None
    space = chance.choice(spaces)
    return f"{quote.text[: space.start()]} {chance.choice(words)}{quote.text[space.start() :]}"


FALSIFIERS: dict[str, Falsifier] = {
    "last letter cut": _cut_last_letter,
    "first letter cut": _cut_first_letter,
    "digit changed": _change_digit,
    "number cut": _cut_number,
    "sign changed": _change_sign,
    "word dropped": partial(_drop, _WORD_BETWEEN),
    "words swapped": _swap_words,
    "negation dropped": _drop_negation,
    "joined": partial(_join_far, " "),
    "joined with …": partial(_join_far, " … "),
    "word put in": _put_in_word,
}


def make_false(quote: Quote, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield the quote made false in each way that it allows, twice if there is a choice, with the name of the way."""
    for way, falsify in FALSIFIERS.items():
        for changed in {falsify(quote, chance): None, falsify(quote, chance): None}:
            if changed is not None and changed != quote.text and sum(map(str.isalnum, changed)) > 2:
                yield way, changed
