"""Asks the person before a question may cost more than they set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from roamtui.agent.approval import Approver
from roamtui.tui.screens.confirm import ConfirmScreen

if TYPE_CHECKING:
    from textual.screen import Screen

    from roamtui.agent.approval import CostApproval


class AskingApprover(Approver):
    """Shows a confirmation and waits for the answer; must be called from a worker."""

    def __init__(self, screen: Screen[None]) -> None:
        self._screen = screen

    @override
    async def approve(self, approval: CostApproval) -> bool:
        detail = f"spent ${approval.spent_usd:.2f} · limit ${approval.cap_usd:.2f}"
        question = "The next request may pass your spending limit. Go on with this conversation?"
        return await self._screen.app.push_screen_wait(ConfirmScreen(question, detail, yes="Go on", no="Stop"))
