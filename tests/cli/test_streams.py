"""Standard streams: terminals, pipes, and those that are closed, full or abandoned; words that are no Unicode."""

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from roamtui.markdown.lines import measure
from tests.terminal.pseudo_terminal import PseudoTerminal

ROAMTUI = (sys.executable, "-m", "roamtui")
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")


def run_in_shell(command: str, *arguments: str | bytes | Path, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell's command line in which `roamtui` is the program, and $1 and $2 are the arguments."""
    for name, words in {"roamtui": " ".join(ROAMTUI), "$1": '"$1"', "$2": '"$2"'}.items():
        command = command.replace(name, words)
    line: list[str | bytes] = ["sh", "-c", command, "sh", *map(os.fsencode, arguments)]
    return subprocess.run(line, capture_output=True, check=False, timeout=180, env={**os.environ, **environ})


@needs_full
@pytest.mark.parametrize(
    "command", ["roamtui --help", "roamtui --version", "roamtui show --help", "roamtui outline $1"]
)
def test_a_full_disk_is_told_in_a_sentence(garden: Path, command: str) -> None:
    result = run_in_shell(f"{command} > {FULL}", garden)
    assert result.returncode == 1
    assert result.stderr == b"roamtui: Could not read or write a file: No space left on device.\n"


@pytest.mark.parametrize("where", ["2>&-", pytest.param(f"2> {FULL}", marks=needs_full)])
def test_notes_that_nobody_takes_cost_no_result(tmp_path: Path, where: str) -> None:
    path = tmp_path / "nul.md"
    path.write_bytes(b"# A\n\nHalf a word: \xff\n")
    result = run_in_shell(f"roamtui outline $1 --json {where}", path)
    assert result.returncode == 0
    assert json.loads(result.stdout)["title"] == "A"


@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("ask $1 'What is a late spade?' --events", b'{"v": 1, "event": "question_asked"'),
        ("outline $1", b"Outline of "),
    ],
)
def test_a_reader_may_have_enough(garden: Path, command: str, first: bytes) -> None:
    with garden.open("a", encoding="utf-8") as file:
        file.writelines(f"## Row {number}\n\nBeans.\n\n" for number in range(3_000))
    result = run_in_shell(f"{{ roamtui {command}; echo $? >&2; }} | head -c {len(first)}", garden)
    assert (result.stdout, result.stderr) == (first, b"0\n")


def test_all_streams_closed_write_into_no_file(garden: Path) -> None:
    command = "roamtui ask $1 'What is a late spade?' <&- >&- 2>&-; roamtui conversations --all"
    result = run_in_shell(command, garden)
    assert result.stdout.count(b"(1 question") == result.stdout.count(b"\n") == 1


def test_a_result_that_cannot_be_written_is_not_lost_unnoticed(garden: Path) -> None:
    result = run_in_shell("roamtui outline $1 >&-", garden)
    assert (result.returncode, result.stderr.count(b"\n")) == (1, 1)


def test_a_query_is_utf_8_whatever_the_locale_says(tmp_path: Path) -> None:
    path = tmp_path / "law.md"
    path.write_text(
        "# Gesetz\n\n## Fristen\n\nDie Verjährung beginnt im Januar.\n\n## Anderes\n\nSonstiges.\n", "utf-8"
    )
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    result = run_in_shell("roamtui search $1 $2 --json", path, "Verjährung", **plain)
    assert [hit["path"][-1] for hit in json.loads(result.stdout)["hits"]] == ["Fristen"]


pytest.importorskip("pty")
pytestmark = pytest.mark.slow
_QUESTION = "What does a late spade cost?"
_SEQUENCE = re.compile(r"\x1b\[[\d;]+m")


def run_in_terminal(*arguments: str | Path, columns: int = 80, **environ: str) -> str:
    """Run the program with its output in a terminal, and return what it writes there."""
    quiet = ("sh", "-c", 'exec "$@" </dev/null 2>/dev/null', "sh", *ROAMTUI)
    environ = {"TERM": "xterm-256color", **environ}
    opened = PseudoTerminal(arguments, Path.home(), environ=environ, program=quiet, columns=columns)
    with closing(opened) as terminal:
        terminal.wait_for_end()
    return terminal.written.decode("utf-8").replace("\r\n", "\n")


def test_an_answer_has_styles_in_a_terminal(garden: Path) -> None:
    text = run_in_terminal("ask", garden, _QUESTION)
    assert "\x1b[4;36m“Tools are lent for three days." in text
    assert "\n  1 Tools · line 19\n" in _SEQUENCE.sub("", text)


def test_hits_are_wrapped_between_words_in_a_terminal(garden: Path) -> None:
    title = "返却が遅れた鋤の料金は一日につき五十セントです"
    garden.write_text(f"# {title}\n\nLate spade: https://garden.example/a-late-spade\n", "utf-8")
    lines = run_in_terminal("search", garden, "late spade", columns=40).splitlines()
    assert lines[0].startswith("1. [")
    assert max(map(measure, lines)) <= 40
    assert {line[:3] for line in lines if not line[0].isdigit()} == {"   "}
    assert any("https://garden.example/a-late-spade" in line for line in lines)
