"""The conversation in lines: questions, commands, cancelling, and nothing that a terminal obeys."""

import io
import os
import signal
from collections.abc import Callable, Iterable

import pytest
from typing_extensions import override

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import Role, StopReason
from roamtui.conversation.library_loader import ApprovalRequest
from roamtui.conversation.log import ConversationStore
from roamtui.document.loader import build_library
from roamtui.errors import EXIT_CANCELLED, ModelError, RoamtuiError
from roamtui.headless.plain_chat import PlainChat, approve
from roamtui.models.base import ModelRequest
from roamtui.search.keyword import KeywordSearcher
from roamtui.sources.read import RawText
from tests.case_files import read_case, read_rows
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply

TEXT = read_case("harbour_rules.md")


class Typed(io.StringIO):
    """Input that says it comes from a keyboard."""

    @override
    def isatty(self) -> bool:
        return True


class Chat:
    """One run of the plain chat over a small document."""

    def __init__(self, replies: Iterable[Reply] = (), store: ConversationStore | None = None) -> None:
        self.library = build_library(RawText(text=TEXT, source="harbour.md", name="harbour"))
        self.model = ScriptedModel(replies)
        self.conversation = Conversation(self.library, store=store)
        self.agent = Agent(self.conversation, self.model, KeywordSearcher(self.library))

    def id_of(self, title: str) -> str:
        return next(i for i in self.library.walk() if self.library.node(i).title.startswith(title))

    def run(self, stdin: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> int:
        monkeypatch.setattr("sys.stdin", stdin)
        monkeypatch.setenv("TERM", "xterm")
        return PlainChat(self.agent).run()


Pipe = Callable[..., str]


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pipe:
    """Return a function that sends lines through a pipe and returns what was written."""

    def run(chat: Chat, *lines: str) -> str:
        chat.run(io.StringIO("".join(f"{line}\n" for line in lines)), monkeypatch)
        return capsys.readouterr().out

    return run


def test_a_question_is_answered_with_progress_text_and_sources(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = Chat()
    mooring = chat.id_of("Moorings")
    chat.model.add_replies(
        ScriptedReply(calls=(("expand_sections", {"section_ids": [mooring]}),)),
        f'A night costs "12 euros a night" [{mooring}].',
    )
    assert chat.run(io.StringIO("What does a night cost?\n"), monkeypatch) == 0
    out, err = capsys.readouterr()
    assert "Ask: What does a night cost?\n" in out
    assert f'A night costs "12 euros a night" [{mooring}].\n' in out
    source = f"[{mooring}] Harbour rules > Moorings, line 7: quote found in the text"
    assert f"\n  {source}\n  1/1 quote found in the text\n" in out
    assert "Opened 1 section: Moorings" in err
    assert out.count("A night costs") == 1


def test_nothing_that_a_terminal_obeys_is_written(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    chat = Chat([ScriptedReply(text="It is \x1b[2J\x9b31m red \u202e. \x1b]52;c;eA==\x07", chunk_size=3)])
    winter = chat.id_of("Winter")
    lines = [f"/show {winter}", "/outline", f"/open {winter}", "/x\x1b[0m", "why \x1b[1m?", ""]
    chat.run(io.StringIO("\n".join(lines)), monkeypatch)
    for stream in capsysbinary.readouterr():
        text = stream.decode("utf-8")
        assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(text)


def test_sections_are_opened_read_and_closed_by_the_person(pipe: Pipe) -> None:
    chat = Chat(["Yes."])
    noise, winter = chat.id_of("Noise"), chat.id_of("Winter")
    pipe(chat, "/open Noise", f"/open [{winter}]", f"/show {winter}", "Is it loud?")
    request = chat.model.requests[0]
    sent = "\n".join(message.text for message in request.messages if message.role is Role.USER)
    assert "Engines are off after ten." in sent
    assert f"The person is reading [{winter}]" in sent
    pipe(chat, f"/close {noise}", f"/close [{winter}]")
    assert chat.conversation.state.open_sections == {}


@pytest.mark.parametrize(("line", "reply"), read_rows("headless/plain_chat", "commands"))
def test_wrong_and_right_commands_are_answered_in_a_sentence(line: str, reply: str, pipe: Pipe) -> None:
    chat = Chat()
    assert reply in pipe(chat, line)
    assert chat.model.requests == []


def test_a_failed_question_is_told_and_fails_a_script(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = ModelError("The server is away.")
    assert Chat([ScriptedReply(error=error)]).run(io.StringIO("Hm?\n"), monkeypatch) == 1
    assert "roamtui: The server is away.\n" in capsys.readouterr().err
    assert Chat([ScriptedReply(error=error)]).run(Typed("Hm?\n"), monkeypatch) == 0


def test_a_question_that_cannot_even_begin_fails_a_script_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = Chat()

    async def refuse() -> None:
        raise RoamtuiError("The folder is away.")

    monkeypatch.setattr(chat.conversation.library_loader, "load_all", refuse)
    assert chat.run(io.StringIO("Hm?\n"), monkeypatch) == 1
    assert "\nThe folder is away.\n" in capsys.readouterr().out


def _interrupt(_request: ModelRequest) -> ScriptedReply:
    signal.raise_signal(signal.SIGINT)
    return ScriptedReply(text="The engines are loud at night, and then", chunk_size=4)


def test_ctrl_c_keeps_the_partial_answer_and_the_chat_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], store: ConversationStore
) -> None:
    chat = Chat([_interrupt, "Quiet.", "Quiet."], store)
    assert chat.run(Typed("How loud?\nAnd now?\n"), monkeypatch) == 0
    assert "Stopped. What has arrived is kept." in capsys.readouterr().out
    saved = store.load(chat.conversation.state.id).exchanges
    assert [exchange.stopped for exchange in saved] == [StopReason.CANCELLED, StopReason.ANSWERED]


def test_a_chat_that_is_asked_to_end_keeps_the_partial_answer(
    monkeypatch: pytest.MonkeyPatch, store: ConversationStore
) -> None:
    def ask_to_end(_request: ModelRequest) -> ScriptedReply:
        signal.raise_signal(signal.SIGTERM)
        return ScriptedReply(text="The engines are loud at night, and then", chunk_size=4)

    chat = Chat([ask_to_end, "Quiet."], store)
    with pytest.raises(SystemExit) as left:
        chat.run(Typed("How loud?\nAnd now?\n"), monkeypatch)
    assert left.value.code == EXIT_CANCELLED
    saved = store.load(chat.conversation.state.id).exchanges
    assert [exchange.stopped for exchange in saved] == [StopReason.CANCELLED]


def test_a_saved_conversation_is_greeted_with_its_last_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = Chat(["Engines stop at ten."] * 2)
    chat.run(Typed("Noise?\n"), monkeypatch)
    first = capsys.readouterr().out
    assert os.environ["TERM"] == "dumb"
    assert first.startswith("Harbour rules, 4 sections. scripted answers.\n/help lists")
    chat.run(Typed(""), monkeypatch)
    second = capsys.readouterr().out
    assert "Resumed after question 1: Noise?\nEngines stop at ten.\n" in second


@pytest.mark.parametrize(
    ("typed", "is_approved"), [("y\n", True), (" Yes\n", True), ("\n", False), ("n\n", False), ("", False)]
)
async def test_only_a_yes_approves(typed: str, is_approved: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert await approve(ApprovalRequest(question="Spend more?", detail="$1.00", yes="spend")) is is_approved
