"""Two programs on one conversation at the same time: nothing of either is lost, and the second is told."""

import asyncio
from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.bootstrap import open_library
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from tests.anomalies.mortal_programs import MortalPrograms
from tests.anomalies.promises import HANDBOOK, Promises
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

pytestmark = pytest.mark.slow


def test_the_second_continues_in_a_copy_and_says_so(programs: MortalPrograms, tmp_path: Path) -> None:
    promises = Promises(tmp_path)
    library = open_library((HANDBOOK,))
    first = Conversation(library, store=ConversationStore(promises.path))
    agent = Agent(first, ScriptedModel([ScriptedReply(text="Not found: no.")] * 2))
    title = "How long is the grace period?"
    asyncio.run(agent.ask(title))
    options = ("--continue", "--events", "--model", "offline")
    run = programs.run("ask", HANDBOOK, "Who may borrow?", *options, home=tmp_path)
    assert run.code == 0, run.errors
    assert [event["message"] for event in run.find("warning_raised")] == [
        "This conversation cannot be changed (another program is using it), so you are now in a copy of it."
    ]
    promises.check(run, "Who may borrow?")
    asyncio.run(agent.ask("What does it cost?"))
    first.close()
    assert first.save_failure == ""
    store = ConversationStore(promises.path)
    questions = {s.title: [e.question for e in store.load(s.id).exchanges] for s in store.list()}
    assert questions == {title: [title, "What does it cost?"], f"{title} (copy)": [title, "Who may borrow?"]}
