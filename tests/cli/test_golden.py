"""What every command prints, kept in files: a change of an output is a change of a file.

A file of `tests/cases/golden` is a script with what came of it: `$ roamtui ...` runs a command, `< {...}` is what a
model says at its next request (then the requests are kept too), and `% VERB FILE [JSON]` copies a text of the tests
to a file below TMP, writes, replaces words in, deletes or prints one. Ids of conversations, times and paths are masked.
`make golden` writes all files anew; a new case is a file with its script alone.
"""

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.case_files import read_case
from tests.cli.conftest import RunCommand
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply
from tests.real_documents import PROJECT_DIR

CASES = sorted((PROJECT_DIR / "tests" / "cases" / "golden").glob("*.txt"))
IS_UPDATE = "GOLDEN_UPDATE" in os.environ

_SCRIPT_LINE = re.compile(r"^(?:\$ roamtui |< \{|% ).*$", re.MULTILINE)
_CONVERSATION = re.compile(r"\b[0-9a-f]{12}(?:[0-9a-f]{6})?\b")
_MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.+Z]*"), "TIME"),
    (re.compile(r"<<<[g-z]{8}|[g-z]{8}>>>"), "NONCE"),
    (re.compile(r"\bcall_[0-9a-f]{24}\b"), "CALL"),
    (re.compile(r"(\d\.\d{4})\d+"), r"\1"),
    (re.compile(r"median ms .*"), "median ms MS"),
    (re.compile(r'("median_ms": )(?:\[[^]]*\]|[\d.]+)'), r'\1"MS"'),
)
_WIDTH = 300


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_command_prints_what_it_printed(
    run: RunCommand, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    expected = path.read_bytes().decode("utf-8")
    if "--model" in expected:
        request.getfixturevalue("forked_models")
    monkeypatch.chdir(PROJECT_DIR)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    with FakeOpenAIServer() as server:
        server.facts["/v1/models"] = {"data": [{"id": "golden", "max_model_len": 32_768}]}
        places = {"TMP": str(tmp_path), "SERVER": server.url}
        now = _play(_SCRIPT_LINE.findall(expected), run, server, places)
    if IS_UPDATE:
        path.write_bytes(now.encode("utf-8"))
    else:
        assert now == expected


def _play(script: list[str], run: RunCommand, server: FakeOpenAIServer, places: dict[str, str]) -> str:
    """Return a script with what its commands print; `CONVERSATION-1` in it is the first that was told of."""
    replies = [_make_reply(json.loads(line[2:])) for line in script if line.startswith("<")]
    server.reset(*replies)
    names = {value: name for name, value in places.items()} | {str(PROJECT_DIR): "PROJECT"}
    parts = []
    for line in script:
        parts.append(f"{line}\n")
        if line.startswith("<"):
            continue
        command = line
        for value, name in names.items():
            command = command.replace(name, value)
        if line.startswith("%"):
            parts.append(_lay_out(_mask(_change_file(Path(places["TMP"]), *command.split(" ", 3)[1:]), names)))
            continue
        result = run(*shlex.split(command)[2:])
        for found in _CONVERSATION.findall(result.out):
            names.setdefault(found, f"CONVERSATION-{len(names) - len(places)}")
        parts.append(_lay_out(_mask(result.out, names)))
        parts += [f"stderr: {text}\n" for text in _mask(result.err, names).splitlines()]
        parts += [f"exit {result.code}\n"] if result.code else []
    seen = 0
    for number, body in enumerate(server.bodies, start=1):
        messages = _mask(json.dumps(body["messages"][seen:], ensure_ascii=False), names)
        parts.append(f"request {number}, from message {seen + 1}\n{_describe(json.loads(messages))}\n")
        seen = len(body["messages"])
    return "".join(parts)


def _change_file(folder: Path, verb: str, name: str, value: str = "null") -> str:
    """Do what a line of a script says to a file; return the text to print."""
    file = folder / name
    given = json.loads(value)
    file.parent.mkdir(parents=True, exist_ok=True)
    match verb:
        case "copy":
            file.write_text(read_case(given), "utf-8")
        case "write":
            file.write_text(given, "utf-8", newline="")
        case "replace":
            file.write_text(file.read_text("utf-8").replace(*given), "utf-8")
        case "delete":
            file.unlink()
        case "print":
            return file.read_text("utf-8")
        case _:
            raise ValueError(verb)
    return ""


def _make_reply(script: dict[str, Any]) -> FakeReply:
    calls = tuple((name, json.dumps(arguments)) for name, arguments in script.get("calls", []))
    return FakeReply(text=script.get("text", ""), calls=calls, chunk_size=60)


def _lay_out(text: str) -> str:
    """Return an output as text in which a difference shows on one line."""
    try:
        text = _describe(json.loads(text))
    except ValueError:
        text = "".join(c if c == "\n" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if not text or text.endswith("\n") else f"{text}\n"


def _describe(value: Any, indent: str = "") -> str:  # noqa: ANN401 - whatever the program wrote
    """Return JSON with a line for each value that is not too long for one."""
    flat = json.dumps(value, ensure_ascii=False)
    if not value or not isinstance(value, dict | list) or len(flat) + len(indent) <= _WIDTH:
        return flat
    deeper = f"{indent} "
    if isinstance(value, list):
        lines = [deeper + _describe(item, deeper) for item in value]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]"
    lines = [f"{deeper}{json.dumps(key)}: {_describe(item, deeper)}" for key, item in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def _mask(text: str, names: dict[str, str]) -> str:
    """Return an output without what differs from one run or machine to another."""
    for value, name in names.items():
        text = text.replace(value, name)
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return text
