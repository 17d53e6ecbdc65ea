"""Asks the person before a question may cost more than they set, and before a page of another site is fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from typing_extensions import override

from roamtui.conversation.approval import Approval, Approver, CostApproval, OriginApproval
from roamtui.document.plain import plain_line, shorten
from roamtui.tui.screens.confirm import ConfirmScreen

if TYPE_CHECKING:
    from textual.screen import Screen

_URL_LENGTH_MAX = 70


class AskingApprover(Approver):
    """Shows a confirmation and waits for the answer; must be called from a worker."""

    def __init__(self, screen: Screen[None]) -> None:
        self._screen = screen

    @override
    async def approve(self, approval: Approval) -> bool:
        return await self._screen.app.push_screen_wait(_make_question(approval))


def _make_question(approval: Approval) -> ConfirmScreen:
    match approval:
        case CostApproval(spent_usd=spent, cap_usd=cap):
            question = "The next request may pass your spending limit. Go on with this conversation?"
            return ConfirmScreen(question, f"spent ${spent:.2f} · limit ${cap:.2f}", yes="Go on", no="Stop")
        case OriginApproval(host=host, urls=urls):
            more = f" and {len(urls) - 1} more" if len(urls) > 1 else ""
            detail = f"{shorten(plain_line(urls[0]), _URL_LENGTH_MAX)}{more}" if urls else ""
            question = f"Fetch pages from {plain_line(host)}, for as long as this conversation goes on?"
            return ConfirmScreen(question, detail, yes="Fetch", no="No")
        case _:
            assert_never(approval)
