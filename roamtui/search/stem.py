"""Porter's stemmer (1980), in the form that SQLite's FTS5 has: Python must agree with the index on every word."""

from __future__ import annotations

from functools import lru_cache

_LENGTH_MAX = 64
"""FTS5 leaves longer tokens as they are."""

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "logi": "log", "bli": "ble",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate",
    "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {"ical": "ic", "ness": "", "icate": "ic", "iciti": "ic", "ful": "", "ative": "", "alize": "al"}
_STEP_4 = dict.fromkeys(
    (
        "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
        "iti", "ous", "ive", "ize",
    ),
    "",
)  # fmt: skip


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; what is no English word comes back much as it was."""
    if not 2 < len(word) <= _LENGTH_MAX:
        return word
    word = _strip_plural(word)
    word = _strip_past(word)
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replace_suffix(word, _STEP_2, 1)
    word = _replace_suffix(word, _STEP_3, 1)
    word = _replace_suffix(word, _STEP_4, 2)
    return _strip_final(word)


def _shape(word: str) -> str:
    """Return ``v`` for each vowel and ``c`` for each other character; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if is_vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Return Porter's *m*: how often a consonant follows a vowel."""
    return _shape(word).count("vc")


def _is_short_syllable(word: str) -> bool:
    """Whether `word` ends consonant, vowel, consonant, the last of them not w, x or y."""
    return word[-1] not in "wxy" and _shape(word)[-3:] == "cvc"


def _strip_plural(word: str) -> str:
    if (word.endswith("sses") and len(word) > 4) or (word.endswith("ies") and len(word) > 3):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _strip_past(word: str) -> str:
    if word.endswith("eed") and len(word) > 3:
        return word[:-1] if _measure(word[:-3]) > 0 else word
    suffix = next((s for s in ("ed", "ing") if word.endswith(s)), "")
    if not suffix or "v" not in _shape(word[: -len(suffix)]):
        return word
    word = word[: -len(suffix)]
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _is_short_syllable(word) else word


def _replace_suffix(word: str, rules: dict[str, str], measure_min: int) -> str:
    """Replace the longest suffix that `rules` know, if what stands before it is long enough."""
    for length in range(min(7, len(word) - 1), 1, -1):
        suffix = word[-length:]
        if suffix in rules:
            rest = word[:-length]
            is_long = _measure(rest) >= measure_min and (suffix != "ion" or rest.endswith(("s", "t")))
            return rest + rules[suffix] if is_long else word
    return word


def _strip_final(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _is_short_syllable(rest)):
            word = rest
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word
