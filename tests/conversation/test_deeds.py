"""Whatever was opened, closed or pinned is taken back and done again."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from roamtui.conversation.commands import (
    CloseAgentSections,
    CollapseSections,
    Command,
    ExpandSections,
    Origin,
    PinSections,
    UndoDeed,
)
from roamtui.conversation.state import ConversationState, apply_all
from roamtui.conversation.transcript import OpenSection
from roamtui.conversation.update import note_deed
from tests.conversation.conversations import ask, begin, do, find, finish, make_library, make_state, read_all, step

_TITLES = ("Alpha", "Beta", "Parent", "Child one", "Long")
_IDS = {title: find(make_library(), title) for title in _TITLES}
_KINDS: dict[str, Callable[[tuple[str, ...]], Command]] = {
    "open": lambda ids: ExpandSections(section_ids=ids, origin=Origin.PERSON),
    "close": lambda ids: CollapseSections(section_ids=ids, origin=Origin.PERSON),
    "close as agent": lambda ids: CollapseSections(section_ids=ids, origin=Origin.AGENT),
    "pin": lambda ids: PinSections(section_ids=ids, is_pinned=True),
    "unpin": lambda ids: PinSections(section_ids=ids, is_pinned=False),
    "tidy up": lambda _: CloseAgentSections(),
}
_ids = st.lists(st.sampled_from([*_IDS.values()]), min_size=1, max_size=2, unique=True).map(tuple)
_commands = st.builds(lambda kind, ids: _KINDS[kind](ids), st.sampled_from([*_KINDS]), _ids)


def _do(state: ConversationState, command: Command) -> ConversationState:
    after = do(state, command)
    return apply_all(after, note_deed(state, after, command))


def _look(state: ConversationState) -> tuple[dict[str, OpenSection], frozenset[str]]:
    return {section.section_id: section for section in state.open}, state.unfolded


def _pins(state: ConversationState) -> tuple[set[tuple[str, bool, bool]], frozenset[str]]:
    return {(one.section_id, one.is_pinned, one.is_closing) for one in state.open}, state.unfolded


@given(commands=st.lists(_commands, max_size=6), is_asking=st.booleans())
def test_all_that_was_done_is_taken_back_step_by_step_and_done_again(
    *, commands: list[Command], is_asking: bool
) -> None:
    state = ask(make_state(), "Alpha", "Child one", "Long")
    if is_asking:
        state = step(begin(state), "Beta")
    states = [state]
    for command in commands:
        after = _do(states[-1], command)
        if len(after.deeds) > len(states[-1].deeds):
            states.append(after)
        else:
            assert _pins(after) == _pins(states[-1])
    state = states[-1]
    for before in reversed(states[:-1]):
        state = do(state, UndoDeed())
        if is_asking:  # what was opened meanwhile closes with its end
            assert {one for one in _pins(state)[0] if not one[2]} == {one for one in _pins(before)[0] if not one[2]}
        else:
            assert _look(state)[0].keys() == _look(before)[0].keys()
            assert {i: one.deliveries for i, one in _look(state)[0].items()} == {
                i: one.deliveries for i, one in _look(before)[0].items()
            }
            assert _pins(state) == _pins(before)
    for after in states[1:]:
        state = do(state, UndoDeed(is_redo=True))
        assert _pins(state)[1] == _pins(after)[1]
        assert {one for one in _pins(state)[0] if not one[2]} == {one for one in _pins(after)[0] if not one[2]}
    assert do(state, UndoDeed(is_redo=True)) == state


def test_the_text_of_what_is_brought_back_is_told_once_whenever_that_is() -> None:
    state = ask(make_state(), "Alpha", "Beta")
    closed = _do(state, CollapseSections(section_ids=(_IDS["Alpha"],), origin=Origin.PERSON))
    for later in (closed, ask(closed, "Parent")):
        told = finish(begin(do(later, UndoDeed()) if later is closed else do(do(later, UndoDeed()), UndoDeed())))
        assert _IDS["Alpha"] in told.open_ids
        assert read_all(told).count("alpha-39") == 1


def test_what_is_done_anew_ends_what_could_be_done_again() -> None:
    state = _do(make_state(), ExpandSections(section_ids=(_IDS["Alpha"],), origin=Origin.PERSON))
    state = do(state, UndoDeed())
    state = _do(state, ExpandSections(section_ids=(_IDS["Beta"],), origin=Origin.PERSON))
    assert do(state, UndoDeed(is_redo=True)) == state
