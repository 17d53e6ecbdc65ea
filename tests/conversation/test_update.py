"""Commands by the agent and by a person: changes and events."""

from roamtui.conversation.events import NodesFolded, Origin, QuestionAnswered, SectionsClosed
from roamtui.conversation.notices import iter_notices
from roamtui.conversation.state import ConversationState
from roamtui.conversation.update import CloseSections, FoldNodes, PinSections, update
from roamtui.document.document import Document, NodeKind, NodeRow, make_columns
from roamtui.document.library import Library
from tests.conversation.conversations import (
    ask,
    begin,
    close_by,
    find,
    finish,
    finish_with_events,
    fold,
    make_state,
    messages,
    open_by_person,
    pin,
    step,
)


def test_during_a_question_closing_only_marks() -> None:
    for origin in Origin:
        asking = step(begin(make_state()), "Alpha")
        alpha = find(asking, "Alpha")
        sent = messages(asking)
        command = CloseSections(section_ids=(alpha,), origin=origin)
        after, events = fold(asking, update(asking, command))
        assert tuple(after.open_sections) == (alpha,)
        assert [event.is_pending for event in events if isinstance(event, SectionsClosed)] == [True]
        assert messages(after) == sent
        assert not after.needs_rebuild
        done, ending = finish_with_events(after)
        assert done.open_sections == {}
        assert [type(event) for event in ending] == [SectionsClosed, NodesFolded, QuestionAnswered]
        assert done.needs_rebuild


def test_a_section_that_is_opened_again_while_it_waits_to_close_stays_open() -> None:
    state = close_by(step(begin(make_state()), "Alpha"), Origin.AGENT, "Alpha")
    assert finish(state).open_sections == {}
    assert finish(step(state, "Alpha")).open_sections
    assert finish(open_by_person(state, "Alpha")).open_sections


def test_the_agent_cannot_close_pinned_or_just_cited_sections() -> None:
    state = ask(make_state(), "Alpha", "Beta", "Gamma", cited=["Beta"])
    state = begin(pin(state, "Alpha"))
    ids = tuple(find(state, title) for title in ("Alpha", "Beta", "Gamma", "Delta"))
    after, events = fold(state, update(state, CloseSections(section_ids=ids, origin=Origin.AGENT)))
    (closed,) = events
    assert isinstance(closed, SectionsClosed)
    assert (closed.section_ids, closed.is_pending) == ((ids[2],), True)
    assert closed.kept == ((ids[0], "pinned"), (ids[1], "cited in the last answer"), (ids[3], "not open"))
    assert tuple(finish(after).open_sections) == ids[:2]


def test_folding_does_not_affect_open_sections() -> None:
    state = ask(make_state(), "Child one", cited=["Child one"])
    parent = find(state, "Parent")
    folded, events = fold(state, update(state, FoldNodes(section_ids=(parent,))))
    assert events == (NodesFolded(section_ids=(parent,), is_folded=True),)
    assert folded.open_sections == state.open_sections
    assert parent not in folded.unfolded
    assert not folded.needs_rebuild
    assert update(folded, FoldNodes(section_ids=(parent, "deadbeef"))) == ()
    unfolding = FoldNodes(section_ids=(parent, "deadbeef"), is_folded=False)
    unfolded, events = fold(folded, update(folded, unfolding))
    assert events == (NodesFolded(section_ids=(parent,), is_folded=False),)
    assert (unfolded.unfolded, unfolded.open_sections) == (state.unfolded, state.open_sections)
    assert update(unfolded, unfolding) == ()


def test_pinning_what_cannot_be_opened_says_why() -> None:
    rows = [NodeRow(NodeKind.FOLDER, 1, "Guides", 0), NodeRow(NodeKind.FILE, 2, "a.md", 0)]
    root = Document(key="", title="", text="", columns=make_columns(rows, 0))
    state = ConversationState(id="c0ffee", library=Library(source="s", root=root))
    (event,) = update(state, PinSections(section_ids=root.ids[:1], is_pinned=True))
    (notice,) = iter_notices(event, state.library)
    assert notice.text == "Guides is a folder: open the files in it."
