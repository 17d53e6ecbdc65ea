"""Every command of the manual runs: of README, of docs/, and of the examples in `--help`.

The commands of a page run from its top to its end, on a desk that has the files that the manual names. `_REASONS` lists
what does not run here, and why. A command that opens the app runs with `--plain`, and gets a question.
"""

import io
import json
import re
import shlex
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from roamtui.cli import COMMANDS, make_parser, parse_arguments
from roamtui.convert.formats import FORMATS, FORMATS_BY_NAME
from tests.cli.conftest import Run, RunCommand
from tests.cli.desk import QUESTION, Desk
from tests.real_documents import PROJECT_DIR

_CODE = re.compile(r"^```(?P<kind>\w*)\n(?P<block>.*?)^```$|(?<!`)`(?P<span>[^`]+)`(?!`)", re.DOTALL | re.MULTILINE)
_OPERATOR = re.compile(r"[();<>|&]+")
_REASONS = {
    "runs this test": ["make test"],
    "needs a network": [
        "make run",
        "pip install roamtui",
        "pip install 'roamtui[lancedb]'",
        "pipx run pip-audit --requirement constraints.txt --no-deps --disable-pip",
    ],
    "needs a terminal: tests/terminal/test_tmux.py": ["roamtui -", "roamtui demo"],
    "needs a terminal, to show a table: tests/tui/screens/test_table.py": ["roamtui FOLDER"],
    "runs until somebody stops it: tests/terminal/test_serving.py": [
        "roamtui serve SOURCE",
        "roamtui serve handbook.md --port 8080",
    ],
    "talks to a program: tests/headless/test_mcp.py": [
        "roamtui mcp handbook.md",
        "roamtui mcp /home/me/handbook.md /home/me/docs",
    ],
    "is a command of another program": [
        "claude mcp add handbook -- roamtui mcp /home/me/handbook.md /home/me/docs",
        "codex mcp add handbook -- roamtui mcp /home/me/handbook.md /home/me/docs",
    ],
    "imports LanceDB, which takes five seconds: tests/cli/test_commands.py": [
        "roamtui index docs/ --index ./shelf.lance --embedder ollama/snowflake-arctic-embed2",
        "roamtui index SOURCE --index DATABASE --delete",
    ],
    "ask at a terminal: tests/cli/test_commands.py": [
        "roamtui conversations delete ID",
        "roamtui notes SOURCE --delete",
    ],
    "needs a document that was moved: tests/cli/test_wrong_use.py": ["roamtui NEW-PLACE --conversation ID"],
}
"""Why commands do not run here. A path is the test that runs such a command all the same."""
_NOT_RUN = {command for commands in _REASONS.values() for command in commands}
_FAILS = "roamtui ask handbook.md -- --help"
"""This command ends with 1: the document has no answer."""
_SERVER_FLAGS = {"--model", "--embedder"}


class Line(NamedTuple):
    """A command of the manual."""

    text: str
    words: list[str]
    """The arguments of `roamtui`; none for another program."""
    reader: list[str]
    """The program that reads the output, with its arguments, if the line is a pipe."""


def _read_line(text: str) -> Line:
    """Read a line as a shell does."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = list(lexer)
    start = words.index("roamtui") + 1 if "roamtui" in words else len(words)
    end = next((place for place in range(start, len(words)) if _OPERATOR.fullmatch(words[place])), len(words))
    is_pipe = words[end : end + 1] == ["|"]
    return Line(text=text, words=words[start:end], reader=words[end + 1 :] if is_pipe else [])


def _list_lines(page: Path) -> Iterator[Line]:
    """Yield every command in the blocks of a page, and those of `roamtui` in its text."""
    for code in _CODE.finditer(page.read_text("utf-8")):
        kind, block = code["kind"], code["block"]
        if block is None:
            span = " ".join(code["span"].split()).removeprefix(".venv/bin/")
            texts = [span] if span.startswith("roamtui ") else []
        elif kind == "sh":
            texts = [re.sub(r"(^|\s)#.*", "", line).strip() for line in block.replace("\\\n", " ").splitlines()]
        elif kind == "yaml":
            texts = re.findall(r"^ *- run: (.*)$", block, re.MULTILINE)
        elif "mcpServers" in block:
            servers = json.loads(block)["mcpServers"].values()
            texts = [shlex.join([server["command"], *server["args"]]) for server in servers]
        else:
            assert kind in ("json", "toml", "text"), f"{page.name} has a block of the unknown kind {kind}."
            texts = []
        yield from map(_read_line, filter(None, texts))


def _list_places() -> Iterator[tuple[str, Line]]:
    """Yield every command of the manual, with the page that has it."""
    for page in (PROJECT_DIR / "README.md", *sorted((PROJECT_DIR / "docs").glob("*.md"))):
        yield from ((page.name, line) for line in _list_lines(page))
    for name in ("", *COMMANDS):
        yield "--help", _read_line(make_parser(name).format_help().rpartition("example:\n  ")[2].strip())


def _group_by_place() -> dict[str, list[Line]]:
    """Return the commands to run, each once, by the first page that has it."""
    groups = defaultdict[str, list[Line]](list)
    listed = set(_NOT_RUN)
    for place, line in _list_places():
        if line.text not in listed:
            groups[place].append(line)
        listed.add(line.text)
    return groups


_LINES = _group_by_place()


@pytest.fixture
def desk(run: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    with ExitStack() as servers:
        desk = Desk(run, servers)
        for name, value in desk.variables.items():
            monkeypatch.setenv(name, value)
        yield desk


@pytest.mark.slow
@pytest.mark.usefixtures("forked_models")
@pytest.mark.parametrize("place", _LINES)
def test_every_command_of_the_manual_runs(place: str, run: RunCommand, desk: Desk) -> None:
    failures = [failure for line in _LINES[place] if (failure := _find_failure(line, run, desk))]
    assert not failures, "\n".join(failures)


def test_what_does_not_run_is_in_the_manual_and_is_understood() -> None:
    assert sorted(_NOT_RUN - {line.text for _, line in _list_places()}) == []
    for words in [_read_line(text).words for text in _NOT_RUN if text.startswith("roamtui ")]:
        parse_arguments(words)
    tests = [path for reason in _REASONS for path in re.findall(r"tests/\S+", reason)]
    assert [path for path in tests if not (PROJECT_DIR / path).is_file()] == []


def test_the_examples_of_the_manual_are_of_the_handbook(run: RunCommand, tmp_path: Path) -> None:
    """A question for `eval` names the right section, and a quote to check again is there."""
    page = " ".join((PROJECT_DIR / "docs" / "command-line.md").read_text("utf-8").split())
    (question,) = re.findall(r'\{"question": .*?\}', page)
    (quote,) = re.findall(r'`("[^`]+" \(\[.+?\]\(handbook.md#\S+?\)\))`', page)
    shutil.copy(PROJECT_DIR / "examples" / "handbook.md", tmp_path)
    (tmp_path / "questions.jsonl").write_text(question, "utf-8")
    (tmp_path / "page.md").write_text(f"{quote}\n", "utf-8")
    measured = run("eval", tmp_path / "questions.jsonl", "--docs", tmp_path, "--json").json
    assert measured["hit_at_1"] == 1
    assert run("recheck", tmp_path / "page.md").out == "1 quote checked: 1 same.\n"


@pytest.mark.parametrize(
    ("page", "pattern"),
    [
        ("README.md", r"^\| (.*): with the extra `roamtui\[formats\]`"),
        ("docs/sources.md", r"^- \*\*(.*)\.\*\* `make run` installs what these formats need"),
    ],
)
def test_the_manual_names_the_formats_that_need_the_extra(page: str, pattern: str) -> None:
    found = re.search(pattern, (PROJECT_DIR / page).read_text("utf-8"), re.MULTILINE)
    assert found is not None
    named = {FORMATS_BY_NAME[f".{name.lower()}"] for name in re.split(", | and ", found[1])}
    assert named == {each for each in FORMATS if each.extra}


def _find_failure(line: Line, run: RunCommand, desk: Desk) -> str:
    """Run a command, and say what went wrong, also if it only complained of something."""
    if variable := re.match(r"export (\w+)=", line.text):
        return "" if variable[1] in desk.variables else line.text
    if not line.words:
        return f"{line.text}: neither runs nor is listed as what does not"
    before = desk.count_requests()
    result = _run(line, run, desk)
    if _SERVER_FLAGS.intersection(line.words) and desk.count_requests() == before:
        return f"{line.text}: asked no server"
    is_mention = result.code == 2 and all(word.startswith("-") for word in line.words[1:])
    complaint = re.search(r"^roamtui: .*", result.err, re.MULTILINE)
    if is_mention or (result.code == 0 and not complaint) or (result.code == 1 and line.text == _FAILS):
        return ""
    return f"{line.text}: exit {result.code}: {result.err}"


def _run(line: Line, run: RunCommand, desk: Desk) -> Run:
    words = [desk.stands_for.get(word, word) for word in line.words]
    for word in {"ID", "3f9c12ab77de"}.intersection(words):
        words[words.index(word)] = desk.ask()
    typed = ""
    if words[0] not in COMMANDS and "--print-completion" not in words:
        words.append("--plain")
        typed = f"{QUESTION}\n" if _SERVER_FLAGS.intersection(words) else ""
    if "--summaries" in words:
        words.append("--yes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO(typed))
        result = run(*words)
    if line.reader and shutil.which(line.reader[0]):
        read = subprocess.run(line.reader, input=result.out, capture_output=True, text=True, check=False)
        assert (read.returncode, bool(read.stdout)) == (0, True), f"{line.text}: {read.stderr}"
    return result
