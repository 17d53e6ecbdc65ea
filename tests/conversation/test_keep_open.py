"""What stays open between questions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import CloseReason, SectionsClosed
from roamtui.conversation.questions import BUDGET_TOKENS_MAX, choose_closing, open_budget
from roamtui.conversation.state import ConversationState, Exchange, KeepOpen, Transcript
from roamtui.conversation.transcript import OpenSection, Stopped
from tests.benchmarks.keep_open import BUDGET_TOKENS, simulate
from tests.conversation.conversations import (
    ask,
    begin,
    close_by,
    find,
    finish,
    finish_with_events,
    make_state,
    messages,
    open_by_person,
    pin,
    read_all,
    step,
)

_QUESTIONS = 5


def _section(section_id: str, tokens: int = 100, **values: object) -> OpenSection:
    section = OpenSection(
        section_id=section_id, opened_by=Origin.AGENT, opened_at=1, last_used=_QUESTIONS, last_cited=0, tokens=tokens
    )
    return replace(section, **values)  # type: ignore[arg-type]


def _state(*sections: OpenSection, budget: int = 1_000, mode: KeepOpen = KeepOpen.KEEP) -> ConversationState:
    exchanges = tuple(
        Exchange(number=number, question="?", stopped=Stopped.ANSWERED) for number in range(1, _QUESTIONS + 1)
    )
    state = make_state(budget_tokens=budget, mode=mode)
    return replace(state, open=sections, transcript=Transcript(exchanges=exchanges))


def test_the_budget_is_forty_percent_of_the_window_up_to_a_limit() -> None:
    assert open_budget(None) == BUDGET_TOKENS_MAX == 32_000
    assert open_budget(8_000) == 3_200
    assert open_budget(80_000) == 32_000
    assert open_budget(1_000_000) == 32_000


def test_nothing_is_closed_up_to_sixty_percent_of_the_budget() -> None:
    assert choose_closing(_state(*(_section(f"s{i}") for i in range(6)))) == ()
    assert choose_closing(_state(*(_section(f"s{i}") for i in range(6)), _section("more", tokens=1))) != ()


def test_sections_go_until_thirty_five_percent_are_left() -> None:
    state = _state(*(_section(f"s{i}", tokens=50, last_used=i) for i in range(20)))
    closing = choose_closing(state)
    assert closing == tuple(f"s{i}" for i in range(13))
    assert state.open_tokens - 50 * len(closing) == 350


def test_the_order_of_closing() -> None:
    """Lowest first by: pinned, opened by the person, cited within two questions, last cited, last used."""
    order = [
        _section("used long ago", last_used=1),
        _section("used just now"),
        _section("cited long ago", last_cited=2, last_used=2),
        _section("cited less long ago", last_cited=3, last_used=3),
        _section("cited in the question before", last_cited=4, last_used=4),
        _section("cited just now", last_cited=5),
        _section("of the person", opened_by=Origin.PERSON, last_used=1),
        _section("of the person, used just now", opened_by=Origin.PERSON),
        _section("of the person, cited", opened_by=Origin.PERSON, last_cited=5),
        _section("pinned", is_pinned=True, last_used=1),
        _section("pinned by the person", is_pinned=True, opened_by=Origin.PERSON),
    ]
    names = [section.section_id for section in order]
    state = _state(*sorted(order, key=lambda section: section.section_id), budget=1)
    assert list(choose_closing(state)) == names
    roomy = _state(*sorted(order, key=lambda section: section.section_id), budget=1_200)
    assert list(choose_closing(roomy)) == names[:7]


def test_a_citation_counts_for_two_questions_and_not_for_three() -> None:
    recent, old = _section("recent", last_cited=4, last_used=4), _section("old", last_cited=3)
    assert choose_closing(_state(recent, old, budget=10))[0] == "old"


def test_pinned_sections_go_only_where_they_alone_pass_the_whole_budget() -> None:
    pinned = [_section(f"p{i}", is_pinned=True, last_used=i) for i in range(12)]
    assert choose_closing(_state(*pinned[:9], _section("other"))) == ("other",)
    assert choose_closing(_state(*pinned[:10], _section("other"))) == ("other",)
    assert choose_closing(_state(*pinned)) == ("p0", "p1")


@pytest.mark.parametrize("mode", [KeepOpen.ALL, KeepOpen.FRESH])
def test_other_modes_close_nothing_for_the_budget(mode: KeepOpen) -> None:
    assert choose_closing(_state(*(_section(f"s{i}") for i in range(50)), mode=mode)) == ()


@given(
    st.lists(
        st.tuples(st.integers(0, 500), st.booleans(), st.sampled_from(Origin), st.integers(0, 5), st.integers(1, 5)),
        max_size=20,
    )
)
def test_closing_never_does_more_than_it_must(rows: list[tuple[int, bool, Origin, int, int]]) -> None:
    sections = [
        _section(f"s{i}", tokens=tokens, is_pinned=pinned, opened_by=origin, last_cited=cited, last_used=used)
        for i, (tokens, pinned, origin, cited, used) in enumerate(rows)
    ]
    state = _state(*sections)
    closing = choose_closing(state)
    by_id = {section.section_id: section for section in sections}
    left = state.open_tokens - sum(by_id[section_id].tokens for section_id in closing)
    assert left <= 1_000
    if state.open_tokens <= 600:
        assert closing == ()
        return
    unpinned = [s for s in sections if not s.is_pinned and s.section_id not in closing and s.tokens]
    assert left <= 350 or not unpinned
    last = by_id[closing[-1]] if closing else None
    if last is not None:
        assert left + last.tokens > (1_000 if last.is_pinned else 350), "the last one that went had to go"
        assert not last.is_pinned or not unpinned


def test_after_a_question_the_least_useful_go_with_an_event_and_one_rebuild() -> None:
    state = make_state(budget_tokens=800)
    size = state.library.node(find(state, "Alpha")).tokens
    assert 3 * size <= 0.6 * 800 < 4 * size
    state = ask(state, "Alpha", "Beta", cited=["Alpha"])
    assert not state.needs_rebuild
    state, (*events, _) = finish_with_events(step(begin(state), "Gamma", "Delta"), cited=["Delta"])
    closed = tuple(find(state, title) for title in ("Alpha", "Beta", "Gamma"))
    assert events == [SectionsClosed(section_ids=closed, origin=Origin.AGENT, reason=CloseReason.BUDGET)]
    assert state.open_ids == (find(state, "Delta"),)
    assert state.needs_rebuild
    rebuilt = begin(state)
    assert not rebuilt.needs_rebuild
    assert "delta-0" in read_all(rebuilt)
    assert "alpha-0" not in read_all(rebuilt)
    later = begin(finish(rebuilt))
    assert messages(later)[: len(messages(rebuilt))] == messages(rebuilt)


def test_a_pinned_section_is_closed_with_a_word_about_it() -> None:
    state = begin(make_state(budget_tokens=100))
    state, (*events, _) = finish_with_events(pin(step(state, "Alpha"), "Alpha"))
    assert events == [
        SectionsClosed(section_ids=(find(state, "Alpha"),), origin=Origin.AGENT, reason=CloseReason.BUDGET),
    ]


def test_in_fresh_mode_all_that_earlier_questions_opened_is_closed_before_the_next() -> None:
    state = pin(ask(make_state(mode=KeepOpen.FRESH), "Alpha", "Beta", "Gamma"), "Gamma")
    assert len(state.open) == 3, "what is open can be read until the next question"
    state = begin(state)
    assert state.open_ids == (find(state, "Gamma"),)
    assert "alpha-0" not in read_all(state)
    assert "gamma-0" in read_all(state)


def test_in_fresh_mode_what_the_person_opens_for_a_question_is_there_for_it_and_closed_after_it() -> None:
    state = open_by_person(ask(make_state(mode=KeepOpen.FRESH), "Alpha"), "Beta")
    state = begin(state)
    assert state.open_ids == (find(state, "Beta"),)
    assert "beta-0" in read_all(state)
    state = begin(finish(state))
    assert state.open == ()
    assert "beta-0" not in read_all(state)


def test_in_all_mode_nothing_is_closed_but_by_request() -> None:
    state = make_state(mode=KeepOpen.ALL, budget_tokens=10)
    state = ask(ask(state, "Alpha", "Beta"), "Long", "Below long")
    assert len(state.open) == 4
    assert len(close_by(state, Origin.PERSON, "Alpha").open) == 3


@pytest.mark.slow
async def test_keeping_open_saves_what_it_promises(data_dir: Path) -> None:
    assert (data_dir / "sets").is_dir()
    tallies = await simulate(8, seed=1)
    keep, fresh, everything = (tallies[mode] for mode in (KeepOpen.KEEP, KeepOpen.FRESH, KeepOpen.ALL))
    assert keep.reopened <= fresh.reopened / 2
    assert keep.uncached <= fresh.uncached
    assert keep.highest_open <= BUDGET_TOKENS
    assert everything.highest_open > keep.highest_open
    assert fresh.already_open == 0 < keep.already_open
