"""The terminal goes away while the app runs, and no signal says so. An app that waits for a person rests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.terminal.pseudo_terminal import PseudoTerminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")


_BLOCKED_APP = """
import sys, time
from roamtui.cli import main
from roamtui.tui.app import RoamApp
RoamApp.exit = lambda self: time.sleep(600)
sys.exit(main())
"""
"""The app, but its main thread waits forever once it has to end."""
_IDLE_SHARE_MAX = 0.005
_WINDOW_SECONDS = 10.0


def _start(tmp_path: Path, program: tuple[str | Path, ...] | None = None) -> PseudoTerminal:
    sections = "".join(f"## Part {n}\n\nThe deposit of part {n} is {n} euros.\n\n" for n in range(300))
    (tmp_path / "guide.md").write_text(f"# Guide\n\n{sections}")
    terminal = PseudoTerminal(
        [tmp_path / "guide.md", "--model", "offline"],
        tmp_path,
        environ={"TERM": "xterm-256color", "COLORTERM": "truecolor", "XDG_DATA_HOME": str(tmp_path)},
        ignores_hangups=True,
        **({"program": program} if program is not None else {}),
    )
    terminal.wait_for(b"sk this document")
    return terminal


@pytest.mark.parametrize("is_answering", [False, True], ids=["idle", "answering"])
def test_the_app_ends_when_its_terminal_is_gone(tmp_path: Path, *, is_answering: bool) -> None:
    terminal = _start(tmp_path)
    try:
        if is_answering:
            terminal.type(b"What is the deposit?\r")
        terminal.disconnect()
        assert terminal.process.wait(60) == 0
    finally:
        terminal.close()


def test_an_app_that_cannot_end_is_ended_with_its_conversation_on_disk(tmp_path: Path) -> None:
    terminal = _start(tmp_path, (sys.executable, "-c", _BLOCKED_APP))
    try:
        terminal.type(b"What is the deposit of part 7?\r")
        terminal.wait_for(b"part 7 is 7")
        terminal.disconnect()
        assert terminal.process.wait(60) == 1
        logs = [path for path in tmp_path.rglob("*.jsonl") if "What is the deposit of part 7?" in path.read_text()]
        assert len(logs) == 1
    finally:
        terminal.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the time of a process to the nanosecond")
def test_an_idle_app_uses_under_half_a_percent_of_a_core(tmp_path: Path) -> None:
    terminal = _start(tmp_path)

    def read_seconds() -> float:
        tasks = Path(f"/proc/{terminal.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    try:
        shares: list[float] = []
        while not shares or shares[-1] > _IDLE_SHARE_MAX:
            assert len(shares) < 4, f"it never rests: {shares}"
            before = read_seconds()
            terminal.read_for(_WINDOW_SECONDS)
            shares.append((read_seconds() - before) / _WINDOW_SECONDS)
    finally:
        terminal.close()
