"""Lists folders. Reads no document before it is asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from roamtui.errors import SourceError
from roamtui.sources.ignore import IgnoreRules, find_outer_rules, read_rules
from roamtui.sources.listing import (
    DEPTH_MAX,
    FILE_BYTES_MAX,
    FILES_MAX,
    Listing,
    describe_left_out,
    is_document_name,
    is_skipped_folder,
    nest,
    order_name,
    show_name,
    sort_paths,
    weigh_file,
)
from roamtui.sources.read import RawText, read_file


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A folder that is still to be walked."""

    path: Path
    shown: tuple[str, ...]
    """Names from the top of the source down."""
    ruled: tuple[str, ...]
    """Names from the top of the outermost ignore rules down."""
    rules: IgnoreRules | None


@dataclass(slots=True)
class _Walk:
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

    def notes(self) -> tuple[str, ...]:
        """Return what was left out."""
        full = f"More than {FILES_MAX:,} files: the others are left out. Name a smaller folder."
        return (
            *describe_left_out(self.outside, "links that lead out of the folder"),
            *describe_left_out(self.unreadable, "folders that cannot be read"),
            *describe_left_out(self.too_deep, f"more than {DEPTH_MAX} folders deep"),
            *((full,) if self.is_full else ()),
        )


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
    walk = _walk_folder(root)
    files = {"/".join(shown): path for shown, path in walk.files.items()}
    if not walk.files:
        raise SourceError(f"{folder} is a folder that holds no Markdown or text file. Name another folder, or a file.")
    return Listing(
        source=os.path.abspath(folder),  # noqa: PTH100 - the name that the person gave, as for files
        name=show_name(root.name) or str(root),
        entries=nest(sort_paths(walk.files)),
        bytes_total=walk.bytes_total,
        read=partial(_read_entry, files, kept_dir),
        notes=walk.notes(),
        files=files,
        folders=tuple(walk.folders),
    )


def _walk_folder(root: Path) -> _Walk:
    walk = _Walk(root)
    ruled, rules = find_outer_rules(root)
    pending = [_Place(path=root, shown=(), ruled=ruled, rules=rules)]
    while pending and not walk.is_full:
        pending.extend(reversed(_list_place(walk, pending.pop())))
    return walk


def _list_place(walk: _Walk, place: _Place) -> list[_Place]:
    """Note the files of one folder and return the folders in it, in the order of reading."""
    walk.folders.append(place.path)
    try:
        with os.scandir(place.path) as found:
            entries = sorted(found, key=lambda entry: order_name(entry.name))
    except OSError:
        walk.unreadable.append("/".join(place.shown))
        return []
    rules = read_rules(place.path, len(place.ruled), place.rules)
    folders = []
    for entry in entries:
        shown, ruled = (*place.shown, show_name(entry.name)), (*place.ruled, entry.name)
        if entry.is_dir(follow_symlinks=False):
            if is_skipped_folder(entry.name) or (rules is not None and rules.is_ignored(ruled, is_folder=True)):
                continue
            if len(shown) > DEPTH_MAX:
                walk.too_deep.append("/".join(shown)[-60:])
                continue
            folders.append(_Place(path=Path(entry.path), shown=shown, ruled=ruled, rules=rules))
        elif is_document_name(entry.name) and not (rules is not None and rules.is_ignored(ruled, is_folder=False)):
            _note_file(walk, entry, shown)
        elif entry.is_symlink() and not entry.name.startswith(".") and _leads_out(walk.root, entry):
            walk.outside.append("/".join(shown))
    return folders


def _note_file(walk: _Walk, entry: os.DirEntry[str], shown: tuple[str, ...]) -> None:
    if entry.is_symlink() and _leads_out(walk.root, entry):
        walk.outside.append("/".join(shown))
        return
    try:
        if not entry.is_file():
            return
        size = entry.stat().st_size
    except OSError:
        size = 0
    if len(walk.files) >= FILES_MAX:
        walk.is_full = True
        return
    walk.files[shown] = Path(entry.path)
    walk.bytes_total += weigh_file(entry.name, size)


def _leads_out(root: Path, entry: os.DirEntry[str]) -> bool:
    """Return whether a link ends outside of `root`; one that ends nowhere does not."""
    try:
        return not Path(entry.path).resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):
        return False


def _read_entry(paths: Mapping[str, Path], kept_dir: Path | None, key: str) -> RawText:
    path = paths[key]
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    if size > FILE_BYTES_MAX:
        raise SourceError(f"{key} is larger than {FILE_BYTES_MAX // 1_000_000} MB. Open it by itself.")
    return read_file(path, kept_dir=kept_dir)
