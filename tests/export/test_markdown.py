"""Conversations and notes as Markdown, and conversations as JSON."""

import asyncio
import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from roamtui.agent.agent import Agent
from roamtui.bootstrap import Bootstrap
from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.notes import Note, make_note
from roamtui.document.document import hash_text
from roamtui.errors import SourceError
from roamtui.export.json import render_json
from roamtui.export.markdown import render_markdown, render_notes
from roamtui.markdown.quoted_sentence import QuotedSentence
from roamtui.models.registry import make_model
from roamtui.opening.loader import make_document_library
from roamtui.quotes.claims import parse_source_lines, read_claims, read_quotations
from roamtui.quotes.current_text import ClaimStatus
from roamtui.quotes.located_notes import LocatedNote, locate_notes, make_span_citation
from roamtui.quotes.wording import format_source_line
from roamtui.sanitiser import sanitise_text
from roamtui.search.searcher import Searcher
from roamtui.sources.read import SourceText
from roamtui.sources.source_names import join_sources
from roamtui.text import Span
from tests.conversation.conversations import Recorder, find
from tests.export.answering import LABELS, answer_question

_PIPED = f"-{hash_text('')}"


def _make_citation(*titles: str, line: int, quote: str | None = None) -> Citation:
    state = QuoteState.EXACT if quote else QuoteState.NO_QUOTE
    path = ("Garden manual", *titles)
    return Citation(section_id="a8a96034", quote=quote, state=state, path=path, start_line=line, end_line=line)


def test_notes_have_their_places_quotes_and_comments() -> None:
    quoted = _make_citation("Tools", line=5, quote="A late spade costs 50 cents a day.")
    now = _make_citation("Tools", line=6, quote="A late spade costs 2 euros a day.")
    note = Note(id="1", at="", source_key="/docs/garden.md", citation=quoted, comment="Dear!")
    shed = Note(id="2", at="", source_key="", citation=_make_citation("Tools", "Sheds", line=8), comment="Ask *Anna*.")
    located = [
        LocatedNote(note=note, status=ClaimStatus.CHANGED, new_citation=now),
        LocatedNote(note=shed, status=ClaimStatus.UNCHANGED),
    ]
    assert render_notes(located, "/docs/garden.md", "Garden manual") == (
        "# Notes: Garden manual\n\nSource: /docs/garden.md\n\n"
        "## Tools\n\n"
        "> A late spade costs 50 cents a day.\n>\n> — garden.md › Tools · line 6 [a8a96034]\n\n"
        "*(now reads “A late spade costs 2 euros a day.”)*\n\nDear!\n\n"
        "## Tools › Sheds\n\n— garden.md › Sheds · line 8 [a8a96034]\n\nAsk *Anna*.\n"
    )


_SHUT = Citation(
    section_id="a8a96034", quote="Shut.", state=QuoteState.ELSEWHERE, path=("Hours",), start_line=9, end_line=9
)


@pytest.mark.parametrize(
    ("citation", "line"),
    [
        (_SHUT, '1. ! [a8a96034] Hours, but in line 9 (quote found in another section): "Shut."'),
        (
            replace(_SHUT, doc="b.md"),
            '1. ! [a8a96034] Hours, but in b.md, line 9 (quote found in another section): "Shut."',
        ),
        (
            replace(_SHUT, state=QuoteState.EXACT, end_line=10, page=12, page_label="iv"),
            '1. ✓ [a8a96034] Hours, p. 12 (printed iv), lines 9-10 (quote found in the text): "Shut."',
        ),
        (
            Citation(section_id="00000000", quote="Shut.", state=QuoteState.NOT_FOUND),
            '1. ✗ [00000000] no such section (quote not in the text that the model read): "Shut."',
        ),
    ],
)
def test_a_source_has_the_place_of_its_words_and_none_if_its_id_is_unknown(citation: Citation, line: str) -> None:
    assert format_source_line(citation, 1) == line
    (claim,) = read_claims(f"Source: a.pdf\n\n{line}\n", "export.md")
    assert (claim.quote, claim.original_state) == (citation.quote, citation.state)


def test_standard_input_has_a_name_that_a_person_knows_and_recheck_too() -> None:
    note = Note(id="1", at="", source_key=_PIPED, citation=_make_citation("Tools", line=5))
    text = render_notes([LocatedNote(note=note, status=ClaimStatus.UNCHANGED)], _PIPED, "Garden manual")
    assert "— standard input › Tools · line 5" in text
    for markdown in (text, render_markdown(Recorder().state, _PIPED)):
        source, _ = parse_source_lines(markdown)
        assert source == "- (standard input)"
        with pytest.raises(SourceError, match="came from standard input"):
            Bootstrap().reopen_file(source)


def test_a_note_on_a_cell_shows_its_row_with_the_heads() -> None:
    text = "# Fees\n\n| Kind | Fee |\n|---|---|\n| Late | 2 euros |\n"
    library = make_document_library(SourceText(text=text, source="x.md", name="x"))
    start = text.index("2 euros")
    (section_id,) = library.walk()
    cited = make_span_citation(section_id, Span(doc="", start=start, end=start + 7), library)
    exported = render_notes(locate_notes([make_note(library, cited, "Dear!")], library), "x.md", "x")
    assert "> 2 euros\n" in exported
    assert "In full: Kind Late | Fee 2 euros\n" in exported


def test_notes_cannot_act_on_a_terminal() -> None:
    citation = replace(_make_citation("Tools", line=5), quote="Not \u202eetirw\x1b[31m")
    note = Note(id="1", at="", source_key="/docs/\x1b[1mx.md", citation=citation, comment="\x1b[1mBold")
    text = render_notes([LocatedNote(note=note, status=ClaimStatus.UNCHANGED)], note.source_key, "x")
    assert text == sanitise_text(text)
    assert "␛[1mBold" in text


def test_the_export_shows_the_verdicts_and_the_numbers_of_the_screen() -> None:
    text = render_markdown(answer_question(), "manual.md")
    answer, _, sources = text.partition("\n1. ")
    assert re.findall(r"\[[\d,]+[ ✓!✗]*\]", answer) == LABELS
    assert '"2 euros a day" [1 ✓], and "9 dollars" [2 ✗]' in answer
    assert re.fullmatch(
        r".*In code: `x\[[0-9a-f]{8}\]`\.\n(?:\n\*no source for 1 statement: .*\*\n)?", answer, re.DOTALL
    )
    numbered = [line for line in f"1. {sources}".splitlines() if not line.startswith("   ")]
    assert "   nearest, line 7: Books can" in sources
    assert [line.split("[")[0] for line in numbered[:5]] == [
        "1. ✓ ",
        "2. ✗ ",
        "3. ! ",
        "4. ✗ ",
        "5. ",
    ]
    assert [(claim.quote, claim.original_state) for claim in read_claims(text, "export.md")] == [
        ("2 euros a day", QuoteState.EXACT),
        ("9 dollars", QuoteState.NOT_FOUND),
        ("Open daily", QuoteState.ELSEWHERE),
        ("Books can … for more", QuoteState.NOT_FOUND),
    ]


def test_below_a_quote_stands_what_the_document_says_which_is_no_claim() -> None:
    sentence = 'The clerk said: "Late returns [a8a96034] cost 2 euros", but not always.'
    surroundings = QuotedSentence(sentence=sentence, quoted=((17, 29),))
    state = answer_question()
    (exchange,) = state.exchanges
    first, *others = exchange.citations
    cited = replace(exchange, citations=(replace(first, surroundings=surroundings), *others))
    text = render_markdown(replace(state, exchanges=(cited,)), "manual.md")
    assert f"\n   In full: {sentence}\n" in text
    for read in (read_claims, read_quotations):
        assert not [claim for claim in read(text, "export.md") if "Late returns" in claim.quote]


def test_a_conversation_is_one_object_that_utf_8_can_encode() -> None:
    state = Recorder().ask("Why 標 \ud800?", "Alpha", answer="Because.").state
    text = render_json(state, "manual.md")
    assert "標 \\ud800?" in text.encode().decode()
    conversation = json.loads(text)
    assert (conversation["source"], conversation["open"]) == ("manual.md", [find(state, "Alpha")])
    (exchange,) = conversation["exchanges"]
    assert (exchange["question"], exchange["answer"]) == ("Why 標 \ud800?", "Because.")
    assert [event["kind"] for event in exchange["events"]] == ["sections_expanded"]
    assert "deliveries" not in exchange["events"][0]


def test_a_passage_of_an_offline_answer_stands_there_once_and_is_read_again() -> None:
    text = "# Lamps\n\nThe lamps are:\n\n| Lamp | Lit at |\n|---|---|\n| North | nine |\n| South | ten |\n"
    library = make_document_library(SourceText(text=text, source="x.md", name="x"))
    agent = Agent(Conversation(library), make_model("offline"), Searcher(library))
    asyncio.run(agent.ask("When is the south lamp lit?"))
    (passage,) = agent.conversation.state.exchanges[0].citations
    exported = render_markdown(agent.conversation.state, "x.md")
    assert exported.count("| South | ten |") == 1
    assert "   In full: Lamp South | Lit at: ten" in exported
    assert [claim.quote for claim in read_claims(exported, "x.md")] == [passage.quote]


def test_an_export_names_neither_the_home_folder_nor_the_server_and_recheck_finds_the_document() -> None:
    state = answer_question()
    asked = replace(state.exchanges[0], model="openai/m", server="http://10.0.0.7/v1", asked_at="2026-01-01T10:00:00Z")
    source = str(Path.home() / "manual.md")
    text = render_markdown(replace(state, exchanges=(asked,)), source)
    assert "Source: ~" in text
    assert str(Path.home()) not in text
    assert "openai/m · 2026-01-01" in text
    assert "10.0.0.7" not in text
    assert parse_source_lines(text) == (source, ())
    sources = join_sources([str(Path.home() / "a.md"), str(Path.home() / "b, c.md"), "/else/d.md"])
    text = render_markdown(state, sources)
    assert str(Path.home()) not in text
    assert parse_source_lines(text) == (sources, ())
