"""The patterns of ``.gitignore`` files: which paths they take out of a folder.

As git reads them: the last pattern that matches decides, ``!`` takes back, a slash inside ties a pattern to its folder,
one at the end means folders alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from roamtui.errors import SourceError
from roamtui.sources.decode import decode_text

if TYPE_CHECKING:
    from pathlib import Path

_FILE_NAME = ".gitignore"
_BYTES_MAX = 1_000_000
_TRAILING_SPACES = re.compile(r"(?<!\\)((?:\\\\)*) +\Z")
_CLASS = re.compile(r"\[([!^]?)(\]?(?:\\.|\[:[a-z]+:\]|[^\]\\])*)\]")
_NOTHING = "(?!)"
"""Matches nothing, as git's own reading of a bracket that is never closed."""
_NAMED_CLASS = re.compile(r"\[:([a-z]+):\]")
_NAMED_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "lower": "a-z",
    "upper": "A-Z",
    "space": r"\s",
}


@dataclass(frozen=True, slots=True)
class _Pattern:
    regex: re.Pattern[str]
    is_negated: bool
    is_for_folders: bool


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of one ``.gitignore``, and of those in the folders above it."""

    patterns: tuple[_Pattern, ...] = ()
    depth: int = 0
    """Number of names from the top down to its folder."""
    above: IgnoreRules | None = None

    def is_ignored(self, path: tuple[str, ...], *, is_folder: bool) -> bool:
        """Return whether a path is taken out; whether a folder above it is, is asked before.

        Args:
            path: Names from the top of the outermost rules down.
            is_folder: Whether it is a folder.
        """
        inside = "/".join(path[self.depth :])
        for pattern in reversed(self.patterns):
            if (is_folder or not pattern.is_for_folders) and pattern.regex.fullmatch(inside):
                return not pattern.is_negated
        return self.above.is_ignored(path, is_folder=is_folder) if self.above is not None else False


def read_rules(folder: Path, depth: int, above: IgnoreRules | None) -> IgnoreRules | None:
    """Return the rules that hold in a folder: its own over those above.

    Args:
        folder: Where a ``.gitignore`` may lie; one that cannot be read counts for nothing.
        depth: Number of names from the top down to it.
        above: Rules of the folders above.
    """
    path = folder / _FILE_NAME
    try:
        if not path.is_file() or path.stat().st_size > _BYTES_MAX:
            return above
        text, _ = decode_text(path.read_bytes(), _FILE_NAME)
    except (OSError, SourceError):
        return above
    return IgnoreRules(parse_patterns(text), depth, above)


def find_outer_rules(folder: Path) -> tuple[tuple[str, ...], IgnoreRules | None]:
    """Return the names from the top of the git checkout down to `folder`, and the rules of the folders above it.

    Where these take out `folder` itself, which a person named, or where there is no checkout, there are none.
    """
    top = next((above for above in (folder, *folder.parents) if (above / ".git").exists()), None)
    if top is None or top == folder:
        return (), None
    names = folder.relative_to(top).parts
    rules: IgnoreRules | None = None
    for depth in range(len(names)):
        rules = read_rules(top.joinpath(*names[:depth]), depth, rules)
        if rules is not None and rules.is_ignored(names[: depth + 1], is_folder=True):
            return (), None
    return names, rules


def parse_patterns(text: str) -> tuple[_Pattern, ...]:
    """Return the patterns of a ``.gitignore``, in order; lines that are none are passed over."""
    return tuple(pattern for line in text.split("\n") if (pattern := _parse_line(line.rstrip("\r"))) is not None)


def _parse_line(line: str) -> _Pattern | None:
    body = _TRAILING_SPACES.sub(r"\1", line)
    if not body or body.startswith("#"):
        return None
    is_negated = body.startswith("!")
    body = body[1:] if is_negated else body
    is_for_folders = body.endswith("/")
    body = body[:-1] if is_for_folders else body
    if not body or (body.endswith("\\") and not body.endswith("\\\\")):
        return None
    source = _translate(body)
    if source is None:
        return None
    return _Pattern(source, is_negated, is_for_folders)


@lru_cache(maxsize=1024)
def _translate(body: str) -> re.Pattern[str] | None:
    """Return the expression for paths from the pattern's folder down."""
    if "/" not in body:
        body = f"**/{body}"
    names = body.removeprefix("/").replace("\\/", "/").split("/")
    parts: list[str] = []
    for index, name in enumerate(names):
        is_last = index == len(names) - 1
        if name == "**":
            parts.append(".+" if is_last else "(?:[^/]+/)*")
        else:
            parts.append(_translate_name(name) + ("" if is_last else "/"))
    try:
        return re.compile("".join(parts), re.DOTALL)
    except re.error:
        return None


def _translate_name(name: str) -> str:
    parts: list[str] = []
    position = 0
    while position < len(name):
        sign = name[position]
        found = _CLASS.match(name, position) if sign == "[" else None
        if found is not None:
            parts.append(_translate_class(found.group(1), found.group(2)))
            position = found.end()
            continue
        if sign == "[":
            return _NOTHING
        if sign == "*":
            while name[position + 1 : position + 2] == "*":
                position += 1
            parts.append("[^/]*")
        elif sign == "?":
            parts.append("[^/]")
        elif sign == "\\" and position + 1 < len(name):
            position += 1
            parts.append(re.escape(name[position]))
        else:
            parts.append(re.escape(sign))
        position += 1
    return "".join(parts)


def _translate_class(negation: str, content: str) -> str:
    inside = _NAMED_CLASS.sub(lambda match: _NAMED_CLASSES.get(match.group(1), ""), content)
    escaped = re.sub(r"([\[&~|^])", r"\\\1", inside)
    if escaped.startswith("]"):
        escaped = "\\" + escaped
    return f"(?!/)[{'^' if negation else ''}{escaped}]"
