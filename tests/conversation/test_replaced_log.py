"""A log that something else replaces or removes while its conversation is open: all that is in memory is saved."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import WarningRaised
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.state import ConversationState
from roamtui.conversation.update import AskOptions
from roamtui.models.base import ModelRequest
from tests.agent.asking import make_agent, script
from tests.fakes.scripted_model import ScriptedReply

COPY_SAID = "Another program has changed or removed the file of “First?”, so this conversation is now a copy."
AGAIN_SAID = COPY_SAID.replace("First?", "First? (copy)")


def remove(path: Path, _earlier: bytes) -> None:
    path.unlink()


def remove_folder(path: Path, _earlier: bytes) -> None:
    for file in (path, *path.parent.glob("locks/*")):
        file.unlink()
    (path.parent / "locks").rmdir()
    path.parent.rmdir()


def remove_locks(path: Path, _earlier: bytes) -> None:
    content = path.read_bytes()
    remove_folder(path, b"")
    path.parent.mkdir()
    path.write_bytes(content)


def put_older_copy_back(path: Path, earlier: bytes) -> None:
    path.write_bytes(earlier)


def put_older_copy_in_place(path: Path, earlier: bytes) -> None:
    beside = path.with_suffix(".sync")
    beside.write_bytes(earlier)
    beside.replace(path)


def add_a_byte(path: Path, _earlier: bytes) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def overwrite_with_as_many_bytes(path: Path, _earlier: bytes) -> None:
    path.write_bytes(bytes(path.stat().st_size))


Change = Callable[[Path, bytes], None]
CHANGES: tuple[Change, ...] = (
    remove, remove_folder, put_older_copy_back, put_older_copy_in_place, add_a_byte, overwrite_with_as_many_bytes,
)  # fmt: skip
every_change = pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)


class Changing:
    """A conversation of two questions, the bytes that its log had after the first, and what is told."""

    def __init__(self, store: ConversationStore, folder: Path) -> None:
        self.agent = make_agent(store=store)
        self.conversation = self.agent.conversation
        self.told: list[str] = []
        self.conversation.subscribe(self._note)
        self.path = folder / f"{self.conversation.state.id}.jsonl"
        self.earlier = b""
        self.left: bytes | None = None
        """What the change left at the path of the log."""

    def _note(self, event: object) -> None:
        if isinstance(event, WarningRaised):
            self.told.append(event.message)

    async def begin(self) -> None:
        await self.ask("First?")
        self.earlier = self.path.read_bytes()
        await self.ask("Second?")

    async def ask(self, question: str) -> None:
        script(self.agent, ScriptedReply(text=f"Answer to {question}"))
        await self.agent.ask(question)

    def change(self, change: Change) -> None:
        change(self.path, self.earlier)
        self.left = self.path.read_bytes() if self.path.exists() else None

    def check(self, store: ConversationStore, *questions: str) -> ConversationState:
        """Close it, and check that a copy has all questions, and that nothing was written to the changed file."""
        self.conversation.close()
        state = self.conversation.state
        saved = store.load(state.id)
        assert [exchange.question for exchange in saved.exchanges] == [*questions]
        assert [exchange.answer for exchange in saved.exchanges] == [f"Answer to {each}" for each in questions]
        assert saved.title == state.title == "First? (copy)"
        assert (self.path.read_bytes() if self.path.exists() else None) == self.left
        resumed = Conversation(state.library, saved_id=state.id, store=store)
        assert [exchange.question for exchange in resumed.state.exchanges] == [*questions]
        resumed.close()
        return saved


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "conversations"


@every_change
async def test_what_is_in_memory_is_saved_as_a_copy_with_the_next_question(
    change: Change, store: ConversationStore, folder: Path
) -> None:
    changing = Changing(store, folder)
    await changing.begin()
    changing.change(change)
    await changing.ask("Third?")
    await changing.ask("Fourth?")
    assert changing.told == [COPY_SAID]
    changing.check(store, "First?", "Second?", "Third?", "Fourth?")


@every_change
async def test_it_is_saved_when_the_app_ends_too(change: Change, store: ConversationStore, folder: Path) -> None:
    changing = Changing(store, folder)
    await changing.begin()
    changing.change(change)
    assert changing.conversation.close() == COPY_SAID
    changing.check(store, "First?", "Second?")


@every_change
async def test_a_new_conversation_can_be_started(change: Change, store: ConversationStore, folder: Path) -> None:
    changing = Changing(store, folder)
    await changing.begin()
    changing.change(change)
    await changing.conversation.start_new()
    assert changing.told == [COPY_SAID]
    (copy,) = [each for each in store.list() if each.title == "First? (copy)"]
    assert [exchange.question for exchange in store.load(copy.id).exchanges] == ["First?", "Second?"]
    await changing.ask("Of the new one?")
    changing.conversation.close()
    assert [each.question for each in store.load(changing.conversation.state.id).exchanges] == ["Of the new one?"]


async def test_a_change_in_the_middle_of_a_question_drops_none_that_waits(
    store: ConversationStore, folder: Path
) -> None:
    changing = Changing(store, folder)
    await changing.begin()
    waiting: list[asyncio.Task[object]] = []

    def reply(_request: ModelRequest) -> ScriptedReply:
        options = AskOptions(needs_success=True)
        waiting.append(asyncio.create_task(changing.agent.ask("Fourth?", options)))
        changing.change(put_older_copy_back)
        return ScriptedReply(text="Answer to Third?", chunk_size=3)

    script(changing.agent, reply, ScriptedReply(text="Answer to Fourth?"))
    await changing.agent.ask("Third?")
    await asyncio.gather(*waiting)
    assert changing.told == [COPY_SAID]
    changing.check(store, "First?", "Second?", "Third?", "Fourth?")


async def test_a_copy_that_is_removed_is_copied_again(store: ConversationStore, folder: Path) -> None:
    changing = Changing(store, folder)
    await changing.begin()
    changing.change(remove)
    await changing.ask("Third?")
    (folder / f"{changing.conversation.state.id}.jsonl").unlink()
    await changing.ask("Fourth?")
    assert changing.told == [COPY_SAID, AGAIN_SAID]
    changing.check(store, "First?", "Second?", "Third?", "Fourth?")


async def test_the_log_of_a_cell_is_copied_beside_it(store: ConversationStore, tmp_path: Path) -> None:
    """It is in the folder of its table, which is none of the person's conversations."""
    cells = tmp_path / "table" / "conversations"
    changing = Changing(ConversationStore(cells), cells)
    await changing.begin()
    changing.conversation.close()
    library = changing.conversation.state.library
    resumed = Conversation(library, saved_id=str(changing.path), store=store)
    changing.path.unlink()
    assert resumed.close() == COPY_SAID
    assert store.list() == ()
    assert [path.stem for path in cells.glob("*.jsonl")] == [resumed.state.id]


async def test_two_programs_that_replace_each_others_log_lose_nothing(store: ConversationStore, folder: Path) -> None:
    """Both hold the lock, because something has removed its file in between."""
    first = Changing(store, folder)
    await first.begin()
    remove_locks(first.path, b"")
    second = Conversation(first.conversation.state.library, saved_id=first.path.stem, store=store)
    agent = Agent(second, first.agent.model)
    script(first.agent, ScriptedReply(text="Of the first."), ScriptedReply(text="Of the second."))
    await first.agent.ask("Third?")
    await agent.ask("Third of the second?")
    first.conversation.close()
    second.close()
    asked = sorted([each.question for each in store.load(one.id).exchanges] for one in store.list())
    assert asked == [["First?", "Second?", "Third of the second?"], ["First?", "Second?", "Third?"]]
