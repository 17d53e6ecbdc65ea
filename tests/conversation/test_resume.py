"""A saved conversation over the document of today."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from roamtui.conversation.codec import (
    SavedConversation,
    decode_conversation,
    decode_exchange,
    encode_exchange,
    encode_state,
)
from roamtui.conversation.commands import CollapseSections, FoldNodes, Origin, ReadSection, UndoBatch
from roamtui.conversation.events import CloseReason, ConversationEvent, SectionsClosed, keep_event
from roamtui.conversation.questions import rewind
from roamtui.conversation.resume import reload_state, resume_state
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Citation, QuoteState, Stopped, Usage
from roamtui.document.node import Span
from roamtui.sources.convert.pdf.convert import convert_pdf
from tests.conversation.conversations import (
    TEXT,
    ask,
    begin,
    check_messages,
    close_by,
    do,
    expand_by_agent,
    find,
    finish,
    make_library,
    make_state,
    messages,
    open_by_person,
    pin,
    read_all,
    step,
    write_section,
)
from tests.sources.convert.sample_pdf import lay_out, make_pdf


def _save(state: ConversationState) -> SavedConversation:
    """Return what comes back from the disk."""
    exchanges = [json.loads(json.dumps(encode_exchange(exchange))) for exchange in state.transcript.exchanges]
    row = {"id": state.id, "title": state.title, "model": state.model}
    values = json.loads(json.dumps(encode_state(state)))
    return decode_conversation(row, values, tuple(decode_exchange(exchange) for exchange in exchanges))


def _said(events: Iterable[ConversationEvent]) -> list[ConversationEvent]:
    """Return the events that a person is told of."""
    return [event for event in events if keep_event(event)]


_ACTIONS = {
    "ask": lambda state: ask(state, "Alpha", "Parent", cited=["Child one"]),
    "ask again": lambda state: ask(state, "Gamma", "Below long", "nothing"),
    "open": lambda state: open_by_person(state, "Beta", "Child two"),
    "close": lambda state: close_by(state, Origin.PERSON, "Alpha"),
    "pin": lambda state: pin(state, "Gamma"),
    "undo": lambda state: do(state, UndoBatch()),
    "fold": lambda state: do(state, FoldNodes(section_ids=tuple(state.unfolded)[:1])),
    "read": lambda state: do(state, ReadSection(section_id=find(state, "Zeta"))),
}


@given(st.lists(st.sampled_from(sorted(_ACTIONS)), max_size=12))
def test_over_the_same_document_the_state_is_the_same(names: list[str]) -> None:
    state = make_state()
    for name in names:
        state = _ACTIONS[name](state)
    assert resume_state(_save(state), state.library, state.options) == (state, ())


def test_every_field_of_an_exchange_comes_back() -> None:
    citation = Citation(
        section_id="0123abcd",
        quote="a “b”\n\ud800",
        state=QuoteState.NORMALISED,
        doc="a.md",
        path=("A", "B"),
        start_line=3,
        end_line=4,
        span=Span(doc="a.md", start=1, end=5),
    )
    state = step(begin(make_state(), "Why?\x00"), "Alpha", text="Look:")
    exchange = replace(
        state.transcript.exchanges[0],
        preface="Before",
        answer="So.",
        stopped=Stopped.STEP_LIMIT,
        citations=(citation, replace(citation, quote=None, span=None)),
        usage=Usage(input_tokens=1, output_tokens=2, cached_tokens=3, cost_usd=0.1, source="provider"),
        error="No.",
        steps=(replace(state.transcript.exchanges[0].steps[0], thinking='[{"type": "thinking"}]'),),
    )
    assert decode_exchange(json.loads(json.dumps(encode_exchange(exchange)))) == exchange


def test_keys_of_a_newer_program_are_ignored() -> None:
    state = ask(open_by_person(make_state(), "Beta"), "Alpha")
    values = encode_state(state)
    values["newer"] = 1
    values["open"][0]["newer"] = 1
    values["open"][1]["deliveries"][0]["newer"] = 1
    exchange = encode_exchange(state.transcript.exchanges[0])
    exchange["newer"] = exchange["usage"]["newer"] = exchange["steps"][0]["uses"][0]["call"]["newer"] = 1
    row = {"id": state.id, "title": state.title, "model": state.model}
    saved = decode_conversation(row, values, (decode_exchange(exchange),))
    assert resume_state(saved, state.library, state.options) == (state, ())


def test_keys_that_an_older_program_did_not_write_have_their_defaults() -> None:
    state = ask(make_state(), "Alpha")
    values = encode_state(state)
    del values["open"][0]["closing_by"]
    row = {"id": state.id, "title": state.title, "model": state.model}
    exchange = decode_exchange(encode_exchange(state.transcript.exchanges[0]))
    assert decode_conversation(row, values, (exchange,)).open == state.open


def test_a_program_that_ended_in_the_middle_of_a_question_leaves_a_transcript_to_go_on_with() -> None:
    state = step(begin(ask(make_state(), "Alpha")), "Beta")
    state = close_by(state, Origin.AGENT, "Alpha")
    assert state.is_asking
    resumed, events = resume_state(_save(state), state.library, state.options)
    assert not resumed.is_asking
    assert resumed.transcript.exchanges[-1].stopped is Stopped.CANCELLED
    alpha = find(state, "Alpha")
    assert events == (SectionsClosed(section_ids=(alpha,), origin=Origin.AGENT, reason=CloseReason.ASKED),)
    resumed = begin(resumed, "Go on")
    check_messages(messages(resumed))
    assert read_all(resumed).count("beta-0 ") == 1
    assert "alpha-0 " not in read_all(resumed)


def test_text_that_was_delivered_but_whose_step_was_lost_is_given_again() -> None:
    """The state is saved after each tool, the step after all of them: the program may end in between."""
    state = begin(ask(make_state(), "Alpha"))
    lost, _ = expand_by_agent(state, "Beta")
    resumed, _ = resume_state(_save(lost), lost.library, lost.options)
    assert resumed.find_open(find(lost, "Beta")) is not None
    assert read_all(begin(resumed)).count("beta-0 ") == 1


def test_in_a_changed_document_open_sections_are_found_by_id() -> None:
    state = ask(make_state(), "Alpha", "Child one")
    changed = make_library(TEXT.replace("alpha-3 ", "ALPHA-3 ").replace("Introduction.", "Another introduction."))
    resumed, events = resume_state(_save(state), changed, state.options)
    assert _said(events) == []
    assert resumed.open_ids == state.open_ids
    assert resumed.needs_rebuild
    assert resumed.batches == ()
    assert resumed.unfolded == state.unfolded
    asked = begin(resumed)
    assert "ALPHA-3" in read_all(asked)
    assert "alpha-3 " not in read_all(asked)
    assert read_all(asked).count("child-one-0 ") == 1
    for section in asked.open:
        assert section.deliveries == (changed.span(section.section_id),)


def test_a_section_that_moved_is_found_by_its_own_text() -> None:
    state = pin(ask(make_state(), "Child one", cited=["Child one"]), "Child one")
    moved = make_library(TEXT.replace("## Parent", "## New parent"))
    assert find(moved, "Child one") != find(state, "Child one")
    resumed, events = resume_state(_save(state), moved, state.options)
    assert _said(events) == []
    assert resumed.open_ids == (find(moved, "Child one"),)
    section = resumed.open[0]
    assert (section.is_pinned, section.last_cited, section.opened_at) == (True, 1, 1)
    assert section.tokens == moved.node(section.section_id).tokens


def test_what_is_gone_is_closed_with_a_word_about_it() -> None:
    state = do(ask(make_state(), "Alpha", "Beta"), ReadSection(section_id=find(make_state(), "Alpha")))
    alpha = find(state, "Alpha")
    gone = make_library(TEXT.replace(write_section("Alpha"), write_section("Other")))
    resumed, events = resume_state(_save(state), gone, state.options)
    assert resumed.open_ids == (find(state, "Beta"),)
    assert _said(events) == [SectionsClosed(section_ids=(alpha,), origin=Origin.PERSON, reason=CloseReason.GONE)]
    assert resumed.reading is None
    check_messages(messages(begin(resumed)))
    assert "alpha-0" not in read_all(begin(resumed))


def test_a_pdf_that_0_1_converted_otherwise_keeps_what_reads_the_same_and_closes_the_rest_with_a_word() -> None:
    before = make_state(
        "# Page 1\n\nA cover.\n\n# Boats\n\n## Hulls\n\nA hull is hollow.\n\n## Masts\n\nA mast is tall. 12 9\n"
    )
    state = ask(before, "Hulls", "Masts", "Page 1")
    pages = [
        lay_out("A cover."),
        lay_out("Hulls", "", "A hull is hollow."),
        lay_out("Masts", "", "A mast is tall. 12.9"),
    ]
    bookmarks = [(1, "Fleet", 0), (2, "Hulls", 1), (2, "Masts", 2)]
    today = make_library(convert_pdf(make_pdf(pages, bookmarks=bookmarks), "fleet.pdf").text)
    resumed, events = resume_state(_save(state), today, state.options)
    assert resumed.open_ids == (find(today, "Hulls"),)
    gone = (find(before, "Masts"), find(before, "Page 1"))
    assert _said(events) == [SectionsClosed(section_ids=gone, origin=Origin.PERSON, reason=CloseReason.GONE)]


def test_two_sections_never_become_one_twice() -> None:
    text = "# M\n\n## A\n\nSame.\n\n## B\n\n### A\n\nOther.\n"
    state = ask(make_state(text), "A")
    twice = open_by_person(state, *(i for i in state.library.walk() if state.library.title_of(i) == "A"))
    resumed, _ = resume_state(_save(twice), make_library(text + "\n## C\n"), twice.options)
    assert len(resumed.open_ids) == len(set(resumed.open_ids)) == 2


def test_of_equal_texts_the_first_is_found() -> None:
    state = ask(make_state("# M\n\n## Part\n\n### A\n\nSame.\n"), "A")
    changed = make_library("# M\n\n## One\n\n### A\n\nSame.\n\n## Two\n\n### A\n\nSame.\n\n")
    resumed, _ = resume_state(_save(finish(begin(state))), changed, state.options)
    assert resumed.open_ids == (find(changed, "A"),)


def test_the_pending_close_of_another_program_does_not_matter() -> None:
    state = ask(make_state(), "Alpha")
    command = CollapseSections(section_ids=(find(state, "Alpha"),), origin=Origin.PERSON)
    closed = do(state, command)
    resumed, _ = resume_state(_save(closed), closed.library, closed.options)
    assert resumed.needs_rebuild
    assert "alpha-0 " not in read_all(begin(resumed))


def test_a_reload_is_matched_like_a_saved_conversation() -> None:
    state = do(ask(make_state(), "Alpha", "Child one"), ReadSection(section_id=find(make_state(), "Beta")))
    for changed in (
        make_library(),
        make_library(TEXT.replace("alpha-3 ", "ALPHA-3 ")),
        make_library(TEXT.replace("## Parent", "## New parent").replace(write_section("Beta"), "")),
        make_library("Nothing of it is left.\n"),
    ):
        reloaded, _ = reload_state(state, changed)
        resumed, _ = resume_state(_save(state), changed, state.options)
        assert (reloaded.open, reloaded.unfolded, reloaded.needs_rebuild, reloaded.transcript) == (
            resumed.open,
            resumed.unfolded,
            resumed.needs_rebuild,
            resumed.transcript,
        )


def test_a_reload_of_the_same_text_changes_nothing_but_the_library() -> None:
    state = ask(make_state(), "Alpha")
    same = make_library()
    reloaded, events = reload_state(state, same)
    assert events == ()
    assert reloaded.library is same
    assert replace(reloaded, library=state.library) == state


def test_going_back_to_before_a_change_of_the_document_delivers_the_text_of_today() -> None:
    state = ask(ask(make_state(), "Alpha", "Gamma"), "Beta")
    changed = make_library("Another line at the top.\n\n" + TEXT.replace("alpha-3 ", "ALPHA-3 "))
    resumed, _ = resume_state(_save(state), changed, state.options)
    back, _ = rewind(resumed, 2)
    assert back.open_ids == (find(changed, "Alpha"), find(changed, "Gamma"))
    asked = begin(back)
    for section in asked.open:
        assert section.deliveries == (changed.span(section.section_id),)
    assert read_all(asked).count("ALPHA-3 ") == read_all(asked).count("gamma-39") == 1
