"""The lists of `words.txt`, by which questions and answers are known in several languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_LISTS = re.compile(r"^== (.+)\n((?:(?!==).*\n)*)", re.MULTILINE)
_NAME = re.compile(r"<([a-z ]+)>")


@cache
def _read_lists() -> Mapping[str, tuple[str, ...]]:
    text = Path(__file__).with_suffix(".txt").read_text("utf-8")
    return {name: tuple(filter(None, lines.split("\n"))) for name, lines in _LISTS.findall(text)}


def list_lines(name: str) -> tuple[str, ...]:
    """Return the lines of a list."""
    return _read_lists()[name]


def list_words(name: str) -> tuple[str, ...]:
    """Return the words of a list."""
    return tuple(" ".join(list_lines(name)).split())


def make_pattern(name: str) -> str:
    """Return a list as alternatives of a pattern, with those that it names in it."""
    return _NAME.sub(lambda found: make_pattern(found[1]), "|".join(list_lines(name)))
