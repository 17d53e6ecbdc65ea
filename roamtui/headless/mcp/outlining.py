"""`outline`: the text that a model of ours reads first, for a model that is not ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.agent.events import ToolFinished
from roamtui.agent.tools.base import ToolContext, ToolOutcome
from roamtui.models.base import ToolSpec
from roamtui.outline.budget import OUTLINE_TOKENS_MAX
from roamtui.outline.render import render_outline

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "outline"
_BUDGET_MIN = 200
_DESCRIPTION = (
    "Read the outline: the headings, each with the id of a section that expand_sections opens, its size and a hint of "
    "what it holds. Read it before anything else."
)


class OutlineTool:
    """Renders the outline within a budget."""

    spec = ToolSpec(
        name=NAME,
        description=_DESCRIPTION,
        parameters={
            "type": "object",
            "properties": {
                "budget": {
                    "type": "integer",
                    "minimum": _BUDGET_MIN,
                    "maximum": OUTLINE_TOKENS_MAX,
                    "default": OUTLINE_TOKENS_MAX,
                    "description": "Tokens that the outline may have; everything stays reachable from a shorter one.",
                }
            },
        },
    )

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """Return the outline; a budget that is no number, or out of bounds, becomes the nearest that is."""
        budget = _read_budget(arguments.get("budget"))
        text = render_outline(context.session.state.library, budget_tokens=budget)
        return ToolOutcome(text=text, finished=ToolFinished(tool=NAME))


def _read_budget(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return OUTLINE_TOKENS_MAX
    try:
        return max(_BUDGET_MIN, min(OUTLINE_TOKENS_MAX, int(value)))
    except (ValueError, OverflowError):
        return OUTLINE_TOKENS_MAX
