"""What the app needs of a document whose agent exists already."""

from typing import Any

from roamtui.agent.loop import Agent
from roamtui.tui.context import AppContext


def context_of(agent: Agent, **given: Any) -> AppContext:  # noqa: ANN401 - fields of `AppContext`
    return AppContext(agent=agent, **given)
