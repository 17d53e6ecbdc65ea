"""Formats names of files for people, and joins several paths into one source name."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, count
from pathlib import Path
from urllib.parse import urlsplit

from roamtui.paths import abbreviate_home, expand_user, format_file_path
from roamtui.sanitiser import sanitise_line
from roamtui.sources.read import is_path

_NAMES_SHOWN_MAX = 3
_LIST_NAMES = frozenset({"llms.txt", "llms-full.txt"})
_PATH_SEPARATOR = re.compile(r", (?=~?/(?!/))" if os.sep == "/" else r", (?=(?:~|[A-Za-z]:)[\\/]|\\\\)")
"""Separator between paths that are absolute or begin with ``~``. If a path contains one, `join_sources`
doubles its slash, and the path still leads to the same file."""


def format_file_name(name: str) -> str:
    """Return a file name in which bytes that are not UTF-8 are escaped."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def format_file_names(names: list[str]) -> str:
    """List the first three names and how many more there are."""
    more = f" and {len(names) - _NAMES_SHOWN_MAX} more" if len(names) > _NAMES_SHOWN_MAX else ""
    return ", ".join(names[:_NAMES_SHOWN_MAX]) + more


def join_sources(paths: Iterable[str]) -> str:
    """Join absolute paths into one source name, which `split_sources` splits again."""
    return ", ".join(re.sub("(, ~?/)", r"\1/", re.sub("^//", "/", path)) for path in paths)


def split_sources(source: str) -> tuple[str, ...]:
    """Split a source name into paths. A URL or an existing path is not split."""
    is_single = not is_path(source) or os.path.lexists(source)
    return (source,) if is_single else tuple(_PATH_SEPARATOR.split(source))


def abbreviate_sources(source: str) -> str:
    """Write ``~`` for the home folder in each path of a source. `expand_sources` does the reverse."""
    return ", ".join(map(abbreviate_home, split_sources(source)))


def format_sources(source: str) -> str:
    """Shorten each path of a source for display; see `format_file_path`."""
    return ", ".join(map(format_file_path, split_sources(source)))


def expand_sources(source: str) -> str:
    """Return a source with the leading ``~`` of each path expanded."""
    return ", ".join(map(expand_user, split_sources(source)))


def make_short_name(name: str) -> str:
    """Make a short name, without slashes, for the `name` of a source."""
    if is_path(name):
        short = format_file_names([format_file_name(Path(path).name) or path for path in split_sources(name)])
    else:
        parts = urlsplit(name)
        last = parts.path.rstrip("/").rpartition("/")[2]
        short = last if last.strip(".") and last not in _LIST_NAMES else parts.netloc
    return re.sub(r"[/\\]", "_", sanitise_line(short) or sanitise_line(name))


def assign_keys(paths: Sequence[Path]) -> dict[str, Path]:
    """Return paths by key: the name, with the folder (and a number) if other paths have this name."""
    shared = Counter(path.name for path in paths)
    keys: dict[str, Path] = {}
    for path in paths:
        name = format_file_name(path.name)
        if shared[path.name] > 1:
            name = f"{name} ({format_file_name(path.parent.name)})"
        numbered = chain((name,), (f"{name} ({number})" for number in count(2)))
        keys[next(key for key in numbered if key not in keys)] = path
    return keys
