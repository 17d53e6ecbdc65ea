"""Questions: what is delivered before them, what they leave behind, and what a rebuild holds."""

from __future__ import annotations

from dataclasses import replace

from roamtui.conversation.commands import CollapseSections, Origin, ReadSection
from roamtui.conversation.events import QuestionAnswered, QuestionAsked
from roamtui.conversation.questions import begin_question, finish_question
from roamtui.conversation.transcript import Citation, QuoteState, Stopped, Usage
from tests.conversation.conversations import (
    BRIEFING,
    TEXT,
    ask,
    begin,
    check_messages,
    close_by,
    do,
    find,
    finish,
    finish_with_events,
    make_state,
    messages,
    open_by_person,
    pin,
    read_all,
    step,
    write_section,
)


def test_the_first_request_is_our_text_the_outline_and_the_question() -> None:
    state = begin(make_state(), "How long?")
    system, user = messages(state)
    assert system.text == BRIEFING.system
    assert user.text == "- [12345678] An outline line\n\nQuestion: How long?"
    assert state.is_asking
    assert state.question_number == 1
    assert state.title == "How long?"
    assert state.model == "scripted"


def test_a_question_without_anything_before_it_stands_alone() -> None:
    state = begin(ask(make_state()), "And then?")
    assert messages(state)[-1].text == "And then?"


def test_what_the_person_opened_comes_before_the_next_question_with_its_text() -> None:
    state = open_by_person(ask(make_state(), "Alpha"), "Beta", "Gamma")
    before = messages(state)
    state = begin(state, "Now?")
    preface = messages(state)[-1].text
    assert messages(state)[: len(before)] == before
    assert preface.startswith("Opened since your last answer:\n\n[")
    assert preface.index("beta-0") < preface.index("gamma-0") < preface.index("Question: Now?")
    assert "alpha-0" not in preface
    assert all(section.deliveries for section in state.open)
    assert [section.last_used for section in state.open] == [1, 2, 2]
    assert read_all(state).count("beta-0 ") == 1


def test_what_the_person_opened_before_the_first_question_is_delivered_too() -> None:
    state = begin(open_by_person(make_state(), "Alpha"))
    assert messages(state)[-1].text.count("alpha-0 ") == 1


def test_what_the_person_opens_and_closes_again_is_not_delivered() -> None:
    state = close_by(open_by_person(ask(make_state()), "Alpha"), Origin.PERSON, "Alpha")
    assert messages(begin(state, "Now?"))[-1].text == "Now?"


def test_what_stands_above_already_is_named_once() -> None:
    state = open_by_person(ask(make_state(), "Parent"), "Child one")
    state = begin(state)
    assert "Child one (lines" in messages(state)[-1].text
    assert "is open already: its text stands above." in messages(state)[-1].text
    assert read_all(state).count("child-one-0 ") == 1
    state = begin(finish(state), "Next?")
    assert messages(state)[-1].text == "Next?"
    assert state.open_ids == (find(state, "Parent"), find(state, "Child one"))
    assert [section.tokens for section in state.open][1] == 0, "its text is the parent's"


def test_when_the_section_around_it_is_closed_its_text_is_delivered_by_itself() -> None:
    state = finish(begin(open_by_person(ask(make_state(), "Parent"), "Child one")))
    state = begin(close_by(state, Origin.PERSON, "Parent"))
    assert read_all(state).count("child-one-0 ") == 1
    assert "child-two-0 " not in read_all(state)


def test_what_has_no_room_is_said_and_tried_again() -> None:
    state = open_by_person(make_state(), "Long", "Alpha")
    state = begin(state, briefing=replace(BRIEFING, room_tokens=400))
    assert "Manual > Long: no room for its ~" in messages(state)[-1].text
    assert "alpha-0" in messages(state)[-1].text
    assert state.open[0].deliveries == ()
    state = begin(finish(state))
    assert "long-0 " in messages(state)[-1].text


def test_the_model_is_told_what_the_person_reads() -> None:
    state = ask(make_state())
    beta = find(state, "Beta")
    state = begin(do(state, ReadSection(section_id=beta)), "What is this?")
    assert messages(state)[-1].text == (f"(The person is reading [{beta}] Manual > Beta.)\n\nQuestion: What is this?")
    gone = begin(do(ask(make_state()), ReadSection(section_id="deadbeef")), "And this?")
    assert messages(gone)[-1].text == "And this?"


def test_citations_are_noted_on_the_section_and_on_what_holds_it() -> None:
    state = ask(make_state(), "Parent", "Alpha", "Beta", cited=["Child one", "Alpha"])
    assert [(section.last_cited, section.section_id) for section in state.open] == [
        (1, find(state, "Parent")),
        (1, find(state, "Alpha")),
        (0, find(state, "Beta")),
    ]
    invented = finish(begin(state), cited=["deadbeef"])
    assert [section.last_cited for section in invented.open] == [1, 1, 0]


def test_an_outcome_is_kept_with_its_exchange() -> None:
    citation = Citation(section_id="deadbeef", quote=None, state=QuoteState.NO_QUOTE)
    outcome = QuestionAnswered(
        answer="Because.",
        stopped=Stopped.NOT_FOUND,
        citations=(citation,),
        usage=Usage(input_tokens=3),
        error="None.",
    )
    state, _ = finish_question(begin(make_state(), "Why?"), outcome)
    exchange = state.transcript.exchanges[0]
    assert (exchange.number, exchange.question, exchange.answer, exchange.stopped) == (
        1,
        "Why?",
        "Because.",
        Stopped.NOT_FOUND,
    )
    assert (exchange.citations, exchange.usage, exchange.error, exchange.model) == (
        (citation,),
        Usage(input_tokens=3),
        "None.",
        "scripted",
    )
    assert not state.is_asking


def test_a_question_that_was_left_behind_is_ended_by_the_next_one() -> None:
    state = step(begin(make_state()), "Alpha")
    state = close_by(state, Origin.PERSON, "Alpha")
    state = begin(state, "Again?")
    assert [exchange.stopped for exchange in state.transcript.exchanges] == [Stopped.CANCELLED, None]
    assert state.open == (), "what was marked is closed"
    check_messages(messages(state))
    assert "[interrupted by the person]" in read_all(state)


def test_another_model_means_a_rebuild() -> None:
    state = ask(make_state(), "Alpha")
    sent = messages(state)
    assert messages(begin(state))[: len(sent)] == sent
    other = begin(state, briefing=replace(BRIEFING, model="other", outline="Another outline"))
    assert messages(other)[1].text.startswith("Another outline")
    assert other.model == "other"
    assert other.transcript.rebuilt_at == 1


def test_the_outline_is_frozen_until_a_rebuild() -> None:
    newer = replace(BRIEFING, outline="A newer outline", system="A newer system text")
    state = begin(ask(make_state(), "Alpha"), briefing=newer)
    assert "newer" not in read_all(state)
    state = begin(close_by(finish(state), Origin.PERSON, "Alpha"), briefing=newer)
    assert "A newer outline" in read_all(state)
    assert messages(state)[0].text == "A newer system text"


def test_a_rebuild_holds_open_text_once_and_earlier_exchanges_without_text() -> None:
    state = ask(make_state(), "Alpha", "Beta", question="First?")
    state = ask(open_by_person(state, "Gamma"), "Delta", question="Second?")
    state = begin(close_by(state, Origin.PERSON, "Beta"), "Third?")
    text = read_all(state)
    assert [text.count(f"{name}-0 ") for name in ("alpha", "beta", "gamma", "delta")] == [1, 0, 1, 1]
    system, first, answer, second, second_answer, third = messages(state)
    assert system.text == BRIEFING.system
    assert first.text.startswith("- [12345678]")
    assert "\n\nSections that are open already:\n\n[" in first.text
    assert first.text.endswith("\n\nQuestion: First?")
    assert (answer.text, second.text, second_answer.text) == ("Because.", "Second?", "Because.")
    assert third.text == "Third?"
    check_messages(messages(state))
    assert not state.needs_rebuild


def test_after_a_rebuild_it_only_grows_again() -> None:
    state = close_by(ask(make_state(), "Alpha", "Beta"), Origin.PERSON, "Beta")
    rebuilt = begin(state)
    state = finish(step(rebuilt, "Gamma"))
    later = begin(state)
    assert messages(later)[: len(messages(rebuilt))] == messages(rebuilt)
    assert later.transcript.prologue == rebuilt.transcript.prologue


def test_a_rebuild_gives_pages_that_are_open_and_names_those_between() -> None:
    state = begin(make_state(TEXT + write_section("Very long", words=9_000)))
    section_id = find(state, "Very long")
    state = finish(step(state, "Very long", f"{section_id}:3", "Alpha"))
    delivered = state.open[0].deliveries
    assert len(delivered) == 2
    state = begin(close_by(state, Origin.PERSON, "Alpha"))
    text = read_all(state)
    for span in delivered:
        assert state.library.text_at(span).strip() in text
    assert f", [{section_id}:2]: not given here, open it by its id)" in text
    assert f", [{section_id}:4]; [{section_id}:5]" in text
    assert f"[{find(state, 'Below long')}]" not in text


def test_a_rebuild_does_not_repeat_what_two_open_sections_share() -> None:
    state = ask(make_state(), "Child two", "Parent", "Alpha")
    state = begin(close_by(state, Origin.PERSON, "Alpha"))
    text = read_all(state)
    assert [text.count(f"{name}-0 ") for name in ("parent", "child-one", "child-two")] == [1, 1, 1]
    assert f"[{find(state, 'Child two')}] Child two: given above)" in text


def test_closing_a_child_whose_parent_stays_leaves_a_way_back() -> None:
    state = ask(make_state(), "Child two", "Parent")
    state = begin(close_by(state, Origin.PERSON, "Child two"))
    assert "child-two-0" not in read_all(state)
    assert f"[{find(state, 'Child two')}] Child two: not given here, open it by its id)" in read_all(state)
    state = step(state, "Child two")
    assert read_all(state).count("child-two-0 ") == 1


def test_what_is_closed_can_be_opened_again_and_is_delivered_again() -> None:
    state = close_by(ask(make_state(), "Alpha"), Origin.PERSON, "Alpha")
    state = step(begin(state), "Alpha")
    assert read_all(state).count("alpha-0 ") == 1
    assert state.open[0].opened_at == 2


def test_only_what_held_text_costs_a_rebuild() -> None:
    state = ask(make_state(), "Alpha")
    sent = messages(state)
    command = CollapseSections(section_ids=(find(state, "Beta"),), origin=Origin.PERSON)
    state = begin(pin(do(state, command), "Alpha"))
    assert messages(state)[: len(sent)] == sent


def test_a_question_that_changed_nothing_has_no_other_events() -> None:
    state, events = begin_question(ask(make_state(), "Alpha"), "Next?", BRIEFING)
    assert events == (QuestionAsked(number=2, question="Next?", model="scripted"),)
    assert [type(event) for event in finish_with_events(state)[1]] == [QuestionAnswered]
