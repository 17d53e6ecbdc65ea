"""`NotebookStore`: notebooks, which are named sets of sources, each in a TOML file that a person can read and edit.

A notebook called ``law`` is the file ``law.toml``, and its source is ``@law``. Conversations, notes and reading
positions are stored under that name, like those of any other source.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from roamtui.conversation.log import locked, map_store_errors, prepare_folder
from roamtui.document.library_source import NOTEBOOK_MARK, LibrarySource, make_unique_key
from roamtui.document.plain import sanitise_line
from roamtui.errors import SourceError, StoreError, UsageError, format_reason
from roamtui.paths import write_private_file
from roamtui.sources.file_sources import split_sources
from roamtui.sources.read import is_path

_SUFFIX = ".toml"
_NAME = re.compile(r"\w[\w.-]{0,63}(?<!\.)")
_ENTRY = re.compile(r"^[ \t]*\[\[\s*sources\s*\]\]", re.MULTILINE)
NOTEBOOK_HEADER = """\
# The sources of a notebook of roamtui. You may edit this file: add, remove or reorder sources, or change a path that
# has moved. A path may be relative to this file. Keep each "key": the ids of sections depend on it.

"""
EXPORT_NAME = "notebook.toml"
"""Name of the notebook's file in an exported folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notebook:
    """A named set of sources."""

    name: str
    sources: tuple[LibrarySource, ...]


class NotebookStore:
    """All notebooks of a person. Several programs may change them at the same time."""

    def __init__(self, folder: Path) -> None:
        """Keep the notebooks in `folder`, which is created when it is needed."""
        self._folder = folder

    def list_names(self) -> tuple[str, ...]:
        """List the names of all notebooks, the last changed one first.

        Raises:
            StoreError: The folder cannot be read.
        """
        with map_store_errors("Could not list the notebooks in {folder}: {reason}.", self._folder):
            paths = [path for path in self._folder.glob(f"*{_SUFFIX}") if _NAME.fullmatch(path.stem)]
            return tuple(path.stem for path in sorted(paths, key=lambda path: (-path.stat().st_mtime_ns, path.stem)))

    def exists(self, name: str) -> bool:
        """Check whether there is a notebook with this name.

        Raises:
            UsageError: No notebook can have the name.
        """
        return self.get_path(name).exists()

    def get_path(self, name: str) -> Path:
        """Return the file of a notebook.

        Raises:
            UsageError: No notebook can have the name.
        """
        if not _NAME.fullmatch(name):
            shown = sanitise_line(name)[:80]
            raise UsageError(
                f'"{shown}" cannot be the name of a notebook. Use letters, digits, and "-", "_" or "." between them.'
            )
        return self._folder / f"{name}{_SUFFIX}"

    def read(self, name: str) -> Notebook:
        """Read a notebook.

        Raises:
            UsageError: There is no such notebook.
            StoreError: As in `read_notebook_file`.
        """
        path = self.get_path(name)
        if not path.exists():
            raise UsageError(f'there is no notebook "{name}". Name its sources: roamtui notebook {name} SOURCE...')
        return Notebook(name=name, sources=read_notebook_file(path)[1])

    def change(
        self, name: str, make: Callable[[tuple[LibrarySource, ...]], Iterable[LibrarySource]]
    ) -> tuple[LibrarySource, ...]:
        """Change the sources of a notebook, or create it. `make` turns the current sources into the new ones.

        Raises:
            UsageError: No notebook can have the name, or a new source cannot be written into the file.
            StoreError: The file is not valid, or cannot be written. It stays as it was.
        """
        path = self.get_path(name)
        with self._changing(name):
            header, before = read_notebook_file(path) if path.exists() else (NOTEBOOK_HEADER, ())
            after = tuple(make(before))
            if after != before or not path.exists():
                write_notebook_file(path, header, after)
            return after

    def apply(self, name: str, before: Sequence[LibrarySource], after: Sequence[LibrarySource]) -> None:
        """Make the change that leads from `before` to `after`, and keep what another program has changed meanwhile.

        Raises:
            UsageError: The notebook no longer exists. It is not created again.
            StoreError: As in `change`.
        """

        def make(current: tuple[LibrarySource, ...]) -> Iterator[LibrarySource]:
            if not self.exists(name):
                raise UsageError(
                    f'Another program renamed or deleted the notebook "{name}". Open it by its new name to change it.'
                )
            old = {source.key: source for source in before}
            new = {source.key: source for source in after}
            for source in current:
                if source.key in new and old.get(source.key) != new[source.key]:
                    yield replace(source, is_muted=new[source.key].is_muted)
                elif source.key in new or source.key not in old:
                    yield source
            names, keys = {source.name for source in current}, {source.key for source in current}
            for key in new.keys() - old.keys():
                if new[key].name not in names:
                    yield replace(new[key], key=make_unique_key(key, keys))

        self.change(name, make)

    def rename(self, name: str, new_name: str) -> None:
        """Rename a notebook.

        Raises:
            UsageError: There is no notebook `name`, or there is one called `new_name`.
            StoreError: The file cannot be renamed.
        """
        self.read(name)
        new_path = self.get_path(new_name)
        with self._changing(name):
            if new_path.exists():
                raise UsageError(f'there is a notebook "{new_name}" already. Choose another name, or delete it first.')
            self.get_path(name).rename(new_path)

    def delete(self, name: str) -> None:
        """Delete a notebook. Its sources and conversations stay.

        Raises:
            UsageError: There is no such notebook.
            StoreError: The file cannot be deleted.
        """
        path = self.get_path(name)
        if not path.exists():
            self.read(name)  # raises the error
        with self._changing(name):
            path.unlink(missing_ok=True)

    @contextmanager
    def _changing(self, name: str) -> Iterator[None]:
        failure = f'Could not change the notebook "{name}": {{reason}} ({{folder}}). It stays as it was.'
        with map_store_errors(failure, self._folder):
            prepare_folder(self._folder)
            with locked(self._folder):
                yield


def read_notebook_file(path: Path) -> tuple[str, tuple[LibrarySource, ...]]:
    """Read the file of a notebook: the text before its first source, which a person may have written, and the sources.

    Raises:
        StoreError: The file cannot be read, or is not the file of a notebook. The message says where.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
        content, first = tomllib.loads(text), _ENTRY.search(text)
        # Sources in another form would stay in the header, so after a change they would be in the file twice.
        entries = content.get("sources", []) if first is not None or "sources" not in content else None
        sources = _parse_entries(entries, path.parent)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {format_reason(error)}.") from None
    except UnicodeDecodeError:
        raise StoreError(f"{path} is not UTF-8 text. Fix or delete it.") from None
    except tomllib.TOMLDecodeError as error:
        raise StoreError(f"{path} is not valid TOML: {error}. Fix or delete it.") from None
    except (TypeError, RecursionError) as error:
        raise StoreError(f"{path}: {error}. Fix or delete it.") from None
    return (text[: first.start()] if first is not None else text.rstrip("\n") + "\n\n"), sources


def _parse_entries(entries: object, folder: Path) -> tuple[LibrarySource, ...]:
    if not isinstance(entries, list):
        raise TypeError('"sources" must be a list of tables, each below a line [[sources]]')
    sources: list[LibrarySource] = []
    for number, entry in enumerate(entries, start=1):
        sources.append(_parse_entry(entry, number, folder, {source.key for source in sources}))
    return tuple(sources)


def _parse_entry(entry: object, number: int, folder: Path, taken: set[str]) -> LibrarySource:
    if not isinstance(entry, dict) or not isinstance(name := entry.get("source"), str) or not name.strip():
        raise TypeError(f'source {number} needs a line: source = "a path or URL"')
    key, is_muted = entry.get("key", ""), entry.get("muted", False)
    if not isinstance(key, str) or key in (".", "..") or re.search(r"[/\\\0]", key):
        raise TypeError(f'the "key" of source {number} must be quoted text, the name of a file without its folders')
    if not isinstance(is_muted, bool):
        raise TypeError(f'"muted" of source {number} must be true or false')
    if name.startswith(NOTEBOOK_MARK):
        raise TypeError(f'source {number} is a notebook, "{sanitise_line(name)}". List its sources instead')
    if is_path(name):
        name = os.path.abspath(folder / os.path.expanduser(name))  # noqa: PTH100, PTH111 - links are kept
    if key and key in taken:
        raise TypeError(f'sources must have different keys, but two have "{sanitise_line(key)}"')
    return LibrarySource(name=name, key=key or make_unique_key(name, taken), is_muted=is_muted)


def write_notebook_file(path: Path, header: str, sources: Iterable[LibrarySource]) -> None:
    """Write the file of a notebook.

    Raises:
        UsageError: The name of a source is not UTF-8.
        OSError: The file cannot be written.
    """
    blocks = [header]
    for source in sources:
        muted = "muted = true\n" if source.is_muted else ""
        blocks.append(f"[[sources]]\nsource = {_format_toml(source.name)}\nkey = {_format_toml(source.key)}\n{muted}\n")
    try:
        data = "".join(blocks).rstrip("\n").encode() + b"\n"
    except UnicodeEncodeError:
        raise UsageError("a notebook cannot have a source whose name is not UTF-8. Rename the file first.") from None
    write_private_file(path, data, is_flushed=True)


def _format_toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def list_named_sources(
    names: Sequence[str], present: Sequence[LibrarySource], store: NotebookStore, notebook: str
) -> tuple[LibrarySource, ...]:
    """List the sources that a person named for a notebook, except those that it already has.

    An exported folder or another notebook is replaced by its sources.

    Args:
        names: Paths, URLs, or names of notebooks with their mark.
        present: The sources that the notebook has.
        store: Reads other notebooks.
        notebook: Name of the notebook.

    Raises:
        UsageError: A name is that of the notebook itself, or cannot be a source, or an exported folder names a file
            outside it.
        SourceError: There is no such file.
        StoreError: Another notebook cannot be read.
    """
    added: list[LibrarySource] = []

    def add(name: str, key: str = "") -> None:
        taken = {source.key for source in (*present, *added)}
        if name not in {source.name for source in (*present, *added)}:
            added.append(LibrarySource(name=name, key=make_unique_key(key or name, taken)))

    for name in names:
        if name == "-":
            raise UsageError("standard input cannot be in a notebook. Save it as a file first.")
        if name == f"{NOTEBOOK_MARK}{notebook}":
            raise UsageError(f'the notebook "{notebook}" cannot contain itself. Name other sources.')
        if name.startswith(NOTEBOOK_MARK):
            for source in store.read(name[len(NOTEBOOK_MARK) :]).sources:
                add(source.name, source.key)
        elif not is_path(name):
            add(name)
        elif (exported := Path(name) / EXPORT_NAME).is_file():
            for source in read_notebook_file(exported)[1]:
                # Someone else wrote it, so it must not send this person's other files to a model.
                if is_path(source.name) and not Path(source.name).resolve().is_relative_to(exported.parent.resolve()):
                    raise UsageError(
                        f"{exported} names {sanitise_line(source.name)}, which is outside its folder. Remove it there."
                    )
                add(source.name, source.key)
        elif not os.path.lexists(name):
            raise SourceError(f"There is no file {sanitise_line(name)}. Check the path.")
        else:
            add(os.path.abspath(name))  # noqa: PTH100 - links are kept
    return tuple(added)


def has_missing_files(name: str) -> bool:
    """Check whether any file or folder of a source is missing."""
    return is_path(name) and not all(map(os.path.lexists, split_sources(name)))
