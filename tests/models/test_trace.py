"""A trace is a file for its owner alone, written line by line, that holds no secret."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from roamtui.conversation.transcript import Message, Role
from roamtui.errors import UsageError
from roamtui.models.base import Request
from roamtui.models.trace import TraceWriter
from tests.models.asking import EXPAND, make_request

KEY = "sk-0123456789abcdef"
ENVIRON = {"OPENAI_API_KEY": KEY}


def fixed_clock() -> datetime:
    return datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


@pytest.fixture
def open_writer(path: Path) -> Callable[[], TraceWriter]:
    return lambda: TraceWriter(path, ENVIRON, fixed_clock)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


def write_text(writer: TraceWriter, *texts: str) -> None:
    for text in texts:
        writer.write("model", {"request": 1, "event": "text", "data": {"text": text}})


def test_each_line_is_in_the_file_at_once_with_the_time(path: Path, open_writer: Callable[[], TraceWriter]) -> None:
    writer = open_writer()
    writer.write("question", {"question": "Why?\nöäü \ud800"})
    assert read(path) == [{"kind": "question", "at": "2026-11-20T09:30:00.000+00:00", "question": "Why?\nöäü \ud800"}]
    writer.close()


@pytest.mark.parametrize("exists", [False, True])
def test_only_its_owner_can_read_it(path: Path, open_writer: Callable[[], TraceWriter], exists: bool) -> None:  # noqa: FBT001
    before = os.umask(0)
    try:
        if exists:
            path.touch(0o666)
        open_writer().close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_another_run_comes_after_what_is_there_even_after_half_a_line(
    path: Path, open_writer: Callable[[], TraceWriter]
) -> None:
    path.write_text('{"kind": "start", "n": 1}\n{"kind": "quest', "ascii")
    writer = open_writer()
    writer.write("start", {"n": 2})
    writer.close()
    lines = path.read_text("ascii").splitlines()
    assert lines[:2] == ['{"kind": "start", "n": 1}', '{"kind": "quest']
    assert json.loads(lines[2])["n"] == 2


@pytest.mark.parametrize("content", ["# A handbook\n", "{}", " ", '{"kind": "question"}\n'])
def test_a_file_that_is_no_trace_is_left_alone(
    path: Path, open_writer: Callable[[], TraceWriter], content: str
) -> None:
    path.write_text(content, "utf-8")
    with pytest.raises(UsageError, match=r"which is no trace\. Name a new file\."):
        open_writer()
    assert path.read_text("utf-8") == content


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "folder.jsonl"):
        with pytest.raises(UsageError, match="--trace cannot write") as caught:
            TraceWriter(path, ENVIRON)
        assert str(path) in str(caught.value)


def test_a_full_disk_stops_the_trace_and_not_the_program(path: Path) -> None:
    writer = TraceWriter(Path("/dev/full"), ENVIRON)
    assert writer.failure == ""
    writer.write("question", {})
    assert writer.failure == "The trace /dev/full ends here: No space left on device."
    writer.write("question", {})
    writer.close()
    assert not path.exists()


def test_a_secret_is_in_no_line(path: Path, open_writer: Callable[[], TraceWriter]) -> None:
    writer = open_writer()
    writer.write("error", {"message": f"Incorrect API key provided: {KEY}", "nested": {"list": [KEY]}})
    request = Request(messages=(Message(role=Role.USER, text=f"Is {KEY} valid?"),), tools=(EXPAND,))
    writer.write_request(request, f"openai/{KEY}", None)
    writer.close()
    assert KEY not in path.read_text("ascii")
    assert read(path)[0]["nested"] == {"list": ["[redacted]"]}


def test_text_in_pieces_is_masked_as_a_whole(path: Path, open_writer: Callable[[], TraceWriter]) -> None:
    writer = open_writer()
    write_text(writer, "The key is ", "sk-0123")
    writer.write("agent", {"event": "AnswerStreamed", "data": {"text": "The key"}})
    write_text(writer, "456789", "abcdef, and")
    assert read(path) == []
    writer.write("model", {"request": 1, "event": "thinking", "data": {"text": "Hm."}})
    writer.write("agent", {"event": "AnswerStreamed", "data": {"text": " is"}})
    writer.write("question", {"question": "Why?"})
    lines = read(path)
    assert [(line["kind"], line["data"]["text"]) for line in lines[:4]] == [
        ("model", "The key is [redacted], and"),
        ("agent", "The key"),
        ("agent", " is"),
        ("model", "Hm."),
    ]
    assert lines[4]["kind"] == "question"
    writer.close()


def test_a_request_holds_what_is_new_and_a_digest(path: Path, open_writer: Callable[[], TraceWriter]) -> None:
    writer = open_writer()
    first = make_request()
    second = Request(messages=(*first.messages, Message(role=Role.ASSISTANT, text="Yes.")), tools=first.tools)
    other = Request(
        messages=(first.messages[0], Message(role=Role.USER, text="<<<ghjkmnpq\nx\nghjkmnpq>>>")), allow_calls=False
    )
    same = Request(
        messages=(first.messages[0], Message(role=Role.USER, text="<<<tttttttt\nx\ntttttttt>>>")), allow_calls=False
    )
    assert [writer.write_request(request, "m", 9) for request in (first, second, other, same)] == [1, 2, 3, 4]
    lines = read(path)
    assert [line["repeats"] for line in lines] == [0, 2, 1, 1]
    assert [[message["text"] for message in line["messages"]] for line in lines] == [
        ["You roam.", "What is a model?"],
        ["Yes."],
        ["<<<ghjkmnpq\nx\nghjkmnpq>>>"],
        ["<<<tttttttt\nx\ntttttttt>>>"],
    ]
    assert lines[0]["tools"][0]["name"] == "expand_sections"
    assert (lines[0]["model"], lines[0]["window_tokens"], lines[2]["allow_calls"]) == ("m", 9, False)
    assert len({line["digest"] for line in lines}) == 3
    assert lines[2]["digest"] == lines[3]["digest"]
    writer.close()
