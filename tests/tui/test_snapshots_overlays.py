"""Pictures of what lies over the main screen, or beside its panes, for a moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.conversation.commands import ApprovalRequest
from roamtui.conversation.log import ConversationStore
from tests.tui.picturing import (
    LARGE,
    NARROW,
    Compare,
    make_searching_app,
    make_still_app,
    name_size,
    press,
    show_approval,
    show_conversations,
    show_found,
)


@pytest.mark.parametrize("size", [LARGE, NARROW], ids=name_size)
class TestOverlays:
    """Help, lists and confirmations."""

    def test_help(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        assert snap_compare(make_still_app("dusk"), terminal_size=size, run_before=press("f1"))

    def test_found(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        assert snap_compare(make_searching_app("dusk"), terminal_size=size, run_before=show_found)

    def test_conversations(
        self, snap_compare: Compare, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("roamtui.tui.screens.conversations._format_time", lambda _moment: "2026-01-02 03:04")
        app = make_still_app("dusk", store=ConversationStore(tmp_path / "conversations"))
        assert snap_compare(app, terminal_size=size, run_before=show_conversations)

    def test_approval(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        question = "Allow this conversation to fetch pages from docs.example.org?"
        detail = "https://docs.example.org/guides/ovens/stone.md and 1 more"
        wanted = ApprovalRequest(question=question, detail=detail, yes="Fetch")
        assert snap_compare(make_still_app("dusk"), terminal_size=size, run_before=show_approval(wanted))

    def test_palette(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        keys = press("ctrl+p", *"conv", until="New conversation")
        assert snap_compare(make_still_app("dusk"), terminal_size=size, run_before=keys)
