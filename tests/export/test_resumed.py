"""A conversation is exported in the same way before the program ends and after it is resumed."""

import pytest

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import StopReason
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.state import ConversationState
from roamtui.errors import ModelError
from roamtui.export.html import render_html
from roamtui.export.json import render_json
from roamtui.export.markdown import render_markdown
from roamtui.search.base import Hit
from tests.agent.asking import FakeSearcher, ask, expanding, ids, make_agent, model_of, saying
from tests.fakes.scripted_model import ScriptedReply


def _export(state: ConversationState) -> list[str]:
    return [
        render_json(state, "manual.md"),
        render_html(state, "manual.md"),
        render_markdown(state, "manual.md"),
    ]


@pytest.mark.parametrize("error", [None, ModelError("The connection broke.")])
async def test_every_export_is_the_same_before_quitting_and_after_resuming(
    store: ConversationStore, error: ModelError | None
) -> None:
    agent = make_agent(store=store)
    fees, hours, lending = ids(agent, "Fees", "Hours", "Lending")
    agent.search.searcher = FakeSearcher(Hit(section_id=hours, score=1.0, why="text rank 1", snippet="Open daily."))
    proof = f'It costs "2 euros a day" [{fees}], not "9 dollars" [{fees}].'
    model_of(agent).add_replies(
        ScriptedReply(thinking="Where are fees?", calls=(("search_sections", {"queries": ["fees"]}),)),
        expanding(fees, lending, "ffffffff", text="I look."),
        expanding(fees, lending, "ffffffff"),
        ScriptedReply(calls=(("collapse_sections", {"section_ids": [lending]}),)),
        saying("It costs 2 euros a day."),
        ScriptedReply(text=proof, error=error),
    )
    await ask(agent, "How much?")
    await ask(agent, "And?", saying('<tool_call>{"name": "expand_sec'), saying("Not found: no."))
    conversation = agent.conversation
    assert conversation.state.exchanges[0].stopped is (StopReason.ERROR if error else StopReason.ANSWERED)
    before = _export(conversation.state)
    conversation.close()
    resumed = Conversation(conversation.state.library, store=store).resume(conversation.state.id)
    assert _export(resumed.state) == before
    resumed.close()
