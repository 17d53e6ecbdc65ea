"""The program is asked to end, or its terminal goes away: what has arrived is saved, and the terminal is as before."""

import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic

import pytest

from roamtui.conversation.events import StopReason
from roamtui.conversation.log import open_store
from roamtui.conversation.state import Exchange
from roamtui.errors import EXIT_CANCELLED
from roamtui.signals import end_after_task
from tests.fakes.model_servers import Ending, FakeOpenAIServer, FakeReply
from tests.terminal.pseudo_terminal import PseudoTerminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")

_ANSWER = "The deposit is small"
_MODES = (b"\x1b[?1049", b"\x1b[?1000", b"\x1b[?1003", b"\x1b[?2004")
"""The alternate screen, the mouse, and pasted text between brackets."""


@contextmanager
def streaming(
    home: Path, program: tuple[str, ...], *arguments: str, is_controlling: bool = False
) -> Iterator[PseudoTerminal]:
    """Run the program until half an answer has arrived."""
    guide = home / "guide.md"
    guide.write_text("# Guide\n\n## Part\n\nThe deposit is 7 euros.\n")
    words: tuple[str | Path, ...] = (guide,)
    if arguments:
        words = (arguments[0], guide, "What is it?", *arguments[1:])
    with FakeOpenAIServer(FakeReply(text=_ANSWER, chunk_size=100, ending=Ending.HANG)) as server:
        opened = PseudoTerminal(
            [*words, "--model", "openai/some-model", "--api-base", server.url],
            home,
            environ={"TERM": "xterm-256color", "OPENAI_API_KEY": "sk-0123456789abcdef"},
            program=(sys.executable, *program),
            is_controlling=is_controlling,
        )
        with closing(opened) as terminal:
            if not arguments:
                terminal.wait_for(b"sk a question")
                terminal.type(b"What is it?\r")
            terminal.wait_for(b"is small")
            yield terminal


def _list_exchanges() -> tuple[Exchange, ...]:
    store = open_store()
    return tuple(exchange for saved in store.list() for exchange in store.load(saved.id).exchanges)


def read_last() -> Exchange:
    return _list_exchanges()[-1]


def list_modes(written: bytes) -> list[bytes]:
    """Return the modes that the terminal is still in."""
    return [mode for mode in _MODES if written.rfind(mode + b"h") > written.rfind(mode + b"l")]


def test_an_app_that_is_asked_to_end_saves_the_answer_and_restores_the_terminal(
    tmp_path: Path, forking_program: tuple[str, ...]
) -> None:
    with streaming(tmp_path, forking_program) as terminal:
        assert list_modes(terminal.written) == [*_MODES]
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.wait_for_end() == EXIT_CANCELLED
        assert list_modes(terminal.written) == []
        assert b"internal error" not in terminal.written
    last = read_last()
    assert (last.answer, last.stopped) == (_ANSWER, StopReason.CANCELLED)


@pytest.mark.parametrize("is_told", [True, False])
def test_the_app_keeps_an_answer_when_its_terminal_goes_away(
    tmp_path: Path, forking_program: tuple[str, ...], *, is_told: bool
) -> None:
    with streaming(tmp_path, forking_program, is_controlling=is_told) as terminal:
        terminal.hang_up()
        assert terminal.wait_for_end() == EXIT_CANCELLED
    last = read_last()
    assert (last.answer, last.stopped) == (_ANSWER, StopReason.CANCELLED)


def test_a_killed_app_leaves_what_it_has_shown_for_a_second(tmp_path: Path, forking_program: tuple[str, ...]) -> None:
    with streaming(tmp_path, forking_program) as terminal:
        shown_at = monotonic()
        while not any(exchange.answer for exchange in _list_exchanges()):
            assert monotonic() < shown_at + 60
            terminal.read_for(0.1)
        terminal.process.kill()
    last = read_last()
    assert (last.answer, last.stopped) == (_ANSWER, StopReason.CANCELLED)


@pytest.mark.parametrize("number", [signal.SIGHUP, None])
def test_a_command_keeps_it_too(tmp_path: Path, forking_program: tuple[str, ...], number: int | None) -> None:
    with streaming(tmp_path, forking_program, "ask", "--events", is_controlling=True) as terminal:
        if number is None:
            terminal.hang_up()
        else:
            terminal.process.send_signal(number)
        terminal.wait_for_end()
        assert b"Traceback" not in terminal.written
        assert number is None or terminal.process.returncode == EXIT_CANCELLED
    last = read_last()
    assert (last.answer, last.stopped) == (_ANSWER, StopReason.CANCELLED)


async def test_after_its_task_a_signal_ends_the_program_as_before() -> None:
    with end_after_task():
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
