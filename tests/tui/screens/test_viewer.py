"""Files are opened in the program that the system has for them."""

import os
import shutil
import threading
from pathlib import Path

import pytest

from roamtui.tui.screens.picture import open_in_viewer

FILE = Path("/d/a b.md")


@pytest.mark.parametrize(
    ("system", "display", "programs"),
    [("darwin", "", ["open"]), ("win32", "", ["explorer"]), ("linux", ":0", ["xdg-open"]), ("linux", "", [])],
)
def test_each_system_has_its_own_program_that_opens_files(
    monkeypatch: pytest.MonkeyPatch, system: str, display: str, programs: list[str]
) -> None:
    wanted: list[str] = []
    monkeypatch.setattr("shutil.which", wanted.append)
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", display)
    assert not open_in_viewer(FILE), "none is installed"
    assert wanted == programs


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe that a viewer waits for")
def test_a_viewer_that_stays_open_does_not_keep_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cat, pipe = shutil.which("cat"), tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr("shutil.which", lambda _: cat)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DISPLAY", ":0")
    before = {*threading.enumerate()}
    assert open_in_viewer(pipe)
    (waiting,) = {*threading.enumerate()} - before
    assert waiting.daemon
    pipe.write_bytes(b"")
    waiting.join()
