"""An answer in a terminal while it arrives."""

import io
import re
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.headless.live_answer import RewritableText
from roamtui.outline.references import resolve_name
from tests.cli.conftest import GARDEN
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply

pytest.importorskip("pty")
from tests.terminal.pseudo_terminal import PseudoTerminal

_ROWS, _COLUMNS = 6, 10


def draw(written: str, columns: int = _COLUMNS) -> list[str]:
    """Return the lines of a terminal, with those that have left its screen, after this was written."""
    lines: list[str] = []
    for back, text in re.findall(r"(?:\x1b\[(\d+)F\x1b\[J)?([^\x1b]*)", re.sub(r"\x1b\[[\d;]*m", "", written)):
        lines = lines[: len(lines) - int(back or 0)]
        for line in text.splitlines():
            lines += [line[start : start + columns] for start in range(0, max(1, len(line)), columns)]
    return lines


@given(st.lists(st.lists(st.text("abc", max_size=25), max_size=12), max_size=6), st.lists(st.text("abc"), min_size=1))
def test_a_text_that_was_written_again_and_again_ends_as_if_written_once(
    drafts: list[list[str]], last: list[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(_COLUMNS))
        patch.setenv("LINES", str(_ROWS))
        output = io.StringIO()
        patch.setattr(sys, "stdout", output)
        text = RewritableText()
        for lines in drafts:
            text.show("".join(f"{line}\n" for line in lines))
        text.show("".join(f"{line}\n" for line in last), is_last=True)
        written = output.getvalue()
    once = draw("".join(f"{line}\n" for line in last))
    assert draw(written)[-len(once) :] == once
    assert all(int(back) < _ROWS for back in re.findall(r"\x1b\[(\d+)F", written))


@pytest.mark.slow
def test_an_answer_streams_into_a_terminal_with_its_signs(
    tmp_path: Path, home_dir: Path, forking_program: tuple[str, ...]
) -> None:
    garden = tmp_path / "garden.md"
    garden.write_text(GARDEN, "utf-8")
    library = Library(source=str(garden), root=parse_document(GARDEN))
    tools = resolve_name(library, "Tools")
    gate = threading.Event()
    sentence = f'It costs "50 cents a day" [{tools}]. '
    reply = FakeReply(text=f"{sentence}That is all.", gate=gate, gate_after=-(-len(sentence) // 4))
    with FakeOpenAIServer(reply) as server:
        server.facts["/v1/models"] = {"data": [{"id": "test", "max_model_len": 32_768}]}
        arguments = ("ask", garden, "What does a late spade cost?", "--model", "openai/test", "--api-base", server.url)
        terminal = PseudoTerminal(
            arguments,
            home_dir,
            environ={"OPENAI_API_KEY": "sk-0123456789abcdef", "TERM": "xterm-256color"},
            program=(sys.executable, *forking_program),
        )
        with closing(terminal):
            terminal.wait_for("1 ✓".encode())
            early = terminal.written
            gate.set()
            assert terminal.wait_for_end() == 0
    assert b"openai/test: getting ready to ask" in early
    assert b"That is all" not in early
    *_, answer = terminal.written.decode().replace("\r\n", "\n").rpartition("\r")
    lines = draw(answer, columns=160)
    assert [line for line in lines if "That is" in line] == [
        'It costs "50 cents a day" [1 ✓]. That is all.',
        "  no source for 1 statement: That is all.",
    ]
    assert "  1 ✓ Tools · line 19" in lines
