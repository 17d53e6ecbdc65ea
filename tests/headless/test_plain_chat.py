"""The conversation in lines: questions, cancelling, and nothing that a terminal obeys."""

import errno
import io
import math
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from typing_extensions import override

from roamtui.agent.agent import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import StopReason
from roamtui.conversation.library_loader import ApprovalRequest
from roamtui.conversation.log import ConversationStore
from roamtui.errors import EXIT_CANCELLED, ModelError
from roamtui.headless.plain_chat import PlainChat, approve
from roamtui.models.base import ModelRequest
from roamtui.opening.loader import make_document_library
from roamtui.program import QUIT_WORDS
from roamtui.search.searcher import Searcher
from roamtui.sources.read import SourceText
from tests.agent.asking import NO_HITS
from tests.anomalies.faulty_disk import FaultyDisk
from tests.case_files import read_case
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply

TEXT = read_case("harbour_rules.md")


class Typed(io.StringIO):
    """Input that says it comes from a keyboard."""

    @override
    def isatty(self) -> bool:
        return True


class Chat:
    """The plain chat over a small document."""

    def __init__(self, capsys: pytest.CaptureFixture[str], store: ConversationStore) -> None:
        self._capsys = capsys
        self.library = make_document_library(SourceText(text=TEXT, source="harbour.md", name="harbour"))
        self.model = ScriptedModel()
        self.conversation = Conversation(self.library, store=store)
        self.out = self.err = ""
        """What the last run has written."""

    def id_of(self, title: str) -> str:
        return next(i for i in self.library.walk() if self.library.node(i).title.startswith(title))

    def run(self, *lines: str, replies: tuple[Reply, ...] = (), kind: type[io.StringIO] = io.StringIO) -> int:
        """Send lines through a pipe, or as if they were typed, and return the exit status."""
        self.model.add_replies(*replies)
        agent = Agent(self.conversation, self.model, Searcher(self.library), NO_HITS)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdin", kind("".join(f"{line}\n" for line in lines)))
            patch.setenv("TERM", "xterm")
            status = PlainChat(agent).run()
            assert os.environ["TERM"] == "dumb"
        self.out, self.err = self._capsys.readouterr()
        return status


@pytest.fixture
def chat(capsys: pytest.CaptureFixture[str], store: ConversationStore) -> Chat:
    return Chat(capsys, store)


def test_a_question_is_answered_with_progress_text_and_sources(chat: Chat) -> None:
    mooring = chat.id_of("Moorings")
    opening = ScriptedReply(calls=(("expand_sections", {"section_ids": [mooring]}),))
    answer = f'A night costs "12 euros a night" [{mooring}].'
    assert chat.run("What does a night cost?", replies=(opening, answer)) == 0
    assert "Ask: What does a night cost?\n" in chat.out
    assert f"{answer}\n" in chat.out
    source = f'1. ✓ [{mooring}] Harbour rules > Moorings, line 7 (quote found in the text): "12 euros a night"'
    sentence = "In full: A mooring costs 12 euros a night."
    assert f"\n{source}\n   {sentence}\n1/1 quote found in the text\n" in chat.out
    assert "Opened 1 section: Moorings" in chat.err
    assert chat.out.count("A night costs") == 1


def test_what_a_person_should_know_about_the_model_is_said_once_in_a_conversation(chat: Chat) -> None:
    chat.model.note = "The size of the window is assumed."
    chat.run("Is it loud?", "And now?", replies=("Yes.", "No."))
    assert chat.err.count(chat.model.note) == 1
    chat.run("And later?", replies=("No.",))
    assert chat.model.note not in chat.err


def test_nothing_that_a_terminal_obeys_is_written(chat: Chat) -> None:
    reply = ScriptedReply(text="It is \x1b[2J\x9b31m red \u202e. \x1b]52;c;eA==\x07", chunk_size=3)
    chat.run("why \x1b[1m?", replies=(reply,))
    assert "red" in chat.out
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & {*chat.out, *chat.err}


def test_a_conversation_that_is_not_saved_says_so_when_it_happens_and_at_the_end(
    chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FaultyDisk(monkeypatch, tmp_path / "conversations")
    disk.faults, disk.error = math.inf, errno.ENOSPC
    chat.run("Is it loud?", "And now?", replies=("Yes.", "No."))
    failure = "Could not save the conversation: No space left on device"
    assert chat.err.count(failure) == 2
    assert chat.err.splitlines()[-1].startswith(f"roamtui: {failure}")


@pytest.mark.parametrize("kind", [io.StringIO, Typed])
@pytest.mark.parametrize("word", QUIT_WORDS)
def test_a_word_that_quits_other_programs_is_no_question(chat: Chat, word: str, kind: type[io.StringIO]) -> None:
    assert chat.run("Is it loud?", word, "And now?", replies=("Yes.",), kind=kind) == 0
    assert [exchange.question for exchange in chat.conversation.state.exchanges] == ["Is it loud?"]


@pytest.mark.parametrize(("kind", "status"), [(io.StringIO, 1), (Typed, 0)])
def test_a_failed_question_is_told_and_fails_a_script(chat: Chat, kind: type[io.StringIO], status: int) -> None:
    error = ScriptedReply(error=ModelError("The server is away."))
    assert chat.run("Hm?", replies=(error,), kind=kind) == status
    assert "roamtui: The server is away.\n" in chat.err


def _send_signal(number: signal.Signals) -> Callable[[ModelRequest], ScriptedReply]:
    """Return a reply that comes with a signal."""

    def reply(_request: ModelRequest) -> ScriptedReply:
        signal.raise_signal(number)
        return ScriptedReply(text="The engines are loud at night, and then", chunk_size=4)

    return reply


def _list_endings(chat: Chat, store: ConversationStore) -> list[StopReason | None]:
    return [exchange.stopped for exchange in store.load(chat.conversation.state.id).exchanges]


def test_ctrl_c_keeps_the_partial_answer_and_the_chat_goes_on(chat: Chat, store: ConversationStore) -> None:
    replies = (_send_signal(signal.SIGINT), "Quiet.", "Quiet.")
    assert chat.run("How loud?", "And now?", replies=replies, kind=Typed) == 0
    assert "Stopped. What has arrived is kept." in chat.out
    assert _list_endings(chat, store) == [StopReason.CANCELLED, StopReason.ANSWERED]


def test_a_chat_that_is_asked_to_end_keeps_the_partial_answer(chat: Chat, store: ConversationStore) -> None:
    with pytest.raises(SystemExit) as left:
        chat.run("How loud?", "And now?", replies=(_send_signal(signal.SIGTERM), "Quiet."), kind=Typed)
    assert left.value.code == EXIT_CANCELLED
    assert _list_endings(chat, store) == [StopReason.CANCELLED]


def test_a_saved_conversation_is_greeted_with_its_last_answer(chat: Chat) -> None:
    chat.run("Noise?", replies=("Engines stop at ten.",) * 2, kind=Typed)
    assert chat.out.startswith("Harbour rules, 4 sections. scripted answers.\nAsk one question on each line.")
    chat.run(kind=Typed)
    assert "Resumed after question 1: Noise?\nEngines stop at ten.\n" in chat.out


@pytest.mark.parametrize(
    ("typed", "is_approved"), [("y\n", True), (" Yes\n", True), ("\n", False), ("n\n", False), ("", False)]
)
async def test_only_a_yes_approves(typed: str, is_approved: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert await approve(ApprovalRequest(question="Spend more?", detail="$1.00", yes="spend")) is is_approved
