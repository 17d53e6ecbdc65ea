"""A saved conversation with the current version of its document."""

from collections.abc import Iterable

from roamtui.conversation.events import (
    CloseReason,
    Origin,
    PartialReplyRecorded,
    QuestionsRewound,
    ReadingSectionChanged,
    RecordedEvent,
    SectionsClosed,
    SectionsOpened,
    StopReason,
)
from roamtui.conversation.library_sync import identify_document, resume_state
from roamtui.conversation.state import ConversationState, fold_events
from roamtui.conversation.update import CloseSections, OpenSections, update
from tests.conversation.conversations import (
    TEXT,
    Recorder,
    ask,
    begin,
    check_messages,
    find,
    fold,
    make_library,
    make_state,
    messages,
    pin,
    read_all,
    reload,
    write_section,
)
from tests.fakes.replay import replay_events


def _save(state: ConversationState) -> ConversationState:
    """Return a state with the digest that a log would have."""
    return fold_events(state, *identify_document(state))


def _list_reported(events: Iterable[RecordedEvent]) -> list[RecordedEvent]:
    """List the events that a person sees later."""
    return [event for event in events if isinstance(event, SectionsOpened | SectionsClosed)]


def test_a_question_cut_off_by_a_crash_leaves_a_valid_transcript() -> None:
    played = Recorder().ask("Why?", "Alpha").begin("And?")
    state = played.state
    ids = (find(state, "Beta"),)
    played.apply(update(state, OpenSections(section_ids=ids, origin=Origin.AGENT)))
    played.apply(update(played.state, CloseSections(section_ids=(find(state, "Alpha"),), origin=Origin.AGENT)))
    played.record(PartialReplyRecorded(start=0, text="It is"))
    resumed, events = resume_state(replay_events(state.library, played.events), state.library)
    assert not resumed.is_asking
    assert (resumed.exchanges[-1].stopped, resumed.exchanges[-1].answer) == (StopReason.CANCELLED, "It is")
    closed = SectionsClosed(section_ids=(find(state, "Alpha"),), origin=Origin.AGENT, reason=CloseReason.ASKED)
    assert closed in events
    resumed = begin(resumed, "Go on")
    check_messages(messages(resumed))
    assert read_all(resumed).count("beta-0 ") == 1, "it was delivered, but the log lost its step"
    assert "alpha-0 " not in read_all(resumed)


def test_a_section_that_moved_is_found_by_its_own_text() -> None:
    state = pin(ask(make_state(), "Child one", cited=["Child one"]), "Child one")
    moved = make_library(TEXT.replace("## Parent", "## New parent"))
    assert find(moved, "Child one") != find(state, "Child one")
    resumed, events = reload(_save(state), moved)
    assert _list_reported(events) == []
    assert tuple(resumed.open_sections) == (find(moved, "Child one"),)
    section = next(iter(resumed.open_sections.values()))
    assert (section.is_pinned, section.last_cited) == (True, 1)
    assert section.tokens == moved.count_tokens(section.section_id)[1]


def test_a_missing_section_is_closed_and_reported() -> None:
    asked = ask(make_state(), "Alpha", "Beta")
    alpha = find(asked, "Alpha")
    state = fold_events(asked, ReadingSectionChanged(section_id=alpha))
    gone = make_library(TEXT.replace(write_section("Alpha"), write_section("Other")))
    resumed, events = reload(_save(state), gone)
    assert tuple(resumed.open_sections) == (find(state, "Beta"),)
    assert _list_reported(events) == [
        SectionsClosed(section_ids=(alpha,), origin=Origin.PERSON, reason=CloseReason.GONE)
    ]
    assert resumed.reading_id is None
    check_messages(messages(begin(resumed)))
    assert "alpha-0" not in read_all(begin(resumed))


def test_rewinding_past_a_reload_delivers_the_current_text() -> None:
    state = ask(ask(make_state(), "Alpha", "Gamma"), "Beta")
    changed = make_library("Another line at the top.\n\n" + TEXT.replace("alpha-3 ", "ALPHA-3 "))
    resumed, _ = reload(_save(state), changed)
    back, _ = fold(resumed, (QuestionsRewound(first=2),))
    assert tuple(back.open_sections) == (find(changed, "Alpha"), find(changed, "Gamma"))
    asked = begin(back)
    for section in asked.open_sections.values():
        assert section.deliveries == (changed.node(section.section_id).span,)
    assert read_all(asked).count("ALPHA-3 ") == read_all(asked).count("gamma-39") == 1
