"""Whatever is wrong gets one plain sentence that says what to do, and never a traceback."""

from __future__ import annotations

import io
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from roamtui.paths import config_path
from tests.cli.conftest import RunCommand, write_settings

_COSTS = ("0", "-2", "much", "inf", "nan", "1e999")


@pytest.mark.parametrize("command", [["outline"], ["show", "", "00000000"], ["ask", "", "Why?"], ["search", "", "x"]])
def test_a_missing_file_is_told_with_the_nearest_name(run: RunCommand, garden: Path, command: list[str]) -> None:
    name = garden.with_name("gardn.md")
    arguments = [command[0], str(name), *command[2:]]
    result = run(*arguments)
    assert result.code == 1
    assert result.err == f"roamtui: There is no file {name}. Did you mean {garden}?\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "no document given"),
        ("outline", "SOURCE"),
        ("show x.md", "ID"),
        ("ask x.md", "QUESTION"),
        ("ask x.md ''", "the question is empty"),
        ("ask x.md ' '", "the question is empty"),
        ("outline x.md --budget 0", "--budget"),
        ("outline x.md --budget many", "--budget"),
        ("outline x.md --nonsense", "--nonsense"),
        *((f"ask x.md q --max-cost={cost}", "--max-cost: must be a number above 0") for cost in _COSTS),
        ("ask x.md q --keep-open sometimes", "--keep-open"),
        ("ask x.md q --continue --conversation abc", "--conversation"),
        ("search x.md q --mode psychic", "--mode: must be one of off, keyword, vector, hybrid"),
        ("search x.md q --mode off", "search is off"),
        ("search x.md q --limit -3", "--limit: must be a whole number of 1 or more"),
        ("search x.md q --chunk-size 100", "--chunk-size"),
        ("ask x.md q --mode vector", "needs an embedder; off and keyword work without"),
        ("search x.md q --mode hybrid --embedder word", 'invalid embedder name "word"'),
        ("ask x.md q --rerank scores", "offline cannot rerank"),
        ("search x.md q --rerank scores --model 'two words'", "invalid model name"),
        ("conversations show", "the ID"),
        ("conversations list abc", "no ID"),
        ("conversations burn", "must be one of list, show"),
        ("serch x.md q", 'no command or file "serch". Did you mean `roamtui search`?'),
        ("converstions", "`roamtui conversations`"),
        ("Outline x.md", "`roamtui outline`"),
        ("recheck", "--all"),
        ("mcp --port 8001 x.md", "--port needs --http"),
        ("mcp -", "from standard input over stdio"),
        ("eval", "QUESTIONS"),
        ("eval x.md", "--docs"),
        ("eval x.md --docs . --mode off", "search is off"),
        ("eval x.md --docs . --sample 0", "--sample"),
    ],
)
def test_wrong_use_is_one_sentence(
    run: RunCommand, garden: Path, line: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(garden.parent)
    garden.rename(garden.with_name("x.md"))
    result = run(*shlex.split(line))
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("roamtui: ")
    assert words in result.err
    assert result.err.count("\n") == 1


def test_standard_input_is_read_from_a_pipe(run: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"# Piped\n\nWords about kites.\n")))
    data = run("ask", "-", "What about kites?", "--json").json
    assert data["citations"][0]["quote"] == "Words about kites."


def test_a_conversation_about_another_document_is_not_continued(run: RunCommand, garden: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.md"
    other.write_text("# Other\n\nSomething else.\n", "utf-8")
    conversation = run("ask", other, "Something?", "--json").json["conversation"]
    result = run("ask", garden, "Why?", "--conversation", conversation)
    assert result.code == 2
    assert f'another document. Run: roamtui "{other}" --conversation {conversation}' in result.err
    assert run("ask", garden, "Why?", "--conversation", "feedbeef").code == 1


def test_a_conversation_goes_on_with_its_document_where_that_was_moved(run: RunCommand, tmp_path: Path) -> None:
    before, after = tmp_path / "before.md", tmp_path / "after.md"
    before.write_text("# Kites\n\nKites fly on a line.\n", "utf-8")
    conversation = run("ask", before, "What flies on a line?", "--json").json["conversation"]
    before.rename(after)
    assert (
        run("ask", after, "What flies?", "--conversation", conversation, "--json").json["conversation"] == conversation
    )
    assert run("ask", after, "What flies now?", "--continue", "--json").json["conversation"] == conversation


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("model = ", "not valid TOML"),
        ("window_tokens = '8k'", "window_tokens must be a whole number of 1000 or more"),
        ('[models."openai/x"]\nretries = -1', 'models."openai/x".retries must be a whole number from 0 to 20'),
        ("[models]\nname = 'x'", '[models."name"] must be a table'),
        ("model = 3", "model must be a quoted string"),
        ("[retrieval]\nmode = 'magic'", "retrieval.mode must be one of"),
        ("[keep_open]\ntokens = -1", "keep_open.tokens must be a whole number"),
        ("keys = 3", "[keys] must be a table"),
    ],
)
def test_a_broken_configuration_names_the_place(run: RunCommand, garden: Path, text: str, word: str) -> None:
    write_settings(text)
    result = run("ask", garden, "Why?")
    assert result.code == 2
    assert word in result.err
    assert str(config_path()) in result.err


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "long.md"
    path.write_text("# H\n\n" + "words " * 200_000, "utf-8")
    command = f'"{sys.executable}" -m roamtui outline "{path}" --json | head -c 10'
    result = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False)
    assert result.stdout == b'{\n  "sourc'
    assert result.stderr == b""


def test_a_file_named_like_a_typing_error_opens(run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(garden.parent)
    garden.rename("serch")
    result = run("serch", "nowhere.md")
    assert "nowhere.md" in result.err
    assert "Did you mean" not in result.err


def test_another_missing_file_is_no_command(run: RunCommand) -> None:
    assert "There is no file garden" in run("garden", "--plain").err
