"""What keys mean as commands, from the state at their moment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roamtui.conversation.commands import (
    CloseAgentSections,
    CollapseSections,
    ExpandSections,
    FoldNodes,
    Origin,
    PinSections,
    UndoBatch,
    UnfoldNodes,
)
from roamtui.conversation.open_section import OpenSection
from roamtui.conversation.session import Session
from roamtui.conversation.state import Batch, ConversationState
from roamtui.document.build import build_library
from roamtui.sources.read import RawText
from roamtui.tui import commands
from tests.tui.driving import TEXT


@pytest.fixture
def state() -> ConversationState:
    return Session.start(build_library(RawText(text=TEXT, source="b.md", name="b"))).state


@pytest.fixture
def ids(state: ConversationState) -> dict[str, str]:
    return {state.library.title_of(section_id): section_id for section_id in state.library.walk()}


def with_open(state: ConversationState, section_id: str, *, is_pinned: bool = False) -> ConversationState:
    section = OpenSection(section_id=section_id, opened_by=Origin.AGENT, opened_at=1, last_used=1, is_pinned=is_pinned)
    return replace(state, open=(section,))


def test_opening_is_the_persons(state: ConversationState, ids: dict[str, str]) -> None:
    command = commands.open_section(ids["Dough"])(state)
    assert command == ExpandSections(section_ids=(ids["Dough"],), origin=Origin.PERSON)


def test_only_what_is_open_is_closed(state: ConversationState, ids: dict[str, str]) -> None:
    close = commands.close_section(ids["Dough"])
    assert close(state) is None
    expected = CollapseSections(section_ids=(ids["Dough"],), origin=Origin.PERSON)
    assert close(with_open(state, ids["Dough"])) == expected


def test_pinning_is_turned_over(state: ConversationState, ids: dict[str, str]) -> None:
    dough = ids["Dough"]
    toggle = commands.toggle_pin(dough)
    assert toggle(state) == PinSections(section_ids=(dough,), is_pinned=True)
    assert toggle(with_open(state, dough)) == PinSections(section_ids=(dough,), is_pinned=True)
    assert toggle(with_open(state, dough, is_pinned=True)) == PinSections(section_ids=(dough,), is_pinned=False)


def test_folding_is_turned_over(state: ConversationState, ids: dict[str, str]) -> None:
    ovens = ids["Ovens"]
    toggle = commands.toggle_fold(ovens)
    assert toggle(state) == UnfoldNodes(section_ids=(ovens,))
    assert toggle(replace(state, unfolded=frozenset({ovens}))) == FoldNodes(section_ids=(ovens,))


def test_a_subtree_is_unfolded_and_folded_by_its_parents_alone(state: ConversationState, ids: dict[str, str]) -> None:
    parents = (ids["Ovens"], ids["Deck oven"])
    assert commands.unfold_subtree(ids["Ovens"])(state) == UnfoldNodes(section_ids=parents)
    unfolded = replace(state, unfolded=frozenset(parents))
    assert commands.unfold_subtree(ids["Ovens"])(unfolded) is None
    assert commands.fold_subtree(ids["Ovens"])(unfolded) == FoldNodes(section_ids=parents)
    assert commands.fold_subtree(ids["Ovens"])(state) is None


def test_a_node_is_made_visible_by_unfolding_what_is_above_it(state: ConversationState, ids: dict[str, str]) -> None:
    command = commands.unfold_ancestors(ids["Steam"])(state)
    assert command == UnfoldNodes(section_ids=(ids["Ovens"], ids["Deck oven"]))
    assert commands.unfold_ancestors(ids["Dough"])(state) is None
    assert commands.unfold_ancestors("0badc0de")(state) is None


def test_undo_needs_a_batch(state: ConversationState) -> None:
    assert commands.undo_batch(state) is None
    batches = (Batch(opened_ids=(), unfolded_ids=()),)
    assert commands.undo_batch(replace(state, batches=batches)) == UndoBatch()


def test_tidying_up_is_always_possible(state: ConversationState) -> None:
    assert commands.close_agent_sections(state) == CloseAgentSections()
