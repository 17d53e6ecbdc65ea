"""The installed program in a real terminal: typed into, and its screen read."""

import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

PROGRAM = Path(sys.executable).with_name("roamtui")
HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook.md"
WAIT_SECONDS_MAX = 180.0


class Terminal:
    """A tmux session of its own server, so that no other session is touched."""

    def __init__(self, name: str, width: int, height: int, command: str) -> None:
        self._name = name
        self._run("new-session", "-d", "-s", "t", "-x", str(width), "-y", str(height), command)
        self._run("set-option", "-t", "t", "remain-on-exit", "on")

    def type(self, *keys: str) -> None:
        """Press keys by tmux's names; other text is typed as it is."""
        self._run("send-keys", "-t", "t", *keys)

    def screen(self) -> str:
        return self._run("capture-pane", "-p", "-t", "t")

    def wait_for(self, is_there: Callable[[str], bool]) -> str:
        """Return the screen once it is as wanted; fail with what it shows where that does not come."""
        give_up = time.monotonic() + WAIT_SECONDS_MAX
        while time.monotonic() < give_up:
            screen = self.screen()
            if is_there(screen):
                return screen
            time.sleep(0.05)
        pytest.fail(f"The screen did not come:\n{self.screen()}")

    def close(self) -> None:
        self._run("kill-server")

    def _run(self, *arguments: str) -> str:
        command = ["tmux", "-L", self._name, "-f", "/dev/null", *arguments]
        return subprocess.run(command, capture_output=True, check=False, text=True, timeout=120).stdout


OpenTerminal = Callable[..., Terminal]


@pytest.fixture
def open_terminal(home_dir: Path) -> Iterator[OpenTerminal]:
    opened: list[Terminal] = []
    homes = [f"{name}={value}" for name, value in os.environ.items() if value.startswith(str(home_dir))]
    environment = " ".join(["env", "-u", "COLUMNS", "-u", "LINES", *homes])

    def start(command: str, width: int = 120, height: int = 35) -> Terminal:
        terminal = Terminal(f"roamtui-{uuid.uuid4().hex}", width, height, f"{environment} {command}")
        opened.append(terminal)
        return terminal

    yield start
    for terminal in opened:
        terminal.close()


def test_a_person_asks_reads_a_cited_answer_and_goes_on_after_a_restart(open_terminal: OpenTerminal) -> None:
    terminal = open_terminal(f"sh -c '{PROGRAM} {HANDBOOK}; read line'")
    terminal.wait_for(lambda screen: "Ask a question" in screen and "Fees and deposits" in screen)
    terminal.type("How long is the grace period?", "Enter")
    screen = terminal.wait_for(lambda screen: "no model has read" in screen)
    assert "24 hours" in screen
    assert "◆ Grace period" in screen
    terminal.type("C-q")
    screen = terminal.wait_for(lambda screen: "roamtui --conversation" in screen)
    again = open_terminal(f"{PROGRAM} --conversation {screen.split()[-1]}")
    screen = again.wait_for(lambda screen: "no model has read" in screen)
    assert "◆ Grace period" in screen


def test_a_document_through_a_pipe_leaves_the_keyboard(open_terminal: OpenTerminal) -> None:
    terminal = open_terminal(f"sh -c 'cat {HANDBOOK} | {PROGRAM} -'")
    terminal.wait_for(lambda screen: "Ask a question" in screen)
    terminal.type("How long is the grace period?", "Enter")
    terminal.wait_for(lambda screen: "no model has read" in screen)


def test_a_key_gives_the_terminal_to_the_shell_outside_text_fields_also_below_make(open_terminal: OpenTerminal) -> None:
    terminal = open_terminal("sh -i")
    terminal.type(f"sh -c '{PROGRAM} {HANDBOOK} --model offline; :'", "Enter")  # make starts it like this
    terminal.wait_for(lambda screen: "Ask a question" in screen)
    terminal.type("v")
    terminal.wait_for(lambda screen: "❯ v" in screen)
    terminal.type("C-z")  # undoes typing
    terminal.wait_for(lambda screen: "Ask a question" in screen)
    for _ in range(2):
        terminal.type("Tab")
        terminal.wait_for(lambda screen: "space fold" in screen)
        terminal.type("C-z")
        terminal.wait_for(lambda screen: "Stopped" in screen)
        terminal.type("fg", "Enter")
        terminal.wait_for(lambda screen: "Ask a question" in screen)
        terminal.type("q")
        terminal.wait_for(lambda screen: "enter send" in screen)
    terminal.type("C-q")
    terminal.wait_for(lambda screen: screen.rstrip().endswith(("$", "#")))
