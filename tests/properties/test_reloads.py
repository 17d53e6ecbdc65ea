"""After any change of a source, text that counts as delivered is exactly in the current source."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from roamtui.conversation.events import (
    Origin,
    QuestionAnswered,
    QuestionAsked,
    Step,
    StepRecorded,
    StopReason,
    ToolCall,
    ToolUse,
)
from roamtui.conversation.library_sync import reload_state, resume_state
from roamtui.conversation.question_flow import begin_question, finish_question
from roamtui.conversation.state import fold_events
from roamtui.conversation.update import ExpandSections, update
from roamtui.document.library import Library
from roamtui.document.parse import parse_document, parse_source_text
from roamtui.sources.read import RawText
from roamtui.text import Span
from tests.conversation.conversations import PROMPT_CONTEXT, Recorder
from tests.search.libraries import make_folder

_SITE = "https://site.example/"
_TEXTS = tuple(
    f"# {word}\n\nWords of {word}.\n\n## More of {word}\n\n{word} and more {word}.\n"
    for word in ("apples", "pears", "plums", "quinces")
)
_NAMES = ("a.md", "b.md", "c.md")
_sources = st.dictionaries(st.sampled_from(_NAMES), st.sampled_from(_TEXTS), min_size=1)
"""Texts by name. From one draw to the next, files are edited, deleted, renamed and added."""


def _make_site(texts: dict[str, str], *, loaded: frozenset[str]) -> Library:
    """Make the library of an llms.txt with some pages loaded."""
    listing = "# Site\n\n> Fruit.\n\n## Pages\n\n" + "".join(f"- [{name}]({_SITE}{name}): fruit\n" for name in _NAMES)
    root = parse_source_text(RawText(source=f"{_SITE}llms.txt", name="llms.txt", text=listing), url=f"{_SITE}llms.txt")
    library = Library(source=f"{_SITE}llms.txt", root=root)
    links = {url: node_id for node_id, url in zip(root.ids, root.columns.urls, strict=True) if url}
    pages = {f"{_SITE}{name}": text for name, text in texts.items() if name in loaded}
    return library.graft_all({links[url]: parse_document(text, key=url, url=url) for url, text in pages.items()})


def _list_quotable(played: Recorder) -> set[Span]:
    """List all text that can be quoted: of open sections and of excerpts."""
    state = played.state
    delivered = {span for section in state.open_sections.values() for span in section.deliveries}
    exchanges = [exchange for exchange in state.exchanges if not exchange.is_stale]
    return delivered | {span for exchange in exchanges for span in exchange.iter_excerpts()}


def _ask(played: Recorder, data: st.DataObject) -> None:
    """Play a question with some excerpts that opens some sections."""
    library = played.state.library
    sections = st.sampled_from([*library.walk()])
    spans = st.lists(
        sections.map(lambda one: library.node(one).own_content_span).filter(lambda span: span.start < span.end),
        max_size=3,
    )
    asked = QuestionAsked(question="Why?", excerpts=tuple(data.draw(spans)))
    played.apply(begin_question(played.state, asked, PROMPT_CONTEXT))
    wanted = tuple(data.draw(st.lists(sections, max_size=2, unique=True)))
    played.apply(update(played.state, ExpandSections(section_ids=wanted, origin=Origin.AGENT)))
    call = ToolCall(id=f"call_{len(played.state.exchanges)}", name="search_sections", arguments="{}")
    use = ToolUse(call=call, result="Hits.", excerpts=tuple(data.draw(spans)))
    played.record(StepRecorded(step=Step(text="", uses=(use,))))
    played.apply(finish_question(played.state, QuestionAnswered(answer="So.", stopped=StopReason.ANSWERED)))


@given(st.booleans(), st.lists(_sources, min_size=2, max_size=5), st.data())
def test_delivered_text_stays_exact_after_any_change(
    is_site: bool,  # noqa: FBT001 - given by Hypothesis
    sources: list[dict[str, str]],
    data: st.DataObject,
) -> None:
    def make(texts: dict[str, str]) -> Library:
        if is_site:
            return _make_site(texts, loaded=data.draw(st.frozensets(st.sampled_from(_NAMES))))
        return make_folder(texts)

    played = Recorder(library=make(sources[0]))
    for texts in sources[1:]:
        _ask(played, data)
        before, library, quotable = played.state.library, make(texts), _list_quotable(played)
        texts_before = {span: before.text_at(span) for span in quotable}
        if data.draw(st.booleans()):
            events = reload_state(played.state, library)
            played.state = replace(played.state, library=library)
            played.apply(events)
        else:
            saved = fold_events(library, played.events, played.state.options)
            played.state, more = resume_state(saved, library)
            played.events += more
        assert _list_quotable(played) <= quotable
        for span in _list_quotable(played):
            assert library.text_at(span) == texts_before[span]
