"""What a person does while something else is under way stays, and what follows is seen in its order."""

import asyncio
from itertools import count

from msgspec.structs import replace

from roamtui.agent.agent import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.update import AskOptions, ChooseAnswer
from tests.agent.asking import MANUAL, make_agent
from tests.anomalies.waits import act_at_wait
from tests.conversation.conversations import make_library
from tests.fakes.scripted_model import ScriptedReply

DAILY, COST = '"Open daily." [{Hours}]', '"Late returns cost 2 euros a day" [{Fees}]'


async def _answer_twice() -> Agent:
    """Return an agent whose question has two answers, the second of which is chosen."""
    agent = make_agent([ScriptedReply(text=text) for text in (DAILY, COST)])
    await agent.ask("What is it?")
    await agent.ask("What is it?", AskOptions(replaces=agent.conversation.state.exchanges[-1]))
    return agent


async def test_verdicts_are_those_of_the_answer_that_is_chosen_while_they_are_looked_up() -> None:
    for number in count(1):
        agent = await _answer_twice()
        conversation = agent.conversation
        changed = make_library(MANUAL.replace("daily", "on Sundays").replace("2 euros", "3 euros"))
        conversation.state = replace(conversation.state, library=changed)
        chosen: list[asyncio.Task[object]] = []

        def choose(conversation: Conversation = conversation, chosen: list[asyncio.Task[object]] = chosen) -> None:
            chosen.append(asyncio.create_task(conversation.execute(ChooseAnswer(number=1, index=0))))

        await act_at_wait(agent.recheck_answers(), number, choose)
        await asyncio.gather(*chosen)
        answers = conversation.state.exchanges[0].answers
        quotes = [[citation.quote for citation in answer.citations] for answer in answers]
        assert quotes == [["Open daily."], ["Late returns cost 2 euros a day"]]
        if not chosen:
            break
    assert number > 1, "it waits at least once"
