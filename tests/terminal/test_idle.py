"""An app that waits for a person rests."""

import sys
from pathlib import Path

import pytest

from tests.terminal.pseudo_terminal import PseudoTerminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")

_IDLE_SHARE_MAX = 0.005
_WINDOW_SECONDS = 10.0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the time of a process to the nanosecond")
def test_an_idle_app_uses_under_half_a_percent_of_a_core(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text("# Guide\n\n## Part\n\nThe deposit is 7 euros.\n")
    terminal = PseudoTerminal(
        [tmp_path / "guide.md", "--model", "offline"],
        tmp_path,
        environ={"TERM": "xterm-256color", "COLORTERM": "truecolor", "XDG_DATA_HOME": str(tmp_path)},
    )
    terminal.wait_for(b"sk this document")

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
