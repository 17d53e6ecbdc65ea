"""What is different on Windows, as far as another system can show it."""

from pathlib import PureWindowsPath
from typing import Any, Self
from urllib.parse import quote

import pytest

from roamtui.document.links import resolve_link
from roamtui.opening.loader import make_document_library
from roamtui.sources.listing import DocumentFile
from roamtui.sources.read import SourceText


class WatchedPath(PureWindowsPath):
    """A path on a Windows machine without files. It records where the program looks."""

    looked_at: set[str] = set()  # noqa: RUF012 - one for all paths of a test

    def is_file(self) -> bool:
        self.looked_at.add(self.drive)
        return False

    def is_dir(self) -> bool:
        return self.is_file()

    def resolve(self) -> Self:
        self.is_file()
        return self


@pytest.mark.parametrize("path", [r"\\evil\share\a.png", r"/\\evil\share\a.png", r"D:a.png", r"\\?\D:\a.png", "a.png"])
def test_no_document_makes_the_program_look_on_another_machine_or_drive(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_path: Any = WatchedPath
    own = DocumentFile(make_path(r"C:\docs\a.md"), make_path(r"C:\docs"))
    monkeypatch.setattr("roamtui.document.links.Path", WatchedPath)
    monkeypatch.setattr("roamtui.document.links.locate_section", lambda *_: own)
    monkeypatch.setattr(WatchedPath, "looked_at", set())
    library = make_document_library(SourceText(text="# A\n", source="a.md", name="a.md"))
    for href in (path, quote(path)):
        resolve_link(href, library, library.root.ids[0], with_files=True)
    assert WatchedPath.looked_at == {"C:"}
