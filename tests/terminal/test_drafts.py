"""What is typed and not sent outlives the program, whatever ends it, and two windows never share it."""

import json
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from roamtui.conversation.log import open_store
from tests.terminal.pseudo_terminal import PseudoTerminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")


@contextmanager
def opened(home: Path, *options: str) -> Iterator[PseudoTerminal]:
    guide = home / "guide.md"
    guide.write_text("# Guide\n\n## Part\n\nThe deposit is 7 euros.\n")
    environ = {"TERM": "xterm-256color", "TEXTUAL_ANIMATIONS": "none"}
    with closing(PseudoTerminal([guide, *options], home, environ=environ)) as terminal:
        terminal.wait_for(b"sk a question")
        yield terminal


def list_drafts() -> dict[str, Path]:
    """Return the files of drafts, each by its last text."""
    paths = open_store().drafts_folder.glob("*.json")
    return {json.loads(path.read_bytes())[-1]: path for path in paths}


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, list_drafts()
        time.sleep(0.05)


def test_drafts_of_two_windows_outlive_a_kill_and_are_found_at_the_next_start(tmp_path: Path) -> None:
    words = ("what of the deposit", "zweite Frage, größer")
    with ExitStack() as stack:
        windows = [stack.enter_context(opened(tmp_path)) for _ in words]
        for window, text in zip(windows, words, strict=True):
            window.type(text.encode())
        wait_until(lambda: {*list_drafts()} == {*words})
        assert {stat.S_IMODE(path.stat().st_mode) for path in list_drafts().values()} == {0o600}
        for window in windows:
            window.process.kill()
    with opened(tmp_path) as window:
        window.wait_for("größer".encode())
        window.wait_for("↑ more".encode())
        assert [json.loads(path.read_bytes()) for path in list_drafts().values()] == [[*words]]
        window.type(b"\x1b[A")
        window.wait_for(words[0].encode())
        window.type(b"\x03\x11")  # clear the box, and quit
        window.wait_for_end()
    assert {*list_drafts()} == {words[1]}


def test_a_second_window_starts_empty_and_the_draft_is_found_however_the_next_one_is_started(tmp_path: Path) -> None:
    with opened(tmp_path) as asked:
        asked.type(b"What of the deposit?\r")
        asked.wait_for(b"no model has read")
        asked.type(b"asked draft")
        wait_until(lambda: "asked draft" in list_drafts())
        with opened(tmp_path) as second:
            second.wait_for(b"Another window has a draft")
            assert b"asked draft" not in second.written
        asked.process.kill()
    for options in ((), ("--continue",), ("--continue",)):  # the first one moves it to a new conversation
        with opened(tmp_path, *options) as window:
            window.wait_for(b"asked draft")
            window.type(b"\x11")
            window.wait_for_end()
