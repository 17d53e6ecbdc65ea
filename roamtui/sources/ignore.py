"""The patterns of ``.gitignore`` files: which paths they take out of a folder, as git has it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from roamtui.errors import SourceError
from roamtui.sources.decode import decode_text

_FILE_NAME = ".gitignore"
_BYTES_MAX = 1_000_000


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of one ``.gitignore``, and of those in the folders above it."""

    patterns: tuple[GitIgnoreSpecPattern, ...] = ()
    depth: int = 0
    """Number of names from the top down to its folder."""
    above: IgnoreRules | None = None

    def is_ignored(self, path: tuple[str, ...], *, is_folder: bool) -> bool:
        """Return whether a path is taken out; whether a folder above it is, is asked before.

        Args:
            path: Names from the top of the outermost rules down.
            is_folder: Whether it is a folder.
        """
        inside = "/".join(path[self.depth :]) + "/" * is_folder
        for pattern in reversed(self.patterns):
            found = pattern.regex.search(inside) if pattern.regex is not None else None
            if found is not None and _is_about_end(found, inside):
                return bool(pattern.include)
        return self.above.is_ignored(path, is_folder=is_folder) if self.above is not None else False


def _is_about_end(found: re.Match[str], path: str) -> bool:
    """Return whether a pattern names a path itself, not a folder above it.

    pathspec lets a pattern for a folder decide on all in it, with that folder's slash as a group: with ``build`` and
    ``!docs`` it would take in ``docs/build``, which git leaves out.
    """
    return not any(found.groups()) or found.end(1) == len(path)


def read_rules(folder: Path, depth: int, above: IgnoreRules | None) -> IgnoreRules | None:
    """Return the rules that hold in a folder: its own over those above."""
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


def parse_patterns(text: str) -> tuple[GitIgnoreSpecPattern, ...]:
    """Return the patterns of a ``.gitignore``; lines that are none are passed over."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # brackets that `re` may read in another way one day
        return tuple(_read_patterns(text))


def _read_patterns(text: str) -> Iterator[GitIgnoreSpecPattern]:
    for line in text.split("\n"):
        with suppress(GitIgnorePatternError, re.error):
            yield GitIgnoreSpecPattern(line.rstrip("\r"))
