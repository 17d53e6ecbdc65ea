"""An app that waits for a person rests."""

import sys
from pathlib import Path

import pytest

from tests.terminal.pseudo_terminal import open_guide

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind"),
]

_IDLE_SHARE_MAX = 0.005
_WINDOW_SECONDS = 10.0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the time of a process to the nanosecond")
@pytest.mark.parametrize("key", [b"", b"\x10"], ids=["document", "behind a dialog"])
def test_an_idle_app_uses_under_half_a_percent_of_a_core(tmp_path: Path, key: bytes) -> None:
    environ = {"COLORTERM": "truecolor", "XDG_DATA_HOME": str(tmp_path)}
    with open_guide(tmp_path, "--model", "offline", **environ) as terminal:
        terminal.wait_for(b"sk this document")
        terminal.type(key)
        tasks = Path(f"/proc/{terminal.process.pid}/task")

        def read_seconds() -> float:
            return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9

        shares: list[float] = []
        while not shares or shares[-1] > _IDLE_SHARE_MAX:
            assert len(shares) < 4, f"it never rests: {shares}"
            before = read_seconds()
            terminal.read_for(_WINDOW_SECONDS)
            shares.append((read_seconds() - before) / _WINDOW_SECONDS)
