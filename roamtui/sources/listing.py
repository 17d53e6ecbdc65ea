"""`Listing`: the files of a folder, an archive or several sources; none is read before it is asked for.

Whether they were written, came or went is seen again and again at little cost.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from roamtui.errors import SourceError
from roamtui.sources.convert.conversion import SLOW_SUFFIXES
from roamtui.sources.decode import decode_text
from roamtui.sources.read import DOCUMENT_SUFFIXES, RawText, read_file

FILES_MAX = 20_000
"""Files of one source; more are left out with a note."""
FILE_BYTES_MAX = 32_000_000
"""A larger file is opened only by itself."""
DEPTH_MAX = 100
"""Folders within folders; what lies deeper is left out with a note."""

_SLOW_BYTES = 2_000_000
"""What a file counts for that another process has to convert."""
_DIGITS = re.compile(r"(\d+)", re.ASCII)
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
_FIRST_STEMS = {"readme": 0, "index": 1, "_index": 1}
_NAMED_MAX = 3
_IGNORE_NAME = ".gitignore"
_IGNORE_BYTES_MAX = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a source of many files holds."""

    source: str
    """What identifies it on this machine: an absolute path, or several."""
    name: str
    """A short name for people."""
    readers: Mapping[str, Callable[[], RawText]]
    """What reads each file, by its key, which is its path with forward slashes; raises SourceError where that cannot
    be. May be called from any thread. Files stand in the order in which people read them."""
    files: Mapping[str, Path]
    """Where each file lies on disk, by its key; of those in an archive, the archive."""
    bytes_total: int
    """Size of all files; one that takes long to convert counts as if it were larger."""
    notes: tuple[str, ...] = ()
    """What was left out, one sentence each."""
    folders: tuple[Path, ...] = ()
    """Folders that were walked; one that was written to may hold others."""

    def list_entries(self) -> Iterator[tuple[tuple[str, ...], bool]]:
        """Yield the names down to each file, after the folders that it lies in, and whether it is one of these."""
        tree: dict[str, dict[str, Any]] = {}
        for key in self.readers:
            level = tree
            for name in key.split("/"):
                level = level.setdefault(name, {})
        return _walk_tree(tree, ())


def _walk_tree(tree: dict[str, dict[str, Any]], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bool]]:
    for name, below in tree.items():
        yield (*above, name), bool(below)
        yield from _walk_tree(below, (*above, name))


def list_folder(folder: Path, *, kept_dir: Path | None = None) -> Listing:
    """Return what a folder holds for readers: its text documents, without hidden and ignored ones.

    Links to files inside are followed, links to folders are not: what they lead to is listed where it lies.
    """
    try:
        root = folder.resolve(strict=True)
        with os.scandir(root):
            pass
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SourceError(f"{folder} cannot be listed: {reason}. Name another folder, or a file.") from None
    walk = _FolderWalker(root)
    walk.enter(root, (), *read_inherited_rules(root))
    if not walk.files:
        raise SourceError(f"{folder} is a folder that holds no Markdown or text file. Name another folder, or a file.")
    files = {"/".join(shown): walk.files[shown] for shown in sort_paths(walk.files)}
    return Listing(
        source=os.path.abspath(folder),  # noqa: PTH100 - the name that the person gave, as for files
        name=format_name(root.name) or str(root),
        readers={key: partial(_read_listed, path, key, kept_dir) for key, path in files.items()},
        files=files,
        bytes_total=walk.bytes_total,
        notes=walk.notes(),
        folders=tuple(walk.folders),
    )


def _read_listed(path: Path, key: str, kept_dir: Path | None) -> RawText:
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    if size > FILE_BYTES_MAX:
        raise SourceError(f"{key} is larger than {FILE_BYTES_MAX // 1_000_000} MB. Open it by itself.")
    return read_file(path, kept_dir=kept_dir)


@dataclass(slots=True)
class _FolderWalker:
    """What a walk through a folder has found so far."""

    root: Path
    """Without links: what leads out of it is left out."""
    files: dict[tuple[str, ...], Path] = field(default_factory=dict)
    folders: list[Path] = field(default_factory=list)
    bytes_total: int = 0
    is_full: bool = False
    outside: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    too_deep: list[str] = field(default_factory=list)

    def enter(self, folder: Path, shown: tuple[str, ...], ruled: tuple[str, ...], rules: IgnoreRules) -> None:
        """Note the files of a folder and of those in it.

        Args:
            folder: Its path.
            shown: Names from the top of the source down to it.
            ruled: Names from the top of the outermost rules down to it.
            rules: Those of the folders above.
        """
        self.folders.append(folder)
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: make_sort_key(entry.name))
        except OSError:
            self.unreadable.append("/".join(shown))
            return
        rules = read_rules(folder, len(ruled), rules)
        for entry in entries:
            path, inner = (*shown, format_name(entry.name)), (*ruled, entry.name)
            if self.is_full:
                return
            if entry.is_dir(follow_symlinks=False):
                if is_skipped_folder(entry.name) or is_ignored(rules, inner, is_folder=True):
                    continue
                if len(path) > DEPTH_MAX:
                    self.too_deep.append("/".join(path)[-60:])
                else:
                    self.enter(Path(entry.path), path, inner, rules)
            elif is_document_name(entry.name) and not is_ignored(rules, inner, is_folder=False):
                self._add_file(entry, path)
            elif entry.is_symlink() and not entry.name.startswith(".") and self._escapes_root(entry):
                self.outside.append("/".join(path))

    def _add_file(self, entry: os.DirEntry[str], path: tuple[str, ...]) -> None:
        if entry.is_symlink() and self._escapes_root(entry):
            self.outside.append("/".join(path))
            return
        try:
            if not entry.is_file():
                return
            size = entry.stat().st_size
        except OSError:
            size = 0
        if len(self.files) >= FILES_MAX:
            self.is_full = True
            return
        self.files[path] = Path(entry.path)
        self.bytes_total += estimate_load_cost(entry.name, size)

    def _escapes_root(self, entry: os.DirEntry[str]) -> bool:
        """Return whether a link ends outside of the root; one that ends nowhere does not."""
        try:
            return not Path(entry.path).resolve(strict=True).is_relative_to(self.root)
        except (OSError, RuntimeError):
            return False

    def notes(self) -> tuple[str, ...]:
        """Return what was left out."""
        full = f"More than {FILES_MAX:,} files: the others are left out. Name a smaller folder."
        return (
            *format_skipped_files(self.outside, "links that lead out of the folder"),
            *format_skipped_files(self.unreadable, "folders that cannot be read"),
            *format_skipped_files(self.too_deep, f"more than {DEPTH_MAX} folders deep"),
            *((full,) if self.is_full else ()),
        )


class IgnorePattern(NamedTuple):
    """A line of a ``.gitignore``."""

    regex: re.Pattern[str]
    is_left_out: bool
    """False for a line that takes in again what one before it left out."""


IgnoreRules = tuple[tuple[int, tuple[IgnorePattern, ...]], ...]
"""The patterns of each ``.gitignore`` from the outermost folder down, with the number of names down to that folder."""


def is_ignored(rules: IgnoreRules, path: tuple[str, ...], *, is_folder: bool) -> bool:
    """Return whether rules take a path out, as git has it; whether they do a folder above it, is asked before.

    pathspec lets a pattern for a folder decide on all in it, with that folder's slash as a group: with ``build`` and
    ``!docs`` it would take in ``docs/build``, which git leaves out.
    """
    for depth, patterns in reversed(rules):
        inside = "/".join(path[depth:]) + "/" * is_folder
        for pattern in reversed(patterns):
            found = pattern.regex.search(inside)
            if found is not None and (not any(found.groups()) or found.end(1) == len(inside)):
                return pattern.is_left_out
    return False


def read_rules(folder: Path, depth: int, above: IgnoreRules) -> IgnoreRules:
    """Return the rules that hold in a folder: its own over those above."""
    path = folder / _IGNORE_NAME
    try:
        if not path.is_file() or path.stat().st_size > _IGNORE_BYTES_MAX:
            return above
        text, _ = decode_text(path.read_bytes(), _IGNORE_NAME)
    except (OSError, SourceError):
        return above
    return (*above, (depth, parse_patterns(text)))


def read_inherited_rules(folder: Path) -> tuple[tuple[str, ...], IgnoreRules]:
    """Return the names from the top of the git checkout down to `folder`, and the rules of the folders above it.

    Where these take out `folder` itself, which a person named, or where there is no checkout, there are none.
    """
    top = next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)
    names = folder.relative_to(top).parts
    rules: IgnoreRules = ()
    for depth in range(len(names)):
        rules = read_rules(top.joinpath(*names[:depth]), depth, rules)
        if is_ignored(rules, names[: depth + 1], is_folder=True):
            return (), ()
    return names, rules


def parse_patterns(text: str) -> tuple[IgnorePattern, ...]:
    """Return the patterns of a ``.gitignore``; lines that are none are passed over."""
    from pathspec.patterns.gitignore import GitIgnorePatternError  # noqa: PLC0415 - not every folder has rules
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415 - likewise

    patterns = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # brackets that `re` may read in another way one day
        for line in text.split("\n"):
            with suppress(GitIgnorePatternError, re.error):
                pattern = GitIgnoreSpecPattern(line.rstrip("\r"))
                if pattern.regex is not None:
                    patterns.append(IgnorePattern(pattern.regex, bool(pattern.include)))
    return tuple(patterns)


def is_document_name(name: str) -> bool:
    """Return whether a file of this name is a document: one that can be read by its ending, and not hidden."""
    return not name.startswith(".") and os.path.splitext(name)[1].lower() in DOCUMENT_SUFFIXES  # noqa: PTH122


def estimate_load_cost(name: str, size: int) -> int:
    """Return the size of a file in bytes, more for one that takes long to convert."""
    is_slow = os.path.splitext(name)[1].lower() in SLOW_SUFFIXES  # noqa: PTH122
    return max(size, _SLOW_BYTES) if is_slow else min(size, FILE_BYTES_MAX)


def is_skipped_folder(name: str) -> bool:
    """Return whether a folder of this name holds nothing for readers: hidden ones, and those that programs fill."""
    return name.startswith(".") or name in _SKIPPED_FOLDERS


def make_sort_key(name: str) -> tuple[int, tuple[tuple[int, int, str], ...], str]:
    """Return what sorts the names in a folder: README and index first, numbers by value, without regard to case."""
    stem = name.partition(".")[0].casefold()
    parts = tuple(
        (0, int(part), "") if part.isdigit() and part.isascii() else (1, 0, part)
        for part in _DIGITS.split(name.casefold())
        if part
    )
    return _FIRST_STEMS.get(stem, 2) if "." in name else 2, parts, name


def sort_paths(paths: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return paths in the order in which people read them."""
    return sorted(paths, key=lambda path: tuple(make_sort_key(name) for name in path))


def format_name(name: str) -> str:
    """Return a file's name as text: bytes that are no UTF-8 are written as escapes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def format_skipped_files(names: list[str], reason: str) -> tuple[str, ...]:
    """Return a note on what was left out, none where nothing was."""
    return (f"Left out: {name_some(names)} ({reason}).",) if names else ()


def name_some(names: list[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
    return ", ".join(names[:_NAMED_MAX]) + more
