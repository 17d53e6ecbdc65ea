"""Export a notebook as a folder for someone else: only the files that its sources read, with relative paths."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from roamtui.conversation.log import map_store_errors
from roamtui.conversation.notebooks import (
    EXPORT_NAME,
    NOTEBOOK_HEADER,
    Notebook,
    has_missing_files,
    write_notebook_file,
)
from roamtui.document.library_source import LibrarySource
from roamtui.document.markdown.parser import parse_link_definitions, read_markdown
from roamtui.document.plain import sanitise_line
from roamtui.errors import SourceError, UsageError
from roamtui.paths import make_private_folder
from roamtui.sources.convert.conversion import SLOW_SUFFIXES
from roamtui.sources.convert.drawing import PICTURE_SUFFIXES, PictureFile
from roamtui.sources.file_sources import ARCHIVE_SUFFIX, list_sources, split_sources
from roamtui.sources.pictures import find_picture, locate_document, read_picture
from roamtui.sources.read import is_path, read_file

_SOURCES = "sources"


def export_notebook(notebook: Notebook, folder: Path, pages: Mapping[str, str] | None = None) -> None:
    """Copy a notebook with its documents and their pictures into a new folder. The copy has relative paths.

    `pages` maps paths in the folder to the texts of further files. If the export fails, nothing is left behind.

    Raises:
        UsageError: The folder exists and is not empty.
        SourceError: A source is not there, or is a folder without documents.
        StoreError: A file cannot be copied.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not empty. Choose another folder.")
    if missing := [source.name for source in notebook.sources if has_missing_files(source.name)]:
        raise SourceError(f"There is no file {sanitise_line(missing[0])}. Correct its path in the notebook first.")
    with map_store_errors("Could not export to {folder}: {reason}.", folder), _fill_folder(folder) as new:
        exported = [_export_source(source, new) for source in notebook.sources]
        write_notebook_file(new / EXPORT_NAME, NOTEBOOK_HEADER, exported)
        for name, text in (pages or {}).items():
            make_private_folder((new / name).parent)
            (new / name).write_bytes(text.encode("utf-8", "backslashreplace"))


@contextmanager
def _fill_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that becomes `folder` at the end, or is deleted after an error."""
    is_new = not folder.exists()
    place = folder.absolute().parent if is_new else folder
    make_private_folder(place)
    new = Path(tempfile.mkdtemp(prefix=".roamtui-", dir=place))
    try:
        yield new
        if is_new:
            new.rename(folder)
        else:  # it may be a mount point or the current folder, which cannot be replaced
            for path in new.iterdir():
                path.rename(folder / path.name)
            new.rmdir()
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise


def _export_source(source: LibrarySource, folder: Path) -> LibrarySource:
    """Copy the documents of a source and the pictures that they show, and return the source as it is in the export."""
    if not is_path(source.name):
        return source
    paths = [Path(path) for path in split_sources(source.name)]
    target, name, top = folder / _SOURCES / source.key, f"{_SOURCES}/{source.key}", paths[0].parent
    files: Mapping[str, Path] = {"": paths[0]}
    if len(paths) > 1 or paths[0].is_dir():
        files = list_sources(paths).files
        top = paths[0] if len(paths) == 1 else Path(os.path.commonpath([path.parent for path in paths]))
    pictures = {picture for doc, path in files.items() for picture in _list_pictures(source.name, doc, path)}
    if "" in files:
        if pictures or source.key != paths[0].name:
            # In a folder of its own, the file keeps its name, and its pictures stay apart from those of other sources.
            name = f"{name}/{paths[0].name}"
        else:
            target = target.parent
    for doc, path in files.items():
        copy = target / (doc or path.name)
        make_private_folder(copy.parent)
        place = locate_document(source.name, doc) if doc and path.suffix.lower() == ARCHIVE_SUFFIX else None
        if place is not None and place.members:
            copy.write_bytes(read_picture(PictureFile(place.path, place.members)))
        else:
            shutil.copy2(path, copy)
    for picture in pictures:
        copy = target / picture.relative_to(top.resolve())
        make_private_folder(copy.parent)
        shutil.copy2(picture, copy)
    return replace(source, name=name)


def _list_pictures(source: str, doc: str, path: Path) -> list[Path]:
    """List the picture files that a document shows, if they are inside the opened source."""
    found: list[Path] = []
    if path.suffix.lower() in (*SLOW_SUFFIXES, ARCHIVE_SUFFIX):  # they contain their pictures
        return found
    with suppress(SourceError):
        text = read_file(path).text
        for link in read_markdown(text, definitions=parse_link_definitions(text)).links:
            picture = find_picture(source, doc, link.href) if link.is_image else None
            if picture is not None and picture.name.lower().endswith(PICTURE_SUFFIXES):
                found.append(picture.path)
    return found
