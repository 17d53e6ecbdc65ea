"""Every command in a pipe and a terminal, with JSON, without a home, and with one that nobody can write to."""

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from roamtui.cli import COMMANDS, make_parser, parse_arguments
from roamtui.settings import FLAGS, list_key_types, list_overrides, load_settings
from tests.anomalies.terminal_output import run_in_terminal
from tests.cli.conftest import RunCommand, list_flags

LINES = {
    "ask": "GARDEN 'What does a late spade cost?'",
    "outline": "GARDEN",
    "show": "GARDEN Tools",
    "search": "GARDEN spade",
    "index": "GARDEN",
    "table": "GARDEN -q 'What does a late spade cost?'",
    "eval": "QUESTIONS --docs FOLDER",
    "conversations": "",
    "notes": "",
    "recheck": "QUOTES --in GARDEN",
    "doctor": "",
}
"""An example of each command that ends."""
FLAGS_OF = {name: list_flags(name) for name in ("", *COMMANDS)}
_WITH_JSON = [name for name in LINES if "--json" in FLAGS_OF[name]]
_OPTIONS_MAX = 70


def _write_line(name: str, garden: Path) -> list[str]:
    questions = garden.with_name("questions.jsonl")
    question = {
        "id": "1",
        "question": "What does a late spade cost?",
        "doc": garden.name,
        "gold_section_titles_path": ["Garden manual", "Tools"],
    }
    questions.write_text(json.dumps(question) + "\n", "utf-8")
    quotes = garden.with_name("quotes.txt")
    quotes.write_text('It says "A late spade costs 50 cents a day."\n', "utf-8")
    places = {"GARDEN": garden, "QUESTIONS": questions, "QUOTES": quotes, "FOLDER": garden.parent}
    return [name, *(str(places.get(word, word)) for word in shlex.split(LINES[name]))]


def test_every_command_that_ends_is_here() -> None:
    assert {*LINES, "demo", "mcp", "serve"} == set(COMMANDS)


@pytest.mark.parametrize("name", LINES)
def test_a_pipe_gets_text_without_control_sequences(run: RunCommand, garden: Path, name: str) -> None:
    result = run(*_write_line(name, garden))
    assert (result.code, "Traceback" in result.err) == (0, False), result.err
    assert "\x1b" not in result.out


def test_without_memory_it_says_so(run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_out_of_memory(_: object) -> int:
        raise MemoryError

    monkeypatch.setattr(COMMANDS["outline"], "run", run_out_of_memory)
    result = run("outline", garden)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "not enough memory" in result.err


@pytest.mark.parametrize("name", _WITH_JSON)
def test_json_alone_goes_to_standard_output(run: RunCommand, garden: Path, name: str) -> None:
    result = run(*_write_line(name, garden), "--json")
    assert result.code == 0
    assert isinstance(result.json, dict | list)


@pytest.mark.parametrize("kind", ["missing", "not writable"])
@pytest.mark.parametrize("name", LINES)
def test_without_a_home_it_works_or_says_why_in_a_sentence(
    run: RunCommand, garden: Path, name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = garden.with_name("home")
    if kind == "not writable":
        home.write_text("a file, below which nothing can be made", "utf-8")
    for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(home / variable))
    result = run(*_write_line(name, garden))
    assert "internal error" not in result.err
    if result.code:
        assert kind == "not writable"
        assert result.err.splitlines()[-1].startswith("roamtui: ")


@pytest.mark.parametrize("name", LINES)
def test_a_terminal_gets_only_styles(garden: Path, name: str) -> None:
    assert run_in_terminal(*_write_line(name, garden), has_styles=True).code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_ends_with_an_example_that_it_understands(run: RunCommand, name: str) -> None:
    heading, example = run(name, "--help").out.splitlines()[-2:]
    assert heading == "example:"
    words = shlex.split(example)
    assert words[:2] == ["roamtui", name]
    make_parser(name).parse_intermixed_args(words[2:])


def test_a_flag_overrides_its_setting_and_an_empty_one_does_not() -> None:
    words = ["ask", "a.md", "q", "--model", "", "--limit=3", "--keep-open", "fresh"]
    assert list_overrides(vars(parse_arguments(words))) == {"keep_open.mode": "fresh", "retrieval.limit": 3}
    settings = load_settings({"keep_open.mode": "fresh", "limits.max_cost_usd": 0.5})
    assert (settings.keep_open.mode, settings.limits.max_cost_usd) == ("fresh", 0.5)


def test_there_are_few_options() -> None:
    flags = frozenset().union(*FLAGS_OF.values())
    keys = list_key_types()
    assert set(FLAGS.values()) <= set(keys)
    assert len(flags - {"-h", "--help"} | keys.keys() - set(FLAGS.values())) <= _OPTIONS_MAX


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_the_script_for_a_shell_is_valid_and_complete(run: RunCommand, shell: str, tmp_path: Path) -> None:
    script = run("--print-completion", shell).out
    flags = frozenset().union(*FLAGS_OF.values())
    names = {word: f"-l {word[2:]} " if shell == "fish" else word for word in flags if word.startswith("--")}
    assert [word for word in (*COMMANDS, *names.values()) if word not in script] == []
    assert "complete -c roamtui -f\n" not in script, "fish offers files beside the commands"
    path = tmp_path / "script"
    path.write_text(script, "utf-8")
    if shutil.which(shell):
        subprocess.run([shell, "-n", str(path)], check=True)
