"""Questions: what they deliver, what stays open after them, and rebuilds."""

from msgspec.structs import replace

from roamtui.conversation.budget import KeepOpenMode, RequestBudget
from roamtui.conversation.events import OpenedSection, Origin, QuestionsRewound, StopReason
from roamtui.conversation.question_flow import choose_sections_to_close
from roamtui.conversation.state import ConversationState, Exchange, fold_events
from roamtui.conversation.update import FoldNodes, update
from tests.conversation.conversations import (
    PROMPT_CONTEXT,
    ask,
    begin,
    close_by,
    find,
    finish,
    make_state,
    messages,
    open_by_person,
    pin,
    read_all,
    step,
)


def test_a_section_without_room_is_named_and_retried() -> None:
    state = open_by_person(make_state(), "Long", "Alpha")
    state = begin(state, context=replace(PROMPT_CONTEXT, budget=RequestBudget(open_max=400)))
    assert "Manual > Long: no room for its ~" in messages(state)[-1].text
    assert "alpha-0" in messages(state)[-1].text
    assert next(iter(state.open_sections.values())).deliveries == ()
    state = begin(finish(state))
    assert "long-0 " in messages(state)[-1].text


def test_a_section_whose_text_was_closed_with_the_one_above_is_delivered_again() -> None:
    state = finish(open_by_person(step(begin(make_state()), "Parent"), "Child one"))
    state = finish(begin(state))
    state = close_by(state, Origin.AGENT, "Parent")
    assert tuple(state.open_sections) == (find(state, "Child one"),)
    state = begin(state)
    assert "child-one-0 " in read_all(state)
    assert "child-two-0 " not in read_all(state)


_QUESTIONS = 5


def _section(section_id: str, tokens: int = 100, **values: object) -> OpenedSection:
    section = OpenedSection(
        section_id=section_id, opened_by=Origin.AGENT, last_used=_QUESTIONS, last_cited=0, tokens=tokens
    )
    return replace(section, **values)


def _state(*sections: OpenedSection, budget: int = 1_000, mode: KeepOpenMode = KeepOpenMode.KEEP) -> ConversationState:
    exchanges = tuple(
        Exchange(number=number, question="?", stopped=StopReason.ANSWERED) for number in range(1, _QUESTIONS + 1)
    )
    state = make_state(budget_tokens=budget, mode=mode)
    return replace(state, open_sections={section.section_id: section for section in sections}, exchanges=exchanges)


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
    assert list(choose_sections_to_close(state)) == names
    roomy = _state(*sorted(order, key=lambda section: section.section_id), budget=1_200)
    assert list(choose_sections_to_close(roomy)) == names[:7]


def test_fresh_mode_closes_sections_before_the_next_question() -> None:
    state = pin(ask(make_state(mode=KeepOpenMode.FRESH), "Alpha", "Beta", "Gamma"), "Gamma")
    assert len(state.open_sections) == 3, "sections stay open until the next question"
    state = begin(state)
    assert tuple(state.open_sections) == (find(state, "Gamma"),)
    assert "alpha-0" not in read_all(state)
    assert "gamma-0" in read_all(state)


def test_of_what_answers_unfolded_only_what_the_last_one_cites_and_what_is_read_stays_unfolded() -> None:
    state = make_state("# M\n\n" + "".join(f"## {name}\n\n### In {name}\n\nText.\n\n" for name in "ABCD"))
    a, b, c, d = (find(state, name) for name in "ABCD")
    state = fold_events(state, *update(state, FoldNodes(section_ids=(d,), is_folded=False)))
    state = replace(step(begin(state), "In A", "In B", "In C"), reading_id=find(state, "In C"))
    assert state.unfolded >= {a, b, c, d}
    state = finish(state, cited=["In B"])
    assert state.unfolded & {a, b, c, d} == {b, c, d}, "a person unfolded D"
    state = step(begin(state), "In A")
    assert state.unfolded & {a, b, c, d} == {a, b, c, d}
    assert finish(state, cited=["In A"]).unfolded & {a, b, c, d} == {a, c, d}, "B was cited by an earlier answer"


def test_asking_again_opens_what_the_agent_closed_for_the_question_and_not_what_the_person_closed() -> None:
    state = begin(ask(make_state(), "Alpha", "Beta"))
    state = close_by(close_by(state, Origin.AGENT, "Alpha"), Origin.PERSON, "Beta")
    state = finish(state)
    assert not state.open_sections
    back = fold_events(state, QuestionsRewound(first=2))
    assert [*back.open_sections] == [find(state, "Alpha")]
    asked = read_all(begin(back))
    assert (asked.count("alpha-0 "), asked.count("beta-0 ")) == (1, 0)
