"""The offline model answers through the same loop and the same tools as any other, with passages."""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from roamtui.agent.agent import Agent
from roamtui.answer_report import AnswerReport
from roamtui.conversation.citations import QuoteState
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import Origin, QuestionAnswered, SectionsOpened, SectionsSearched, StopReason
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.notices import format_steps, iter_notices
from roamtui.conversation.state import Exchange
from roamtui.conversation.update import AskOptions, OpenSections
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.errors import ModelError, StoreError
from roamtui.export.html import render_html
from roamtui.export.markdown import render_markdown
from roamtui.headless.answer_lines import render_report
from roamtui.models.registry import NoModel
from roamtui.opening.loader import open_sources
from roamtui.search.base import SearchServices, VectorCoverage
from roamtui.search.searcher import Searcher
from tests.agent.asking import FakeSearcher, collect_events
from tests.case_files import read_case, read_rows
from tests.conversation.conversations import make_state
from tests.fakes.hashed_embedder import HashedEmbedder
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.fakes.site import FakeSite
from tests.real_documents import PROJECT_DIR
from tests.table.filling import wait_until

FERRY = read_case("ferry_for_answers.md")


@dataclass(kw_only=True)
class Talk:
    """A conversation with the offline model."""

    agent: Agent
    answer: QuestionAnswered | None = None
    queries: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    """Titles that the last question opened."""

    async def ask(self, question: str, within: str | None = None) -> QuestionAnswered:
        """Ask, about the section with the title `within` if there is one, and return the answer."""
        library = self.agent.conversation.state.library
        opened: list[str] = []
        self.queries = ()
        section_id = next((i for i in library.walk() if library.node(i).title == within), None)
        for event in await collect_events(self.agent, question, AskOptions(within=section_id)):
            if isinstance(event, SectionsOpened):
                newest = self.agent.conversation.state.library
                opened += [newest.node(section_id).title for section_id in event.opened_ids]
            if isinstance(event, SectionsSearched):
                self.queries += (event.query,)
            if isinstance(event, QuestionAnswered):
                self.answer = event
        self.opened = tuple(opened)
        assert self.answer is not None
        return self.answer


def make_talk(text: str = FERRY, *, has_search: bool = True) -> Talk:
    """Return a new conversation about `text`."""
    library = Library(source="ferry.md", root=parse_document(text))
    searcher = Searcher(library) if has_search else None
    return Talk(agent=Agent(Conversation(library), NoModel(), searcher))


_PAGES = {
    "/start.md": "# Start\n\nPress the button.\n",
    "/charger.md": f"# Power\n\n## Mains\n\n{'Mains. ' * 3_000}\n\n## Charging\n\nCharging takes ninety minutes.\n",
    "/care.md": "# Care\n\nA damp cloth.\n",
    "/history.md": "# History\n\nFounded in 1911.\n",
}
_LIST = "# Gadget\n\n## Docs\n\n" + "".join(f"- [{path[1:-3]}]({path}): note\n" for path in _PAGES)


async def test_it_searches_opens_a_batch_and_quotes() -> None:
    talk = make_talk()
    answer = await talk.ask("How much does a car cost?")
    assert len(talk.queries) == 1
    assert "Cars" in talk.opened
    assert "“A car costs 30 crowns each way. A trailer costs 12 crowns more.”" in answer.answer
    assert answer.citations[0].path == ("Ferry handbook", "Tickets", "Cars")
    assert all(citation.state is QuoteState.EXACT for citation in answer.citations)


async def test_the_name_of_the_subject_does_not_lead_to_places_that_repeat_it() -> None:
    notes = "".join(f"## Note {number}\n\nRed Fern rents ladders.\n\n" for number in range(9))
    people = "## Ann\n\nAnn leads the workers of Red Fern.\n\n## People\n\nThere are 40 workers.\n"
    talk = make_talk(f"# Red Fern\n\n{notes}{people}")
    answer = await talk.ask("How many workers does Red Fern have?")
    assert answer.citations[0].path[-1] == "People"
    answer = await talk.ask("Is Red Fern mouldering?")
    assert answer.stopped is StopReason.NEAREST, "if nothing else is found, its name is looked for"


async def test_a_search_that_is_off_or_fails_is_an_error_and_nothing_is_said_to_be_absent() -> None:
    talk = make_talk(has_search=False)
    off = await talk.ask("Who composed the anthem of Norway?")
    talk.agent.search.searcher = FakeSearcher(error=StoreError("The index is damaged."))
    failed = await talk.ask("Who composed the anthem of Norway?")
    assert {(answer.stopped, answer.answer) for answer in (off, failed)} == {(StopReason.ERROR, "")}
    assert off.error.startswith("Nothing was searched. Search is off.")
    assert failed.error == "Nothing was searched. The index is damaged."


@pytest.mark.parametrize(("question", "passage"), read_rows("agent/offline", "forms"))
async def test_the_first_passage_has_synonyms_and_forms_of_the_words(question: str, passage: str) -> None:
    answer = await make_talk().ask(question)
    assert (answer.citations[0].quote or "").startswith(passage)


async def test_signs_that_a_document_writes_move_no_quote() -> None:
    text = "# Kilns\n\n- The kiln has passed its test [1 ✓] on Monday.\n\n# Fees\n\nThe kiln costs six crowns.\n"
    exchange, _ = await _ask("When was the kiln test, and what does the kiln cost?", text=text)
    assert "✓" not in exchange.answer
    assert len(exchange.citations) == 2
    for citation in exchange.citations:
        quoted = exchange.answer[citation.start : citation.end].strip("“”")
        assert quoted.split()[:3] == (citation.quote or "").split()[:3]
        assert quoted.endswith((citation.quote or "")[-8:])


async def test_a_passage_of_a_long_table_stands_below_its_heads() -> None:
    rows = "".join(f"| City {number} | {number * 7} |\n" for number in range(1_500)) + "| Heron bay | 77 |\n"
    exchange, library = await _ask("births Heron bay", text=f"# Report\n\n| City | Births |\n|---|---|\n{rows}")
    passage = exchange.citations[0]
    assert passage.quote is not None
    assert "Births" not in passage.quote
    assert f"\n\n| City | Births |\n|---|---|\n{passage.quote}\n\n[" in exchange.answer
    assert exchange.answer[passage.start : passage.end] == passage.quote
    assert passage.span is not None
    assert library.text_at(passage.span) == passage.quote


async def test_a_question_about_a_section_is_answered_from_it_alone() -> None:
    talk = make_talk()
    answer = await talk.ask("How much does it cost?", within="Tickets")
    assert {citation.path[1] for citation in answer.citations} == {"Tickets"}
    answer = await talk.ask("When does the last boat leave?", within="Bicycles")
    assert answer.stopped is StopReason.NOT_FOUND
    assert talk.opened in ((), ("Bicycles",))
    answer = await talk.ask("When does the last boat leave?", within="Timetable")
    assert "The last boat leaves at ten in the evening." in answer.answer


async def test_the_section_that_a_question_names_by_number_comes_first_and_whole() -> None:
    rules = "".join(f"## Article {roman}\n\nWood floats.\n\nStones sink.\n\n" for roman in ("IV", "V", "VI"))
    text = f"# Rules\n\n{rules}## Fees\n\nThe fee of article 5 is what article 4 says.\n"
    answer = await make_talk(text).ask("What does article 5 say?")
    assert [citation.path[-1] for citation in answer.citations][:3] == ["Article V", "Article V", "Fees"]
    assert answer.stopped is StopReason.NEAREST


@pytest.mark.parametrize("question", ["How much does a bicycle cost?", "How much does a bicycle cost on Sundays?"])
async def test_passages_are_the_nearest_whatever_words_they_have(question: str) -> None:
    exchange, library = await _ask(question, text=FERRY)
    assert exchange.stopped is StopReason.NEAREST
    lead = "These are the nearest passages, by words alone."
    assert exchange.answer.startswith(lead)
    assert exchange.answer.split("\n\n")[1:2] == ["**Tickets › Bicycles** · has: bicycle cost"]
    state = replace(make_state(), library=library, exchanges=(exchange,))
    for exported in (render_markdown(state, "ferry.md"), render_html(state, "ferry.md")):
        assert "has: bicycle cost" in exported


async def test_a_whole_passage_is_printed_as_far_as_a_part_of_one_would_be() -> None:
    clauses = "no boat shall be moored without a lamp, " * 13
    exchange, library = await _ask("Who pays for a lost anchor?", text=f"# Rules\n\n{clauses}nor a lost anchor paid.\n")
    printed = render_report(AnswerReport(exchange, library), "offline", is_laid_out=False)
    assert f"“{clauses}nor a lost anchor paid.”" in printed


_ROWS = "".join(f"| Berth {number} | {number} |\n" for number in range(9))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# The cost\n\nA bicycle is welcome.\n", "bicycle, cost"),
        ("# Boats\n\nIf you bring a bicycle, reserve a place. The cost is two crowns.\n", "bicycle, cost"),
        ("# Boats\n\n| Cost | Item |\n|---|---|\n| 2 | bicycle |\n", "bicycle, cost"),
        ("# The cost\n\n## Boats\n\nA bicycle is welcome.\n", "bicycle"),
        ("# Boats\n\nA [bicycle](#the-cost) is welcome.\n\nThe cost of food is low.\n", "bicycle"),
        (f"# Boats\n\n| Item | Crowns |\n|---|---|\n| A bicycle | 2 |\n| Cost of food | 3 |\n{_ROWS}", "bicycle"),
    ],
    ids=[
        "its own title",
        "its other sentence",
        "a head of its table",
        "a title further above",
        "a passage below",
        "a row that is not shown",
    ],
)
async def test_words_that_a_card_and_its_own_title_show_count_and_no_others(text: str, words: str) -> None:
    exchange, _ = await _ask("How much does a bicycle cost?", text=text)
    assert f"· has: {words}\n" in exchange.answer


async def test_passages_that_only_share_words_are_said_not_to_match_closely() -> None:
    library = Library(source="ferry.md", root=parse_document(FERRY))
    searcher = Searcher(library, services=SearchServices(embedder=HashedEmbedder()))
    talk = Talk(agent=Agent(Conversation(library), NoModel(), searcher))
    near = await talk.ask("Does the last boat leave at ten?")
    assert near.answer.startswith("These are the nearest passages.\n")
    far = await talk.ask("Do boats cost more crowns?")
    assert far.answer.startswith("These are the nearest passages, but none matches closely.\n")
    assert (near.stopped, far.stopped) == (StopReason.NEAREST, StopReason.NONE_CLOSE)


async def test_an_answer_says_if_only_a_part_of_the_document_was_compared_by_meaning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("roamtui.search.searcher._SECONDS_MAX", -1.0)
    text = "# Harbour\n\n" + "\n\n".join(f"## Pier {number}\n\nBoats may moor here." for number in range(9))
    library = Library(source="piers.md", root=parse_document(text))
    searcher = Searcher(library, services=SearchServices(embedder=HashedEmbedder()))
    talk = Talk(agent=Agent(Conversation(library), NoModel(), searcher))
    answers: list[str] = []
    for _ in range(3):
        answers.append((await talk.ask("Where may the captain moor a boat?")).answer)
        await talk.agent.conversation.start_new()
    said = ["were compared by meaning so far. `roamtui index` compares all." in answer for answer in answers]
    assert said == [True, True, False], answers


@pytest.mark.parametrize(("written", "typed"), [("Annual General Meeting", "agm"), ("annual general meeting", "AGM")])
async def test_an_abbreviation_is_answered_like_its_words(written: str, typed: str) -> None:
    text = f"# Club\n\n## Meetings\n\nThe {written} takes place in March.\n"
    question = f"When is the {typed}?"
    answer, words = [await make_talk(text).ask(each) for each in (question, "When is the annual general meeting?")]
    assert answer.citations
    assert (answer.answer, answer.citations) == (words.answer, words.citations)
    talk = make_talk(text)
    await talk.ask(question)
    state = talk.agent.conversation.state
    cards = AnswerReport(state.exchanges[-1], state.library).list_cards()
    assert [card.label for card in cards] == ["has: annual general meeting"]


async def test_passages_are_shown_as_before_when_they_are_looked_up_again() -> None:
    rows = "".join(f"| {item} | £{fee} |\n" for item, fee in [("Drill", 2), ("Cargo bike", 10), ("Mower", 4)] * 4)
    library = Library(source="f.md", root=parse_document(f"# Fees\n\n| Item | Late per day |\n| --- | --- |\n{rows}"))
    talk = Talk(agent=Agent(Conversation(library), NoModel(), Searcher(library)))
    answer = await talk.ask("What does a late cargo bike cost?")
    assert any(citation.key_sentence.shown for citation in answer.citations)
    assert await talk.agent.recheck_answers() == 0
    assert talk.agent.conversation.state.exchanges[-1].citations == answer.citations


async def test_nearest_passages_are_no_answer_and_words_that_are_nowhere_are_named() -> None:
    answer = await make_talk().ask("Which captain collects the fare of the first boat?")
    assert answer.stopped is StopReason.NEAREST
    absent = "“captain”, “collects” and “fare” do not occur in the document."
    assert answer.answer.startswith(f"These are the nearest passages, by words alone. {absent}\n")
    assert answer.citations[0].path[-1] == "Timetable"


async def test_what_the_document_does_not_hold_is_not_made_up() -> None:
    answer = await make_talk().ask("Who composed the national anthem of Norway?")
    assert answer.stopped is StopReason.NOT_FOUND
    assert answer.citations == ()
    assert (
        await make_talk("").ask("Who?")
    ).answer == "Not found: too few words of the question were found in the document."


async def test_a_document_that_fits_into_an_answer_is_shown_whole_if_nothing_is_near() -> None:
    weeks = [f"## Week {number}\n\nTom cooks on day {number}.\n\n" for number in range(1, 9)]
    answer = await make_talk(f"# Rota\n\n{''.join(weeks[:7])}").ask("Who buys the bread?")
    assert answer.stopped is StopReason.NONE_CLOSE
    whole = "None matches closely: these are all passages of the document."
    assert answer.answer.startswith(f"{whole} “buys” and “bread” do not occur in the document.\n")
    assert [citation.quote for citation in answer.citations] == [f"Tom cooks on day {each}." for each in range(1, 8)]
    longer = await make_talk(f"# Rota\n\n{''.join(weeks)}").ask("Who buys the bread?")
    assert (longer.stopped, longer.citations) == (StopReason.NOT_FOUND, ())


@pytest.mark.parametrize("is_opened", [False, True])
@pytest.mark.parametrize(
    ("question", "reply", "stopped"),
    [
        ("Which captain collects the fare of the first boat before breakfast?", None, StopReason.NEAREST),
        ("Who composed the national anthem of Norway?", None, StopReason.NOT_FOUND),
        ("Who?", ScriptedReply(text="Not found: nothing."), StopReason.NOT_FOUND),
        ("Who?", ScriptedReply(error=ModelError("The key was refused.")), StopReason.ERROR),
        ("Who?", ScriptedReply(text="It is", gate=asyncio.Event()), StopReason.CANCELLED),
    ],
)
async def test_the_steps_of_a_question_never_contradict_its_outcome(
    question: str, reply: ScriptedReply | None, stopped: StopReason, *, is_opened: bool
) -> None:
    talk = make_talk()
    conversation = talk.agent.conversation
    library = conversation.state.library
    if is_opened:
        ids = tuple(library.walk())[1:4]
        await conversation.execute(OpenSections(section_ids=ids, origin=Origin.PERSON))
    if reply is not None:
        talk.agent.use_model(ScriptedModel([reply]))
    asking = asyncio.create_task(talk.agent.ask(question))
    if stopped is StopReason.CANCELLED:
        await wait_until(lambda: conversation.state.is_asking)
        asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking
    (exchange,) = conversation.state.exchanges
    assert exchange.stopped is stopped
    has_opened = any(isinstance(event, SectionsOpened) and event.opened_ids for event in exchange.events)
    steps = [notice.format() for event in exchange.events for notice in iter_notices(event, library)]
    assert ("opened" in format_steps(exchange).replace("opened nothing new", "")) is has_opened
    assert has_opened is any("Opened" in step for step in steps)
    if "too few words of the question were found" in exchange.answer:
        assert not has_opened
        assert not any(" result" in step and "no results" not in step for step in steps)
        assert exchange.basis is not None
        assert exchange.basis.unread == ()


async def test_not_found_names_the_sections_that_have_some_of_the_words() -> None:
    others = "".join(f"## Pier {number}\n\nBoats moor here.\n\n" for number in range(7))
    fees = f"# Fees\n\n{others}## Late fees\n\n| Class | Grace | Cap |\n|---|---|---|\n| A | 24 hours | £10 |\n"
    answer = await make_talk(fees).ask("How long is the grace period that somebody may lend?")
    assert answer.stopped is StopReason.NOT_FOUND
    assert answer.answer.endswith(
        "“period”, “somebody” and “lend” do not occur there. Some of its words were found: grace in Fees › Late fees."
    )


async def test_not_found_names_the_words_that_are_similar_to_mistyped_ones() -> None:
    sheds = "".join(f"## Shed {number}\n\nIt is dry.\n\n" for number in range(8))
    talk = make_talk(f"# Hire\n\nThe deposit is £20. A ladder is lent for a week.\n\n{sheds}")
    answer = await talk.ask("depposit for a lader")
    assert answer.answer.endswith("Similar words were found: “deposit” for “depposit”, “ladder” for “lader”.")


_LONG = "The parties keep their papers in order and speak with each other once a month. " * 60
_CONTRACT = read_case("franchise_agreement.md").replace("{long}", _LONG)


async def test_a_section_whose_title_fits_the_question_is_never_not_found() -> None:
    answer = await make_talk(_CONTRACT).ask("How long does the agreement last?")
    assert answer.stopped is StopReason.NEAREST
    assert "shall be for 10 years" in (answer.citations[0].quote or "")


_HARBOUR = read_case("harbour_de.md")


@pytest.mark.parametrize(("question", "quote"), read_rows("agent/offline", "german"))
async def test_german_is_answered_whatever_form_its_words_have(question: str, quote: str) -> None:
    answer = await make_talk(_HARBOUR).ask(question)
    assert quote in answer.answer


async def test_pages_are_opened_and_searched_where_the_list_says_nothing() -> None:
    with FakeSite({"/llms.txt": _LIST, **_PAGES}) as site:
        library, loader = open_sources([site.url("/llms.txt")])
        conversation = Conversation(library, source_loader=loader)
        talk = Talk(agent=Agent(conversation, NoModel(), Searcher(library)))
        answer = await talk.ask("How long does charging take?")
        assert "“Charging takes ninety minutes.”" in answer.answer
        assert "**charger › Power › Charging**" in answer.answer
        assert "Charging" in talk.opened
        assert len(_PAGES.keys() & set(site.counts.paths)) == 3
        asked = len(site.counts.paths)
        await talk.ask("How long does charging take?")
        assert len(site.counts.paths) == asked


MILL = read_case("mill_fees.md")


async def _ask(question: str, *, text: str = MILL) -> tuple[Exchange, Library]:
    talk = make_talk(text)
    await talk.ask(question)
    state = talk.agent.conversation.state
    return state.exchanges[-1], state.library


async def test_no_front_end_names_a_verdict_of_a_passage() -> None:
    exchange, library = await _ask("How heavy is the upper stone?")
    state = replace(make_state(), library=library, exchanges=(exchange,))
    for exported in (render_markdown(state, "mill.md"), render_html(state, "mill.md")):
        assert "1 passage" in exported
        assert not re.search("✓|found in the text|is quoted", exported)


@pytest.mark.parametrize(("question", "answer"), read_rows("agent/offline", "handbook"))
async def test_the_questions_of_the_handbook_are_answered(question: str, answer: str) -> None:
    handbook = (PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8")
    exchange, _ = await _ask(question, text=handbook)
    assert any(answer in " ".join((passage.quote or "").split()) for passage in exchange.passages)


@pytest.mark.parametrize("question", ["what about a cat", "and for a chainsaw"])
async def test_a_follow_up_is_not_said_to_have_no_answer_if_it_has_one_alone(question: str) -> None:
    talk = make_talk((PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8"))
    alone = await talk.ask(question)
    await talk.agent.conversation.start_new()
    await talk.ask("i broke the hedge trimmer what happens")
    answer = await talk.ask(question)
    assert StopReason.NOT_FOUND not in (alone.stopped, answer.stopped)
    (query,) = talk.queries
    assert query.endswith(question), "the query that found it is named"


async def test_a_code_that_the_document_lacks_has_no_answer_even_if_its_parts_stand_there() -> None:
    exchange, _ = await _ask("Does T-409 mean a loan?", text="# Codes\n\n## Loans\n\nT-1201 and 409 mean a loan.\n")
    assert exchange.stopped is StopReason.NEAREST
    assert "“T-409” does not occur in the document." in exchange.answer


async def test_a_follow_up_says_with_what_it_was_searched() -> None:
    talk = make_talk()
    await talk.ask("How much does a bicycle cost?")
    answer = await talk.ask("And for a car?")
    assert "Searched with the question before: “How much does a bicycle cost? And for a car?”." in answer.answer


async def test_a_question_without_a_content_word_is_searched_with_the_one_before() -> None:
    talk = make_talk((PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8"))
    await talk.ask("When is the AGM?")
    answer = await talk.ask("How many must be there?")
    assert talk.queries == ("When is the AGM annual general meeting? How many must be there?",)
    assert "a quorum of 45 members" in (answer.citations[0].quote or "")


async def test_what_a_follow_up_has_in_common_with_what_it_keeps_comes_first() -> None:
    talk = make_talk((PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8"))
    await talk.ask("What is the deposit for a cargo bike?")
    answer = await talk.ask("and for a bicycle?")
    assert answer.citations[0].key_sentence.shown == "Class D | Deposit: £40"


async def test_the_words_of_a_follow_up_itself_come_first() -> None:
    talk = make_talk((PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8"))
    await talk.ask("how much is the annual fee?")
    answer = await talk.ask("and the deposit?")
    assert [citation.path[-2:] for citation in answer.citations[:2]] == [("Fees and deposits", "Deposits")] * 2
    await talk.agent.conversation.start_new()
    await talk.ask("how much is the annual fee?")
    lacking = await talk.ask("and a helicopter?")
    assert lacking.stopped is StopReason.NONE_CLOSE, "its passages have only words of the question before"
    assert lacking.answer.startswith("These are the nearest passages, but none matches closely.")
    asking = await talk.ask("and what else?")
    assert asking.stopped is StopReason.NEAREST, "it has no words of its own"
    full = await talk.ask("do you rent out snow blowers?")
    assert full.stopped is StopReason.NOT_FOUND, "the question before it would only be answered again"


async def test_a_question_that_cannot_stand_alone_is_answered_with_the_one_before_and_others_are_not() -> None:
    talk = make_talk((PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8"))
    await talk.ask("Where is Quay Hatch?")
    opening = await talk.ask("When is it open?")
    assert talk.queries == ("Where is Quay Hatch? When is it open?",)
    assert (opening.citations[0].quote or "").startswith("Quay Hatch opens on Thursday from 16:00")
    await talk.ask("Do you sharpen chisels?")
    assert talk.queries == ("Do you sharpen chisels?",)


@pytest.mark.parametrize("question", ["Do you rent out snow blowers?", "What do I pay for a lost key?"])
async def test_a_full_question_after_another_one_is_answered_as_it_would_be_alone(question: str) -> None:
    handbook = parse_document((PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8"))
    library = Library(source="handbook.md", root=handbook)
    searcher = Searcher(library, services=SearchServices(embedder=HashedEmbedder()))
    alone, after = (Talk(agent=Agent(Conversation(library), NoModel(), searcher)) for _ in range(2))
    await after.ask("Do you have cargo bikes?")
    assert (await after.ask(question)).answer == (await alone.ask(question)).answer


async def test_a_follow_up_about_another_thing_gets_the_row_of_that_thing() -> None:
    talk = make_talk((PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8"))
    await talk.ask("What is the deposit for a chainsaw?")
    answer = await talk.ask("and for a ladder?")
    row = answer.citations[0].key_sentence
    assert row.shown == "Class F | Deposit: £20"
    assert "ladders" in row.beside


async def test_a_conversation_that_is_only_opened_elsewhere_leaves_no_copy(tmp_path: Path) -> None:
    store = ConversationStore(tmp_path)
    library = Library(source="ferry.md", root=parse_document(FERRY))
    first = Conversation(library, store=store)
    await Talk(agent=Agent(first, NoModel(), Searcher(library))).ask("How much does a bicycle cost?")
    changed = replace(library, root=parse_document(FERRY.replace("bicycle", "tricycle")))
    second = Conversation(changed, store=store).resume(first.state.id)
    await Agent(second, NoModel(), Searcher(changed)).recheck_answers()
    assert second.state.exchanges[-1].citations[0].is_changed
    second.close()
    assert len(store.list()) == 1
    first.close()


async def test_nothing_is_said_to_be_near_only_if_all_sections_were_compared_and_none_has_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library = Library(source="ferry.md", root=parse_document(FERRY))
    searcher = Searcher(library, services=SearchServices(embedder=HashedEmbedder()))

    async def ask(question: str) -> str:
        return (await Talk(agent=Agent(Conversation(library), NoModel(), searcher)).ask(question)).answer

    assert (await ask("Zebra?")).startswith("Not found: nothing near the question was found")
    shared = await ask("Who painted the captain's portrait in oils last winter by candlelight?")
    assert shared.startswith("Not found: too few words of the question were found in the document. “painted”, ")
    assert "do not occur there. Some of its words were found: " in shared
    monkeypatch.setattr(Searcher, "vector_coverage", VectorCoverage(1, 9))
    part = await ask("Zebra?")
    assert part.startswith("Not found: too few words of the question were found")
    assert "Only 1 of 9 sections" in part


async def test_a_first_passage_with_all_words_matches_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.retrieval.best_passages.NEAR_SIMILARITY_MIN", 2.0)
    library = Library(
        source="codes.md", root=parse_document("# Codes\n\n| Code | What |\n|---|---|\n| T-1204 | closed |\n")
    )
    searcher = Searcher(library, services=SearchServices(embedder=HashedEmbedder()))
    talk = Talk(agent=Agent(Conversation(library), NoModel(), searcher))
    assert (await talk.ask("T-1204?")).answer.startswith("These are the nearest passages.\n")
    assert (await talk.ask("closed boats?")).answer.startswith("These are the nearest passages, but none")


async def test_a_question_without_words_is_not_searched() -> None:
    answer = await make_talk().ask("...")
    assert answer.stopped is StopReason.ERROR
    assert answer.error.startswith("Nothing was searched. The question has no words. Type")
