"""An app that waits for a person rests."""

import sys
from pathlib import Path

import pytest

from tests.terminal.pseudo_terminal import PseudoTerminal, open_guide

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts how often a thread wakes"),
]

_WAKES_MAX = 20
"""In a second, by all threads. Textual's reading of keys has ten of them, the check of the document about four."""
_WINDOW_SECONDS = 2
_WINDOWS_MAX = 15


def test_an_idle_app_draws_nothing_and_wakes_at_most_20_times_a_second(tmp_path: Path) -> None:
    environ = {"COLORTERM": "truecolor", "XDG_DATA_HOME": str(tmp_path)}
    with open_guide(tmp_path, "--model", "offline", **environ) as terminal:
        terminal.wait_for(b"sk a question")
        for key in (b"", b"\x10"):  # the document, and behind a dialog
            terminal.type(key)
            windows: list[tuple[int, bytes]] = []
            while not windows or windows[-1][0] > _WAKES_MAX * _WINDOW_SECONDS or windows[-1][1]:
                assert len(windows) < _WINDOWS_MAX, f"it never rests: {windows}"
                wakes = _count_wakes(terminal)
                terminal.written = b""
                terminal.read_for(_WINDOW_SECONDS)
                windows.append((_count_wakes(terminal) - wakes, terminal.written))


def _count_wakes(terminal: PseudoTerminal) -> int:
    tasks = Path(f"/proc/{terminal.process.pid}/task")
    texts = [(task / "status").read_text() for task in tasks.iterdir()]
    return sum(int(text.split("\nvoluntary_ctxt_switches:")[1].split()[0]) for text in texts)
