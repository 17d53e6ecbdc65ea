"""The calls of tools in a reply."""

from roamtui.agent.tool_calls import CallRunner
from roamtui.conversation.messages import Message, Role, ToolCall
from roamtui.models.base import ModelRequest


def _call(name: str) -> ToolCall:
    return ToolCall(id=name, name="search_sections", arguments="{}")


def test_a_call_whose_id_was_used_before_gets_one_that_is_free() -> None:
    runner = CallRunner()
    names = ("search", "call_2_search")  # others that were counted have left the transcript
    message = Message(role=Role.ASSISTANT, text="", tool_calls=tuple(map(_call, names)))
    runner.start_reply(ModelRequest(messages=(message,)))
    for name in ("search", ""):
        runner.add(_call(name))
    ids = [use.call.id for use in runner.uses]
    assert len({*names, *ids, ""}) == 5
