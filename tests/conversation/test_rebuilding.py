"""Room that is made in the middle of a question: what stays open still stands in the transcript, once."""

from __future__ import annotations

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import CloseReason, SectionsClosed, list_news
from roamtui.conversation.questions import shrink
from roamtui.conversation.state import DROPPED, ConversationState
from roamtui.conversation.transcript import Role
from tests.conversation.conversations import (
    BRIEFING,
    TEXT,
    ask,
    begin,
    check_messages,
    close_by,
    find,
    make_state,
    messages,
    open_by_person,
    pin,
    read_all,
    step,
    write_section,
)


def _shrink(state: ConversationState, *closed: str) -> ConversationState:
    """Shrink a state, and check which sections were closed and that all others are still there, once."""
    ids = tuple(find(state, title) for title in closed)
    shrunk, events = shrink(state, BRIEFING)
    events = list_news(events)
    if closed:
        assert events == (SectionsClosed(section_ids=ids, origin=Origin.AGENT, reason=CloseReason.OVERFLOW),)
    else:
        assert events == ()
    assert shrunk.open_ids == tuple(section_id for section_id in state.open_ids if section_id not in ids)
    text = read_all(shrunk)
    for section in shrunk.open:
        for span in section.deliveries:
            assert text.count(shrunk.library.text_at(span).strip()) == 1
    for title in closed:
        assert shrunk.library.own_text(find(state, title)).strip() not in text
    check_messages(messages(shrunk))
    assert shrunk.is_asking
    return shrunk


def test_what_only_earlier_questions_used_is_closed_first() -> None:
    state = step(begin(ask(make_state(), "Alpha", "Beta")), "Gamma")
    shrunk = _shrink(state, "Alpha", "Beta")
    assert shrunk.transcript.rebuilt_at == 1
    assert [message.text for message in messages(shrunk)][-1].count("gamma-39") == 1


def test_what_was_opened_earlier_and_asked_for_again_keeps_its_text() -> None:
    _shrink(step(begin(ask(make_state(), "Alpha", "Beta")), "Alpha", "Gamma"), "Beta")


def test_pages_of_one_section_from_two_questions_keep_both() -> None:
    state = make_state(TEXT + write_section("Very long", words=9_000))
    section_id = find(state, "Very long")
    state = step(begin(ask(state, "Very long", "Beta")), f"{section_id}:2")
    assert len(_shrink(state, "Beta").open[0].deliveries) == 2


def test_what_the_person_opened_for_this_question_keeps_its_text() -> None:
    _shrink(begin(open_by_person(ask(make_state(), "Alpha"), "Beta")), "Alpha")


def test_pinned_sections_stay_whenever_they_were_opened() -> None:
    _shrink(step(begin(pin(ask(make_state(), "Alpha", "Beta"), "Beta")), "Gamma"), "Alpha")
    first = pin(step(begin(make_state()), "Alpha"), "Alpha")
    _shrink(step(step(first, "Beta"), "Gamma"), "Beta")


def test_with_nothing_earlier_left_the_first_steps_become_stubs() -> None:
    state = step(step(begin(make_state()), "Alpha", "Beta"), "Gamma")
    shrunk = _shrink(state, "Alpha", "Beta")
    results = [message.text for message in messages(shrunk) if message.role is Role.TOOL]
    assert results[0] == DROPPED
    assert "gamma-39" in results[1]


def test_a_stub_or_a_mention_in_the_step_that_stays_keeps_nothing_open() -> None:
    state = step(step(begin(make_state()), "Alpha", "Below long"), "Alpha", "Long")
    assert f"[{find(state, 'Below long')}]" in messages(state)[-1].text
    _shrink(state, "Alpha", "Below long")


def test_a_section_of_which_a_page_was_dropped_keeps_the_other() -> None:
    state = make_state(TEXT + write_section("Very long", words=9_000))
    section_id = find(state, "Very long")
    state = step(step(begin(state), "Very long"), f"{section_id}:2")
    shrunk, events = shrink(state, BRIEFING)
    events = list_news(events)
    assert events == ()
    assert len(shrunk.open[0].deliveries) == 1
    assert shrunk.open[0].tokens < state.open[0].tokens
    again = step(shrunk, "Very long")
    assert len(again.open[0].deliveries) == 2


def test_where_nothing_can_go_nothing_changes() -> None:
    for state in (begin(make_state()), step(begin(pin(make_state(), "Alpha")))):
        once, _ = shrink(state, BRIEFING)
        twice, events = shrink(once, BRIEFING)
        assert (twice, list_news(events)) == (once, ())
        check_messages(messages(twice))


def test_after_it_the_conversation_goes_on() -> None:
    state = step(begin(ask(make_state(), "Alpha", "Beta")), "Alpha", "Gamma")
    shrunk = step(_shrink(state, "Beta"), "Beta")
    assert read_all(shrunk).count("beta-39") == 1
    assert close_by(shrunk, Origin.PERSON, "Beta").open[-1].is_closing
