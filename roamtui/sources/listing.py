"""Lists, finds and reads the files of a folder or of several sources."""

import os
import re
import stat
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from itertools import chain, islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from roamtui.convert.decode import decode_text
from roamtui.convert.formats import SLOW_SUFFIXES
from roamtui.errors import SourceError, format_reason
from roamtui.program import quote_word
from roamtui.sources.conversion_cache import DEFAULT_OPTIONS, ConversionOptions
from roamtui.sources.read import DOCUMENT_SUFFIXES, SourceText, check_file, explain_error, to_source_text
from roamtui.sources.source_names import (
    assign_keys,
    format_file_name,
    format_file_names,
    join_sources,
    split_sources,
)
from roamtui.text import format_count

FILES_MAX = 20_000
"""Maximum number of files per source. The others are skipped with a note."""
FILE_BYTES_MAX = 32_000_000
"""Maximum size of a file in a folder. A larger file can only be opened by itself."""
DEPTH_MAX = 100
"""Maximum depth of nested folders. Deeper ones are skipped with a note."""

_FULL = "all files after the first {:,}"
_NO_FILE = "is not a file of the folder any more. Reload the document."
_OPEN_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
_SLOW_COST_MIN = 2_000_000
"""Minimum load cost of a file that a subprocess has to convert."""
_DIGITS = re.compile(r"(\d+)", re.ASCII)
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
_RANKS_BY_STEM = {"readme": 0, "index": 1, "_index": 1}
_IGNORE_NAME = ".gitignore"
_IGNORE_BYTES_MAX = 1_000_000


class SkippedKind(Enum):
    """What a skipped file or folder is: the words for one and for several."""

    OUTSIDE = ("link that leads outside the folder", "links that lead outside the folder")
    UNREADABLE = ("folder that cannot be read", "folders that cannot be read")
    TOO_DEEP = ("folder nested too deeply", "folders nested too deeply")
    OTHER = ("file of another kind", "files of other kinds")

    @property
    def plural(self) -> str:
        """The words for several."""
        return self.value[1]


SourceStamp = tuple[int, int, int]
"""When a file or folder was last written, in nanoseconds, its size, and its inode, which changes if it is
replaced."""


class ListedFile(Struct, frozen=True, kw_only=True):
    """A file of a source."""

    path: Path
    """Path in the source. It may be a symbolic link."""
    resolved: Path
    """The path to which `path` led when it was listed, with all links resolved."""
    root: Path | None
    """The folder that was listed, which no link may lead out of. None for a file that the person named."""


class Listing(Struct, frozen=True, kw_only=True):
    """The files of a source."""

    source: str
    """Absolute path, or several as written by `join_sources`."""
    files: Mapping[str, ListedFile]
    """Files by key: the path within the source, with forward slashes. The files are in reading order."""
    skipped: Mapping[SkippedKind, Sequence[str]] = {}
    """The names of skipped files and folders, by their kind."""
    is_cut: bool = False
    """Whether there are more files than `FILES_MAX`."""
    watched: Mapping[Path, SourceStamp | None] = {}
    """The stamp of each folder that was walked, and of each `.gitignore`, from before it was read."""

    @property
    def is_outdated(self) -> bool:
        """Whether there may be other files now: since it was read, a folder or `.gitignore` has changed."""
        return any(stamp_path(path) != stamp for path, stamp in self.watched.items())

    @property
    def left_out(self) -> tuple[str, ...]:
        """Each kind of skipped file that may be a document, in a few words."""
        documents = [kind for kind in self.skipped if kind is not SkippedKind.OTHER]
        kinds = [f"{format_file_names(sorted(self.skipped[kind]))} ({kind.plural})" for kind in documents]
        return (*kinds, _FULL.format(FILES_MAX)) if self.is_cut else tuple(kinds)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that say how much was skipped and why, and how to list it. Empty if nothing was."""
        counts = [format_count(len(names), *kind.value) for kind, names in self.skipped.items()]
        command = " ".join(["roamtui outline", *map(quote_word, split_sources(self.source)), "--skipped"])
        listed = [f"Skipped: {', '.join(counts)}. To list them: `{command}`."] if counts else []
        return (*listed, f"Skipped: {_FULL.format(FILES_MAX)}.") if self.is_cut else tuple(listed)

    def list_entries(self) -> list[tuple[tuple[str, ...], bool]]:
        """List the path of each folder, before its content, and file, and whether it is a folder."""
        entries: dict[tuple[str, ...], bool] = {}
        for key in self.files:
            names = tuple(key.split("/"))
            entries.update((names[:end], end < len(names)) for end in range(1, len(names) + 1))
        return [*entries.items()]


def list_folder(folder: Path) -> Listing:
    """List the documents of a folder, without hidden files and files that its `.gitignore` excludes.

    Symbolic links to files inside the folder are followed. Links to folders are not, because a folder inside
    is listed at its real place. Links that lead outside are skipped, with a note.

    Raises:
        SourceError: The folder cannot be listed, or contains no document.
    """
    try:
        root = folder.resolve(strict=True)
        with os.scandir(root):
            pass
    except (OSError, RuntimeError) as error:
        reason = format_reason(error)
        raise SourceError(f"{folder} cannot be listed: {reason}. Name another folder, or a file.") from None
    # The folder that the person named may be a link, which may lead elsewhere later.
    watched = {path: stamp_path(path) for path in (folder.absolute(), root, root / _IGNORE_NAME)}
    is_ignored = _read_gitignore(root)
    files: dict[str, ListedFile] = {}
    skipped: dict[SkippedKind, list[str]] = {kind: [] for kind in SkippedKind}
    for place, inner, names in os.walk(
        root, onerror=lambda error: skipped[SkippedKind.UNREADABLE].append(Path(error.filename).name)
    ):
        prefix = "".join(f"{format_file_name(part)}/" for part in Path(place).relative_to(root).parts)
        for name in names:
            path = Path(place, name)
            key = prefix + format_file_name(name)
            if name.startswith(".") or is_ignored(key):
                continue
            if is_document_name(name) and _escapes(path, root):
                skipped[SkippedKind.OUTSIDE].append(key)
            elif is_document_name(name) and (file := _find_file(path, root)) is not None:
                files[key] = file
            else:
                skipped[SkippedKind.OTHER].append(key)
        kept = (name for name in inner if not is_skipped_folder(name) and not is_ignored(f"{prefix}{name}/"))
        inner[:] = sorted(kept, key=make_sort_key)
        links = (name for name in inner if _escapes(Path(place, name), root))
        skipped[SkippedKind.OUTSIDE] += [prefix + format_file_name(name) for name in links]
        if len(files) > FILES_MAX:
            break
        if prefix.count("/") >= DEPTH_MAX:
            skipped[SkippedKind.TOO_DEEP] += [prefix + format_file_name(name) for name in inner]
            inner.clear()
        watched.update((path, stamp_path(path)) for path in (Path(place, name) for name in inner))
    if not files:
        raise SourceError(
            f"{folder} contains no document that roamtui can read. Name another folder, or a file."
        )
    keys = sorted(files, key=lambda key: tuple(map(make_sort_key, key.split("/"))))[:FILES_MAX]
    return Listing(
        source=os.path.abspath(folder),  # noqa: PTH100 - the path as the person wrote it, links not resolved
        files={key: files[key] for key in keys},
        skipped={kind: names for kind, names in skipped.items() if names},
        is_cut=len(files) > FILES_MAX,
        watched=watched,
    )


def stamp_path(path: Path) -> SourceStamp | None:
    """Return the stamp of a file or folder, or None if it is missing."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _escapes(path: Path, root: Path) -> bool:
    """Return whether a path is a link that leads outside the root. A broken link does not."""
    try:
        return path.is_symlink() and not path.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):
        return False


def _find_file(path: Path, root: Path | None = None) -> ListedFile | None:
    """Return the file that a path leads to, or None if it does not lead to a file."""
    with suppress(OSError, RuntimeError):
        # what is in a listed folder is below its resolved path, unless it is a link
        resolved = path.resolve(strict=True) if root is None or path.is_symlink() else path
        if stat.S_ISREG(resolved.lstat().st_mode):
            return ListedFile(path=path, resolved=resolved, root=root)
    return None


def read_listed(file: ListedFile, key: str, *, conversion: ConversionOptions = DEFAULT_OPTIONS) -> SourceText:
    """Read a file of a listing; see `read_source`. Its notes and errors name it by its key.

    Raises:
        SourceError: As in `read_source`, or the file is too large, or a link leads out of the folder.
    """
    try:
        # By now, there may be a link, which must not lead out, or a pipe, which must not block.
        resolved = file.path.resolve(strict=True)
        if file.root is not None and not resolved.is_relative_to(file.root):
            raise SourceError(f"{key} {_NO_FILE}")
        opened = os.open(resolved, _OPEN_FLAGS)
        with os.fdopen(opened, "rb") as stream:
            status = os.fstat(opened)
            if not stat.S_ISREG(status.st_mode):
                raise SourceError(f"{key} {_NO_FILE}")
            if status.st_size > FILE_BYTES_MAX:
                size = FILE_BYTES_MAX // 1_000_000
                raise SourceError(f"{key} is larger than {size} MB. Open it by itself.")
            data = stream.read()
    except RuntimeError:  # links in a circle, before Python 3.13
        raise SourceError(f"{key} {_NO_FILE}") from None
    except OSError as error:
        raise SourceError(explain_error(file.path, error)) from None
    source = os.path.abspath(file.path)  # noqa: PTH100 - as in `read_source`
    source_text = to_source_text(data, source=source, name=key, conversion=conversion)
    return replace(source_text, name=file.path.name)


def _read_gitignore(root: Path) -> Callable[[str], bool]:
    """Return a function that says whether the `.gitignore` of a folder excludes a path below the folder.

    The path of a folder must end with a slash. Check the folders above a path before the path.
    """
    path = root / _IGNORE_NAME
    try:
        if path.is_file() and path.stat().st_size <= _IGNORE_BYTES_MAX:
            from pathspec import GitIgnoreSpec  # noqa: PLC0415 - not every folder has rules

            with warnings.catch_warnings():
                # about brackets that `re` may parse differently later
                warnings.simplefilter("ignore", FutureWarning)
                text, _ = decode_text(path.read_bytes(), _IGNORE_NAME)
                return GitIgnoreSpec.from_lines(text.split("\n")).match_file
    except (OSError, ValueError, re.error, SourceError):  # an invalid pattern is a ValueError or re.error
        pass
    return lambda _path: False


def is_document_name(name: str) -> bool:
    """Return whether a file name has a supported suffix and is not hidden."""
    return not name.startswith(".") and os.path.splitext(name)[1].lower() in DOCUMENT_SUFFIXES  # noqa: PTH122


def estimate_load_cost(files: Iterable[Path]) -> int:
    """Estimate the cost of loading files, in bytes: their sizes, but at least 2 MB for a slow format."""
    cost = 0
    for path in files:
        with suppress(OSError):
            size = min(path.stat().st_size, FILE_BYTES_MAX)
            cost += max(size, _SLOW_COST_MIN) if path.suffix.lower() in SLOW_SUFFIXES else size
    return cost


def is_skipped_folder(name: str) -> bool:
    """Return whether a folder is hidden or filled by a program, such as `node_modules`."""
    return name.startswith(".") or name in _SKIPPED_FOLDERS


def make_sort_key(name: str) -> tuple[int, tuple[tuple[int, int, str], ...], str]:
    """Return a file name's sort key. README is first, then index. Numbers sort by value. Case is ignored."""
    stem = name.partition(".")[0].casefold()
    parts = tuple(
        (0, int(part), "") if part.isdigit() and part.isascii() else (1, 0, part)
        for part in _DIGITS.split(name.casefold())
        if part
    )
    return _RANKS_BY_STEM.get(stem, 2) if "." in name else 2, parts, name


def list_files(paths: Sequence[Path]) -> Listing:
    """List the files of a folder, or of several files and folders in the given order.

    Each of several sources is at the top level, by its name. A file that is in two of them is listed once.

    Raises:
        SourceError: As in `list_folder`, or a file is missing.
    """
    if len(paths) == 1 and paths[0].is_dir():
        return list_folder(paths[0])
    absolute = list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))  # noqa: PTH100 - links are kept
    files: dict[str, ListedFile] = {}
    watched: dict[Path, SourceStamp | None] = {}
    skipped: defaultdict[SkippedKind, list[str]] = defaultdict(list)
    is_cut = False
    listed: set[Path] = set()
    for name, path in assign_keys(absolute).items():
        if path.is_dir():
            listing = list_folder(path)
            is_cut = is_cut or listing.is_cut
            for kind, names in listing.skipped.items():
                skipped[kind] += [f"{name}/{other}" for other in names]
            watched.update(listing.watched)
            named_files = {f"{name}/{key}": file for key, file in listing.files.items()}
        else:
            check_file(path)
            file = _find_file(path)
            named_files = {name: file} if file is not None else {}
        files.update((key, file) for key, file in named_files.items() if file.resolved not in listed)
        listed.update(file.resolved for file in named_files.values())
    return Listing(
        source=join_sources(map(str, absolute)),
        files=dict(islice(files.items(), FILES_MAX)),
        skipped=skipped,
        is_cut=is_cut or len(files) > FILES_MAX,
        watched=watched,
    )


def list_paths(names: Iterable[str]) -> Iterator[Path]:
    """Yield the paths of sources. In place of a folder, yield the paths of its documents."""
    for path in map(Path, chain.from_iterable(map(split_sources, names))):
        if not path.is_dir():
            yield path
            continue
        with suppress(SourceError):
            yield from (file.path for file in list_folder(path).files.values())


class DocumentFile(Struct, frozen=True):
    """The file on this machine that contains a document of a library."""

    path: Path
    root: Path
    """The folder that was opened, or that contains the opened file."""


def locate_document(source: str, doc: str) -> DocumentFile | None:
    """Return the file of a document of a library, or None if it is not on this machine, as a web page."""
    paths = [Path(path) for path in split_sources(source)]
    path = paths[0]
    inner = doc
    if len(paths) > 1:
        name, _, inner = doc.partition("/")
        paths_by_key = assign_keys(paths)
        if name not in paths_by_key:
            return None
        path = paths_by_key[name]
    file = path / inner if inner else path
    if not file.is_file():
        return None
    return DocumentFile(file, path if inner else path.parent)
