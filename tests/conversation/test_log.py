"""A trace is a private copy of a log without secrets; names of events on disk."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import get_args

import pytest

from roamtui.conversation.events import EVENT_NAMES, ConversationEvent
from roamtui.conversation.log import ConversationLog, Trace, decode_entries
from roamtui.errors import UsageError
from roamtui.models.secrets import Secrets
from tests.conversation.conversations import Recorder

KEY = 'sk-"0123456789abcdef'
SECRETS = Secrets.from_environ({"OPENAI_API_KEY": KEY})
NAMES_IN_0_2 = """
    answer_streamed conversation_begun conversation_changed conversation_forked conversation_renamed
    deed_done deed_undone document_read document_reloaded draft_recorded entry_skipped
    loading_progressed nodes_folded nodes_loaded nodes_unfolded origins_approved question_answered
    question_asked questions_taken_back reading_changed reminder_sent results_dropped retry_scheduled
    save_failed saving_reported sections_closed sections_delivered sections_expanded
    sections_found_again sections_kept sections_marked sections_pinned sections_searched step_recorded
    step_started thinking_streamed tool_finished transcript_rebuilt
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def _open(path: Path) -> Trace:
    return Trace(path, SECRETS.redact)


def test_a_trace_has_the_lines_of_the_log(path: Path) -> None:
    trace, played = _open(path), Recorder().ask("Why?", "Alpha")
    trace.write(played.log)
    before = path.read_bytes()
    trace.write(played.ask("And?", "Beta").log)
    assert path.read_bytes().startswith(before)
    trace.write(played.log)
    assert decode_entries(path.read_bytes()) == played.log.events


def test_a_second_conversation_and_a_second_run_append(path: Path) -> None:
    trace, first, second = _open(path), Recorder("one").ask("One?"), Recorder("two").ask("Two?")
    trace.write(first.log)
    trace.write(second.log)
    path.write_bytes(path.read_bytes()[:-9])
    _open(path).write(second.log)
    events = decode_entries(path.read_bytes())
    assert events[: len(first.log.events)] == first.log.events
    assert events[-len(second.log.events) :] == second.log.events


@pytest.mark.parametrize("exists", [False, True])
def test_only_the_owner_can_read_a_trace(path: Path, exists: bool) -> None:  # noqa: FBT001
    before = os.umask(0)
    try:
        if exists:
            path.touch(0o666)
        _open(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "content", ["# A handbook\n", "{}", " ", '{"event": "question_asked"}\n', '{"kind": "start"}\n']
)
def test_a_file_that_is_not_a_trace_is_not_changed(path: Path, content: str) -> None:
    path.write_text(content, "utf-8")
    with pytest.raises(UsageError, match=r"is not a trace\. Choose another file\."):
        _open(path)
    assert path.read_text("utf-8") == content


def test_an_unwritable_trace_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "folder.jsonl"):
        with pytest.raises(UsageError, match="--trace cannot write") as caught:
            _open(path)
        assert str(path) in str(caught.value)


def test_a_full_disk_stops_the_trace_and_not_the_program() -> None:
    trace = _open(Path("/dev/full"))
    trace.write(ConversationLog(conversation_id="c0ffee"))
    assert trace.failure == ""
    for _ in range(2):
        trace.write(Recorder().ask("Why?").log)
        assert trace.failure == "Stopped writing the trace /dev/full: No space left on device."


def test_a_trace_has_no_secrets(path: Path) -> None:
    played = Recorder().ask(f"Is {KEY} valid?", answer=json.dumps({"key": KEY}))
    _open(path).write(played.log)
    assert "0123456789abcdef" not in path.read_text("ascii")
    assert "Is [redacted] valid?" in path.read_text("ascii")


def test_every_kind_of_event_has_one_name_on_disk() -> None:
    assert set(EVENT_NAMES) == set(get_args(ConversationEvent))
    assert len(set(EVENT_NAMES.values())) == len(EVENT_NAMES)


def test_event_names_on_disk_never_change() -> None:
    assert set(NAMES_IN_0_2.split()) <= set(EVENT_NAMES.values())
