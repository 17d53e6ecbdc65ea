"""Quotes in the current version of their document."""

import pytest
from msgspec.structs import replace

from roamtui.answer_report import format_verification
from roamtui.conversation.budget import OpenSectionOptions
from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.events import CitationsChecked, PartialReplyRecorded
from roamtui.conversation.state import ConversationState, Exchange, fold_events, start_conversation
from roamtui.document.library import Library
from roamtui.export.markdown import render_markdown
from roamtui.opening.loader import make_document_library, make_error_document
from roamtui.quotes.claims import Claim, read_claims
from roamtui.quotes.current_text import ClaimStatus, add_nearest, find_cited_passage, recheck, update_citations
from roamtui.quotes.nearest import compare_words, format_diff_parts
from roamtui.quotes.verdicts import QuoteChecker, make_citation
from roamtui.quotes.wording import describe_citation, format_nearest, format_source_line, simplify_quote
from roamtui.sources.read import SourceText
from roamtui.text import Span
from tests.case_files import read_case, read_rows
from tests.conversation.conversations import begin, expand_by_agent, find, make_library, make_state
from tests.search.libraries import make_folder

HANDBOOK = read_case("handbook_to_recheck.md")
QUOTE = "A book may be kept for three weeks"


def parse(text: str) -> Library:
    return make_document_library(SourceText(text=text, source="handbook.md", name="handbook.md"))


def look_up(text: str, quote: str = QUOTE) -> tuple[ClaimStatus, str]:
    library = parse(text)
    finding = recheck(Claim(quote=quote, place="", section_id=find(parse(HANDBOOK), "Loans")), library)
    return finding.status, library.text_at(finding.span) if finding.span is not None else ""


def test_a_quote_that_left_its_section_is_looked_for_in_its_own_document_first() -> None:
    before = make_folder({"b.md": HANDBOOK})
    after = make_folder(
        {"a.md": QUOTE, "b.md": HANDBOOK.replace(QUOTE, "It").replace("Rooms are", f"{QUOTE}. Rooms are")}
    )
    finding = recheck(Claim(quote=QUOTE, place="", section_id=find(before, "Loans")), after)
    assert finding.status is ClaimStatus.MOVED
    assert finding.span is not None
    assert finding.span.doc == "b.md"


@pytest.mark.parametrize("heading", ['## Loans\n\n<a id="late"></a>', '<a name="late"></a>\n## Loans', "## Late"])
def test_a_link_to_any_anchor_names_the_section_of_a_quote(heading: str) -> None:
    claim = Claim(quote=QUOTE, place="", anchor="late")
    assert recheck(claim, parse(f"# Desk\n\nHello.\n\n{heading}\n{QUOTE}.\n")).status is ClaimStatus.UNCHANGED
    assert recheck(claim, parse(f"# Desk\n\n{QUOTE}.\n\n{heading}\nOr not.\n")).status is ClaimStatus.MOVED


@pytest.mark.parametrize("footer", ["- 17 -", "Page 3 of 20"])
def test_a_quote_may_leave_out_a_page_footer_or_have_it(footer: str) -> None:
    words = f"A book may be kept\n\n{footer}\n\nfor three weeks"
    paged = HANDBOOK.replace(QUOTE, words)
    assert look_up(paged) == look_up(paged, words) == (ClaimStatus.UNCHANGED, words)
    assert look_up(paged, QUOTE.replace("three", "four")) == (ClaimStatus.CHANGED, words)
    assert look_up(paged.replace(footer, "or lent"))[0] is ClaimStatus.CHANGED


_CHARGES = """# Shed

## Caps

| Class | Cap |
|---|---|
| C | £90 |
| E | £100 |

## Deposits

| Class | Deposit |
|---|---|
| B | £25 above a value of £150 |
| C | £100 |
| E | £150 |

Wheels: £100.
"""


@pytest.mark.parametrize(
    ("quote", "row", "row_now", "status"),
    [
        ("£100", "| C | £100 |", "| C | £120 |", ClaimStatus.SENTENCE_CHANGED),
        ("£150", "| E | £150 |", "| E | £150 and a licence |", ClaimStatus.SENTENCE_CHANGED),
        ("£150", "| E | £150 |", "| E | £150 |\n| F | £150 |", ClaimStatus.UNCHANGED),
    ],
)
def test_a_quote_is_looked_up_in_the_sentence_that_was_kept_with_it(
    quote: str, row: str, row_now: str, status: ClaimStatus
) -> None:
    state = expand_by_agent(begin(make_state(_CHARGES)), "Deposits", "Caps")[0]
    deposits = find(state, "Deposits")
    letter = row[2]
    (citation,) = QuoteChecker(state).list_citations(f'Class {letter} costs "{quote}" [{deposits}].')
    assert citation.sentence.startswith(f"Class {letter}")
    library = make_library(_CHARGES.replace(row, row_now))
    claim = Claim(
        quote=quote, place="", section_id=deposits, original_state=QuoteState.EXACT, sentence=citation.sentence
    )
    finding = recheck(claim, library)
    assert finding.status is status
    assert finding.span is not None
    assert library.text_at(finding.span) == quote


@pytest.mark.parametrize(
    ("caps", "status", "is_there"),
    [
        ("| E | £100 |", ClaimStatus.GONE, False),
        ("| E | £90 |\n\n| Class | Deposit |\n|---|---|\n| C | £100 |", ClaimStatus.MOVED, True),
    ],
)
def test_words_have_moved_only_with_their_sentence(caps: str, status: ClaimStatus, *, is_there: bool) -> None:
    charges = _CHARGES.replace("Wheels: £100.\n", "")
    state = expand_by_agent(begin(make_state(charges)), "Deposits")[0]
    deposits = find(state, "Deposits")
    (citation,) = QuoteChecker(state).list_citations(f'Class C costs "£100" [{deposits}].')
    library = make_library(charges.replace("| C | £100 |", "| C | £120 |").replace("| E | £100 |", caps))
    claim = Claim(
        quote="£100", place="", section_id=deposits, original_state=QuoteState.EXACT, sentence=citation.sentence
    )
    assert recheck(claim, library).status is status
    (event,) = update_citations(replace(_answer(state, citation), library=library))
    assert event.citations[0].is_changed
    assert event.citations[0].state is (QuoteState.ELSEWHERE if is_there else QuoteState.NOT_FOUND)


@pytest.mark.parametrize(("quote", "changes"), read_rows("quotes/recheck", "changes"))
def test_only_the_words_that_changed_are_shown_as_changed(quote: str, changes: str) -> None:
    text = f"# Huts\n\nAll huts are old. {quote} and more.\n".replace("two", "three")
    for document in (text, text.replace("three keys for the hut", '"three keys for [the hut](hut.md)"')):
        library = parse(document)
        finding = recheck(Claim(quote=quote, place=""), library)
        assert finding.span is not None
        found = library.text_at(finding.span)
        assert (finding.status, format_diff_parts(compare_words(quote, found))) == (ClaimStatus.CHANGED, changes)


@pytest.mark.parametrize(
    ("quote", "text", "shown"),
    [
        ("the fee (5)", "the fee 5", "the fee [-(5)-]{+5+}"),
        ("a “late” fee", "a “lost” fee", "a [-“late”-]{+“lost”+} fee"),
        ("+ 5 % in all", "5 % in all", "[-+ 5-]{+5+} % in all"),
        ("- late fees", "- lost fees", "[-late-]{+lost+} fees"),
    ],
)
def test_a_shown_difference_has_the_signs_and_brackets_of_its_words(quote: str, text: str, shown: str) -> None:
    assert format_diff_parts(compare_words(simplify_quote(quote), text)) == shown


def test_parts_of_a_quote_from_several_sentences_are_shown_with_what_is_between_them() -> None:
    text = "# Fees\n\nWick members pay half of it. Young ones pay none. Trailers carry no deposit.\n"
    library = parse(text)
    quote = "Wick members pay half of it … Trailers carry no deposit"
    finding = recheck(Claim(quote=quote, place=""), library)
    assert finding.span is not None
    words = format_diff_parts(compare_words(quote, library.text_at(finding.span)))
    assert words == "Wick members pay half of it. {+Young ones pay none.+} Trailers carry no deposit"


@pytest.mark.parametrize("left_out", ["Young ones pay none.", ("Young ones pay none. " * 12).strip()])
def test_a_quote_whose_ellipsis_leaves_out_sentences_is_said_to_be_read_but_not_within_one(left_out: str) -> None:
    text = f"# Fees\n\nWick members pay half of it. {left_out} Trailers carry no deposit.\n"
    state, _ = expand_by_agent(begin(make_state(text)), "Fees")
    fees = find(state, "Fees")
    answer = (
        f'It says "Wick members pay half of it … Trailers carry no deposit" [{fees}] and "Nobody pays it" [{fees}].'
    )
    citations = add_nearest(QuoteChecker(state).list_citations(answer), state)
    told = "not within one sentence"
    assert [citation.label == told for citation in citations] == [True, False]
    assert describe_citation(citations[0], state.library).place == told
    assert format_verification(citations) == f"2 quotes: 1 {told}, 1 not in the text that the model read"
    claims = read_claims(f"Source: a.md\n\n{format_source_line(citations[0], 1)}\n", "export.md")
    assert [(claim.quote, claim.original_state) for claim in claims] == [(citations[0].quote, QuoteState.NOT_FOUND)]


@pytest.mark.parametrize(
    ("answer", "words", "warning", "line"),
    [
        (
            'Rooms "are let by the hour" [{Rooms}].',
            "are let by the hour",
            "The model had not read these words",
            "these words are in Rooms, line 9, which the model had not read",
        ),
        (
            'It says "are let by the hour" [{Loans}].',
            "are let by the hour",
            "The model had not read these words",
            "these words are in Rooms, line 9, which the model had not read",
        ),
        (
            'It says "kept for four weeks" [{Loans}].',
            "kept for three weeks",
            "most similar passage",
            "nearest, line 5: kept for [-four-]{+three+} weeks",
        ),
        (
            'It says "Rooms can be let by the hour" [{Loans}].',
            "Rooms are let by the hour",
            "which the model had not read",
            "nearest, in Rooms, line 9 (not read by the model): Rooms [-can be-]{+are+} let by the hour",
        ),
        (
            'It says "Bicycles sleep in the tower of the mill" [{Loans}].',
            None,
            "The text contains nothing like this quote",
            "",
        ),
        ('It says "four weeks" [{Loans}].', None, "The text contains nothing like this quote", ""),
        ('It says "three big rooms" [{Loans}].', None, "The text contains nothing like this quote", ""),
    ],
)
def test_a_false_quote_leads_to_the_nearest_words(answer: str, words: str | None, warning: str, line: str) -> None:
    state, _ = expand_by_agent(begin(make_state(HANDBOOK)), "Loans")
    ids = {title: find(state, title) for title in ("Loans", "Rooms")}
    (citation, *_) = add_nearest(QuoteChecker(state).list_citations(answer.format(**ids)), state)
    assert format_nearest(citation) == line
    (current,) = update_citations(_answer(state, citation)) or [CitationsChecked(number=1, citations=(citation,))]
    assert current.citations == (citation,)
    span, warned = find_cited_passage(citation, state)
    assert (None if span is None else state.library.text_at(span)) == words
    assert warning in warned


def test_the_nearest_words_may_be_in_a_part_of_the_section_that_was_not_read() -> None:
    text = "# Shed\n\n## Debt\n\nOne who owes more than £25 is out. So is who is more than 21 days late.\n"
    state = begin(make_state(text))
    read = Span(doc="", start=text.index("So is"), end=len(text))
    state = replace(state, exchanges=(replace(state.exchanges[0], excerpts=(read,)),))
    (citation,) = add_nearest(
        QuoteChecker(state).list_citations(f'"owes more than £50" [{find(state, "Debt")}]'), state
    )
    assert format_nearest(citation) == "nearest, line 5 (not read by the model): owes more than [-£50-]{+£25+}"


@pytest.mark.parametrize("quote", ["We … keep", "We never keep a deposit"])
def test_words_that_the_model_had_not_read_are_shown_in_their_sentence(quote: str) -> None:
    text = "# Shed\n\n## Loans\n\nTwo weeks.\n\n## Deposits\n\nWe never keep a deposit without reason.\n"
    state, _ = expand_by_agent(begin(make_state(text)), "Loans")
    (citation,) = add_nearest(QuoteChecker(state).list_citations(f'"{quote}" [{find(state, "Loans")}]'), state)
    assert format_nearest(citation) == "these words are in Deposits, line 9, which the model had not read"
    assert citation.sentence == "We never keep a deposit without reason."
    changed = make_library(text.replace("We never", "They"))
    (event,) = update_citations(replace(_answer(state, citation), library=changed))
    assert event.citations[0].sentence == ""


@pytest.mark.parametrize("quote", ["Dogs are welcome ... but not in the shed", "Dogs are welcome at the counter"])
def test_words_of_which_the_model_had_read_a_part_are_not_said_to_be_missing(quote: str) -> None:
    text = "# Shed\n\n## Dogs\n\nDogs are welcome at the counter, but not in the shed.\n"
    state = begin(make_state(text))
    read = Span(doc="", start=text.index("welcome"), end=text.index(", but"))
    state = replace(state, exchanges=(replace(state.exchanges[0], excerpts=(read,)),))
    (citation,) = add_nearest(QuoteChecker(state).list_citations(f'"{quote}" [{find(state, "Dogs")}]'), state)
    assert format_nearest(citation) == "these words are in Dogs, line 5, which the model had not read"
    assert find_cited_passage(citation, state)[1] == "The model had not read these words"


def test_the_nearest_words_are_found_again_after_the_document_has_changed() -> None:
    state, _ = expand_by_agent(begin(make_state(HANDBOOK)), "Loans")
    citations = add_nearest(
        QuoteChecker(state).list_citations(f'"kept for four weeks" [{find(state, "Loans")}]'), state
    )
    changed = make_library(HANDBOOK.replace("# ", "# The ", 1).replace("three weeks", "two weeks"))
    (event,) = update_citations(replace(_answer(state, *citations), library=changed))
    assert format_nearest(event.citations[0]) == "nearest, in Loans, line 5: kept for [-four-]{+two+} weeks"


def test_the_nearest_words_do_not_begin_in_the_title_above_them() -> None:
    library = parse("# Chainsaws\n\nChainsaws are lent to members.\n")
    finding = recheck(Claim(quote="Chainsaws are never lent to members of the club", place=""), library)
    assert finding.span is not None
    assert library.text_at(finding.span) == "Chainsaws are lent to members"


def test_a_quote_keeps_its_verdict_if_its_document_cannot_be_read() -> None:
    before = make_folder({"a.md": "# Loans\n\nTwo weeks.\n", "b.md": "# Rooms\n\nBy the hour.\n"})
    loans = find(before, "Loans")
    text = before.node(loans).own_span
    cited = make_citation(loans, before, quote="Two weeks", state=QuoteState.EXACT, span=replace(text, start=9, end=18))
    host = before.hosts[id(before.documents_by_key["a.md"])]
    lost = make_error_document("a.md", "Permission denied: a.md.", is_page=False)
    state = replace(make_state(HANDBOOK), library=replace(before, grafts={**before.grafts, host: lost}))
    assert update_citations(_answer(state, cited)) == ()
    claim = Claim(quote="Two of the weeks by the hour", place="", section_id=loans)
    assert recheck(claim, state.library).message == lost.problem


def test_a_quote_of_another_section_than_its_id_names_is_looked_for_where_its_sentence_was() -> None:
    text = "# Shed\n\n## Bikes\n\nBring up to two.\n\n## Fees\n\nA late bike costs £3 a day, up to £45.\n"
    state, _ = expand_by_agent(begin(make_state(text)), "Fees")
    bikes = find(state, "Bikes")
    (citation,) = QuoteChecker(state).list_citations(f'"up to £45" [{bikes}]')
    library = make_library(text.replace("£45", "£55"))
    finding = recheck(
        Claim(quote="up to £45", place="", section_id=bikes, original_state=citation.state, sentence=citation.sentence),
        library,
    )
    assert (finding.status, finding.section_id) == (ClaimStatus.CHANGED, find(library, "Fees"))
    (event,) = update_citations(replace(_answer(state, citation), library=library))
    assert format_nearest(event.citations[0]) == "nearest, in Fees, line 9: up to [-£45-]{+£55+}"


def test_the_sentence_of_a_quote_is_that_of_the_document_as_it_is_now() -> None:
    state, _ = expand_by_agent(begin(make_state("# Shed\n\n## Fees\n\nA late spade costs 50 cents.\n")), "Fees")
    citations = QuoteChecker(state).list_citations(f'"late spade" [{find(state, "Fees")}]')
    library = make_library("# Shed\n\n## Fees\n\nOnly a late spade costs 50 cents.\n")
    (event,) = update_citations(replace(_answer(state, *citations), library=library))
    sentences = [each.surroundings.text for each in (*citations, *event.citations) if each.surroundings is not None]
    assert sentences == ["A late spade costs 50 cents.", "Only a late spade costs 50 cents."]
    assert event.citations[0].state is QuoteState.EXACT


def _answer(state: ConversationState, *citations: Citation) -> ConversationState:
    exchange = Exchange(number=1, question="?", answer="", citations=citations)
    return replace(state, exchanges=(exchange,))


def test_the_quotes_of_an_answer_that_was_cut_off_by_a_kill_are_looked_up() -> None:
    state, _ = expand_by_agent(begin(make_state(HANDBOOK)), "Loans")
    answer = f'"three weeks" [{find(state, "Loans")}]. "kept for four weeks" [{find(state, "Loans")}]. And the'
    recorded = fold_events(state, PartialReplyRecorded(start=0, text=answer))
    cut_off = fold_events(recorded, recorded.exchanges[-1].cancellation)
    (event,) = update_citations(cut_off)
    assert [citation.state for citation in event.citations] == [QuoteState.EXACT, QuoteState.NOT_FOUND]
    assert update_citations(fold_events(cut_off, event)) == ()
    assert "cut off" in render_markdown(fold_events(cut_off, event), "")


@pytest.mark.parametrize(
    ("text", "state", "is_changed"),
    [
        ("# Shed\n\n## Fees\n\nMore. A late spade costs 50 cents.\n", QuoteState.EXACT, False),
        ("# New shed\n\n## Fees\n\nA late spade costs 50 cents.\n", QuoteState.EXACT, False),  # all ids are others
        ("# Shed\n\n## Dues\n\nA late spade costs 50 cents.\n", QuoteState.EXACT, False),
        ("# Shed\n\n## Fees\n\nNone.\n\n## Dues\n\nA late spade costs 50 cents.\n", QuoteState.ELSEWHERE, True),
        ("# Shed\n\n## Fees\n\nA late spade costs 60 cents.\n", QuoteState.NOT_FOUND, True),
        ("# Shed\n", QuoteState.NOT_FOUND, True),
    ],
)
def test_a_verdict_is_that_of_the_document_as_it_is_now(text: str, state: QuoteState, *, is_changed: bool) -> None:
    before = make_library("# Shed\n\n## Fees\n\nA late spade costs 50 cents.\n")
    fees = find(before, "Fees")
    span = Span(doc="", start=before.root.text.index("A late"), end=len(before.root.text) - 1)
    cited = make_citation(fees, before, quote="A late spade costs 50 cents.", state=QuoteState.EXACT, span=span)
    unread = make_citation(fees, before, quote="Spades are free.", state=QuoteState.NOT_FOUND)
    library = make_library(text)
    exchange = Exchange(number=1, question="?", answer="", citations=(cited, unread))
    asked = replace(start_conversation(library, OpenSectionOptions()), exchanges=(exchange,))
    (event,) = update_citations(asked) or (CitationsChecked(number=1, citations=exchange.citations),)
    again, still_unread = event.citations
    assert (again.state, again.is_changed, again.section_id) == (state, is_changed, fees)
    assert (still_unread.state, still_unread.is_changed) == (QuoteState.NOT_FOUND, False)
    back = update_citations(replace(fold_events(asked, event), library=before)) or (event,)
    assert back[0].citations[0].state is QuoteState.EXACT


@pytest.mark.parametrize(
    ("text", "words", "warning"),
    [
        ("# Shed\n\n## Fees\n\nMore. A late spade costs 50 cents.\n", "A late spade costs 50 cents", ""),
        (
            "# Shed\n\n## Fees\n\nA late spade costs 60 cents.\n",
            "A late spade costs 60 cents",
            "The text has changed since the answer, so the most similar passage is shown",
        ),
    ],
)
def test_a_quote_that_was_looked_up_in_an_earlier_text_leads_to_what_stands_there_now(
    text: str, words: str, warning: str
) -> None:
    state, _ = expand_by_agent(begin(make_state("# Shed\n\n## Fees\n\nA late spade costs 50 cents.\n")), "Fees")
    answer = f'"A late spade costs 50 cents" [{find(state, "Fees")}]'
    (citation,) = QuoteChecker(state).list_citations(answer)
    span, warned = find_cited_passage(citation, make_state(text))
    assert span is not None
    assert (make_library(text).text_at(span), warned) == (words, warning)


def test_a_section_that_is_gone_is_named_by_its_former_title() -> None:
    state = make_state(HANDBOOK)
    loans = find(state.library, "Loans")
    start = HANDBOOK.index(QUOTE)
    span = Span(doc="", start=start, end=start + len(QUOTE))
    citation = make_citation(loans, state.library, quote=QUOTE, state=QuoteState.EXACT, span=span)
    answered = replace(state, exchanges=(Exchange(number=1, question="?", citations=(citation,)),))
    gone = parse("# Another\n\nIt is about nothing of the kind.\n")
    ((checked,),) = (event.citations for event in update_citations(replace(answered, library=gone)))
    assert describe_citation(checked, gone).title == "Loans (not in this document)"
    unknown = Citation(section_id="00000000", quote=None, state=QuoteState.NO_QUOTE)
    assert describe_citation(unknown, gone).title == "section 00000000 (not in this document)"
