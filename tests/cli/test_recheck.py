"""`recheck` counts every quote: what its sign was when the model answered, and what it is now."""

import asyncio
import os
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from roamtui.agent.agent import Agent
from roamtui.answer_report import AnswerReport
from roamtui.bootstrap import Bootstrap, open_library
from roamtui.conversation.citations import QuoteState
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import PartialReplyRecorded, QuestionAsked
from roamtui.conversation.library_sync import get_source_key
from roamtui.conversation.log import open_store
from roamtui.conversation.notes import NoteStore, make_note
from roamtui.conversation.update import AskOptions, ChooseAnswer
from roamtui.document.document import SMALL_SITE_PAGES_MAX
from roamtui.headless.answer_lines import render_report
from roamtui.opening.loader import make_document_library, open_sources
from roamtui.quotes.located_notes import make_span_citation
from roamtui.sources.read import SourceText
from roamtui.text import Span
from tests.agent.asking import NO_HITS, ask, expanding, saying, script
from tests.cli.conftest import RunCommand
from tests.conversation.conversations import find
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.site import FakeSite

_ANSWER = """\
- "Each plot is ten metres long" [{Plots}], "24 euros a year" [{Plots}] and "ten metres" [{Plots}].
- "Tools are lent for three days" [{Tools}], "lent for three days" [{Tools}] and "three days" [{Tools}].
- Late: "costs 50 cents a day" [{Tools}], or "costs 60 cents a day" [{Tools}], or "costs nothing" [{Tools}].
- And "Each plot is ten feet long" [{Plots}], "nobody swims here" [{Plots}], "A late spade" [{Plots}].
"""


_FOUND = "found in the text (then ✗: quote not in the text that the model read)"


def _ask(garden: Path, answer: str = _ANSWER) -> str:
    """Ask about the garden, save the conversation, and return its id."""
    library = open_library((str(garden),))
    agent = Agent(Conversation(library, store=open_store()), ScriptedModel(window_tokens=128_000), None, NO_HITS)
    script(agent, expanding("Plots", "Tools"), saying(answer), saying(answer))
    asyncio.run(ask(agent))
    states = Counter(citation.state for citation in agent.conversation.state.exchanges[0].citations)
    if answer == _ANSWER:
        assert states == {QuoteState.EXACT: 7, QuoteState.NOT_FOUND: 4, QuoteState.ELSEWHERE: 1}
    return agent.conversation.state.id


def test_the_answer_that_is_shown_is_the_one_that_is_checked(run: RunCommand, garden: Path) -> None:
    library = open_library((str(garden),))
    conversation = Conversation(library, store=open_store())
    agent = Agent(conversation, ScriptedModel(window_tokens=128_000), None, NO_HITS)
    script(agent, saying("“Each plot is ten metres long” [{Plots}]."), saying("“Nobody swims here” [{Plots}]."))

    async def ask_twice() -> None:
        await ask(agent)
        await agent.ask("Again?", AskOptions(replaces=conversation.state.exchanges[-1]))

    asyncio.run(ask_twice())
    for index, code in ((1, 1), (0, 0)):
        asyncio.run(conversation.execute(ChooseAnswer(number=1, index=index)))
        conversation.close()
        told = run("recheck", conversation.state.id)
        assert told.code == code
        assert ("Nobody swims here" in told.out) is bool(index)
        assert ("ten metres long" in told.out) is not bool(index)


@pytest.mark.parametrize("command", [("recheck",), ("conversations", "export")])
def test_a_place_that_does_not_exist_is_refused_as_for_any_other_command(
    command: tuple[str, ...], run: RunCommand, garden: Path
) -> None:
    conversation = run("ask", garden, "What does a late spade cost?", "--json").json["conversation"]
    refused = run(*command, conversation, "--in", garden.with_name("gardn.md"))
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == run("outline", garden.with_name("gardn.md")).err


def test_a_conversation_without_a_quote_is_told_in_one_sentence(run: RunCommand, garden: Path) -> None:
    conversation = _ask(garden, "It is a garden.")
    result = run("recheck", conversation)
    assert (result.code, result.err) == (1, f"roamtui: There is no quote to check in {conversation}.\n")


def test_what_is_no_text_with_quotes_is_told_what_can_be_checked(run: RunCommand, garden: Path) -> None:
    folder = run("recheck", garden.parent)
    assert (folder.code, "Name the id of the conversation" in folder.err) == (2, True)
    both = run("recheck", garden, "--all")
    assert (both.code, "Leave it out, or the other names." in both.err) == (2, True)


def test_a_target_that_cannot_be_read_keeps_no_other_from_being_checked(run: RunCommand, garden: Path) -> None:
    conversation = _ask(garden)
    for targets in ((conversation, "nope.md"), ("nope.md", conversation)):
        result = run("recheck", *targets)
        assert "checked: " in result.out
        assert result.err.endswith("run `roamtui conversations` for the ids.\n")
        assert result.code == 1


def _write_piped(garden: Path, conversation: str) -> str:
    """Return what `ask` writes into a pipe."""
    library = open_library((str(garden),))
    saved = Conversation(library, store=open_store()).resume(conversation)
    written = render_report(AnswerReport(saved.state.exchanges[0], library), "scripted", is_laid_out=False)
    saved.close()
    return f"{written}\nSource: {garden}\n"


@pytest.mark.parametrize("is_piped", [False, True])
def test_a_quote_that_was_edited_in_an_answer_is_checked_beside_the_sources(
    run: RunCommand, garden: Path, *, is_piped: bool
) -> None:
    conversation = _ask(garden)
    path = garden.with_name("out.md")
    run("conversations", "export", conversation, "-o", path)
    if is_piped:
        path.write_text(_write_piped(garden, conversation), "utf-8")
    before = run("recheck", path, "--json").json
    text = path.read_text("utf-8").replace('"24 euros a year" [', '"25 euros a year" [', 1)
    path.write_text(text.replace('"A late spade" [', '"A late spade costs 50 cents" [', 1), "utf-8")
    after = run("recheck", path, "--json").json
    added = [quote for quote in after["quotes"] if quote["then"] is None]
    assert len(after["quotes"]) == len(before["quotes"]) + 2 == 14
    assert [(quote["quote"], quote["state"]) for quote in added] == [
        ("25 euros a year", "changed"),
        ("A late spade costs 50 cents", "same"),
    ]


def _list_targets(run: RunCommand, garden: Path) -> list[tuple[str | Path, ...]]:
    """Return the arguments that name a conversation and its exports."""
    conversation = _ask(garden)
    exports = [garden.with_name(name) for name in ("out.md", "piped.txt")]
    assert run("conversations", "export", conversation, "-o", exports[0]).code == 0
    exports[-1].write_text(_write_piped(garden, conversation), "utf-8")
    return [(conversation,), *((path,) for path in exports), *((path, "--in", garden) for path in exports)]


def test_what_was_not_read_is_named_with_a_quote_that_is_not_found(run: RunCommand, garden: Path) -> None:
    folder = garden.parent / "folder"
    folder.mkdir()
    garden.rename(folder / garden.name)
    (folder / "prices.pdf").write_bytes(b"%PDF-1.7\n")
    answer = garden.parent / "answer.txt"
    for quote, gaps in (("Each plot is ten metres long", 0), ("Nobody swims in the pond", 1)):
        answer.write_text(f'"{quote}"\n', "utf-8")
        result = run("recheck", answer, "--in", folder)
        assert result.code == gaps
        assert result.err.count("1 file could not be read: prices.pdf") == gaps


def test_each_quote_of_a_conversation_is_counted_by_whatever_name(run: RunCommand, garden: Path) -> None:
    for target in _list_targets(run, garden):
        result = run("recheck", *target)
        kept = "found in the text" if "--in" in target else "same"
        summary = f"12 quotes checked: 7 {kept}, 1 elsewhere, 2 not found, but similar, 2 not found."
        assert (result.code, result.out.splitlines()[-1]) == (1, summary)
        assert result.out.count("(then ✗)") == 4
        assert result.out.count('elsewhere (then !): "A late spade"') == 1
        assert run("recheck", *target, "--since").code == 0
        checked = run("recheck", *target, "--json").json
        assert Counter(quote["then"] for quote in checked["quotes"]) == {"exact": 7, "not_found": 4, "elsewhere": 1}
        assert {key: count for key, count in checked["counts"].items() if count} == {
            "same": 7,
            "elsewhere": 1,
            "not_found": 4,
        }


def test_the_quotes_of_an_answer_that_was_cut_off_by_a_kill_are_counted(run: RunCommand, garden: Path) -> None:
    name = _ask(garden, '"Each plot is ten metres long" [{Plots}].')
    conversation = Conversation(open_library((str(garden),)), store=open_store()).resume(name)
    (first,) = conversation.state.exchanges
    partial = f'{first.answer} "Each plot is a mile long" [{first.citations[0].section_id}]. And the'
    asked = QuestionAsked(number=2, question="And then?")
    asyncio.run(conversation.apply(asked, PartialReplyRecorded(start=0, text=partial)))
    conversation.close()
    result = run("recheck", name)
    assert result.out.splitlines()[-1] == "3 quotes checked: 2 same, 1 not found, but similar."
    assert result.out.count("(then ✗)") == 1
    garden.rename(garden.with_name("moved.md"))
    assert run("recheck", name).out.splitlines()[-1] == "3 quotes checked: 3 unreachable."


def test_what_was_false_and_is_true_now_is_said_and_what_was_lost_since_is_a_fault(
    run: RunCommand, garden: Path
) -> None:
    targets = _list_targets(run, garden)
    text = garden.read_text("utf-8").replace("50 cents", "60 cents").replace("ten metres", "ten feet")
    garden.write_text(f"{text}\nIt costs nothing, but nobody swims here.\n", "utf-8")
    for target in targets:
        result = run("recheck", *target, "--since")
        assert f'{_FOUND}: "costs 60 cents a day"' in result.out
        assert 'changed (then ✓): "costs 50 cents a day"' in result.out or "--in" in target
        assert result.out.count("(then ✗") == 4
        assert "elsewhere (then !)" not in result.out
        assert result.code == 1


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, names of files are Unicode")
def test_a_document_whose_name_is_not_utf_8_is_found_again(run: RunCommand, garden: Path) -> None:
    named = garden.rename(garden.with_name(os.fsdecode(b"caf\xe9.md")))
    name = _ask(named, '"Each plot is ten metres long" [{Plots}].')
    assert run("recheck", name).out == "1 quote checked: 1 same.\n"
    table = garden.with_name("table.md")
    assert run("table", named, "-q", "How long is each plot?", "-o", table).code == 0
    assert run("recheck", table).out == "1 quote checked: 1 same.\n"


def test_a_document_that_has_moved_is_checked_and_exported_at_its_new_place(run: RunCommand, garden: Path) -> None:
    other = garden.with_name("other.md")
    other.write_text("# Other\n\nA pond is deep.\n", "utf-8")
    library = open_library((str(garden),))
    conversation = Conversation(library, store=open_store(), open_source=Bootstrap().open_added)
    agent = Agent(conversation, ScriptedModel(window_tokens=128_000), None, NO_HITS)
    asyncio.run(conversation.add_source(str(other)))
    script(agent, expanding("Plots", "Other"), *[saying('"A pond is deep" [{Other}], "ten metres" [{Plots}].')] * 2)
    asyncio.run(ask(agent))
    name = conversation.state.id
    conversation.close()
    moved = garden.rename(garden.with_name("moved.md"))
    page = garden.with_name("page.html")
    checked = run("recheck", name)
    assert checked.code == 1
    assert f"There is no file {garden}." in checked.out
    assert checked.out.endswith("2 quotes checked: 1 same, 1 unreachable.\n"), "the other document is still there"
    assert run("recheck", name, "--in", moved).out.endswith("2 quotes checked: 2 found in the text.\n")
    for suffix in ("md", "json", "html"):
        exported = run("conversations", "export", name, "-o", page.with_suffix(f".{suffix}"))
        assert exported.code == 0
        assert f"There is no file {garden}." in exported.err
    assert "ten metres" in page.read_text("utf-8")
    assert run("recheck", page.with_suffix(".md")).out.endswith("2 quotes checked: 1 same, 1 unreachable.\n")
    assert run("conversations", "export", name, "-o", page, "--in", garden).code == 1
    assert run("conversations", "export", name, "-o", page, "--in", moved).code == 0
    assert "Each plot is <b>ten metres</b> long." in page.read_text("utf-8")


def test_of_two_documents_the_one_that_is_still_there_is_checked(run: RunCommand, garden: Path) -> None:
    copy = garden.with_name("copy.md")
    copy.write_text("# Pond\n\nThe pond is deep.\n\n# Fish\n\nFish swim there.\n", "utf-8")
    library = open_library((str(garden), str(copy)))
    agent = Agent(Conversation(library, store=open_store()), ScriptedModel(window_tokens=128_000), None, NO_HITS)
    answer = '"The pond is deep" [{Pond}], "Fish swim there" [{Fish}], "ten metres" [{Plots}].'
    script(agent, expanding("Plots", "Pond", "Fish"), *[saying(answer)] * 2)
    asyncio.run(ask(agent))
    name = agent.conversation.state.id
    agent.conversation.close()
    garden.unlink()
    copy.write_text(copy.read_text("utf-8").replace("deep", "dry"), "utf-8")
    export = garden.with_name("out.md")
    exported = run("conversations", "export", name, "-o", export)
    told = "where the text cannot be read, quotes keep the signs of the day of their answer. There is no file"
    assert told in exported.err
    assert re.findall(r"^\d\. (.) .*\((.*)\)", export.read_text("utf-8"), re.MULTILINE) == [
        ("✗", "changed since the answer"),
        ("✓", "quote found in the text"),
        ("✓", "quote found in the text"),
    ]
    for target in (name, export):
        checked = run("recheck", target)
        assert checked.out.endswith("3 quotes checked: 1 same, 1 changed, 1 unreachable.\n")
        assert checked.out.count("There is no file") == 1


def test_a_conversation_about_a_site_is_checked_and_exported_with_its_pages(run: RunCommand, tmp_path: Path) -> None:
    others = "".join(f"- [Part {number}](/{number}.md)\n" for number in range(SMALL_SITE_PAGES_MAX))
    index = f"# Docs\n\n- [Fees](/fees.md)\n{others}"
    pages = {"/llms.txt": index, "/fees.md": "# Fees\n\nA night costs 12 euros here.\n"}
    page = tmp_path / "page.html"
    with FakeSite(pages) as site:
        library, loader = open_sources([site.origin])
        conversation = Conversation(library, store=open_store(), source_loader=loader)
        agent = Agent(conversation, ScriptedModel(window_tokens=128_000), None, NO_HITS)
        script(agent, expanding("Fees"), saying('"A night costs 12 euros" [{Fees}].'))
        asyncio.run(ask(agent))
        conversation.close()
        assert run("recheck", conversation.state.id).out == "1 quote checked: 1 same.\n"
        assert run("conversations", "export", conversation.state.id, "-o", page).code == 0
    (quote,) = re.findall(r'<a href="#([^"]+)"', page.read_text("utf-8"))
    assert re.search(f'<mark id="{quote}".*?>A night costs 12 euros</mark> here', page.read_text("utf-8"))


@pytest.mark.parametrize(("count", "state"), [(1, "same"), (SMALL_SITE_PAGES_MAX, "unreachable")])
def test_a_saved_answer_about_a_site_is_checked_in_its_pages_unless_there_are_many(
    run: RunCommand, tmp_path: Path, count: int, state: str
) -> None:
    others = "".join(f"- [Part {number}](/{number}.md)\n" for number in range(count))
    pages = {"/llms.txt": f"# Docs\n\n- [Fees](/fees.md)\n{others}", "/fees.md": "# Fees\n\nA night costs 12 euros.\n"}
    answer = tmp_path / "answer.md"
    with FakeSite(pages) as site:
        answer.write_text(run("ask", site.origin, "What are the fees of a night?").out, "utf-8")
        result = run("recheck", answer, "--allow-origin", site.origin)
    assert f"checked: 1 {state}" in result.out
    assert result.out.count("pages were not read") == (state == "unreachable")


def test_of_a_document_from_a_pipe_it_is_said_that_it_was_not_kept(run: RunCommand, garden: Path) -> None:
    library = make_document_library(SourceText(text=garden.read_text("utf-8"), source="-", name="standard input"))
    conversation = Conversation(library, store=open_store())
    agent = Agent(conversation, ScriptedModel(window_tokens=128_000), None, NO_HITS)
    script(agent, expanding("Plots"), saying('"Each plot is ten metres" [{Plots}].'))
    asyncio.run(ask(agent))
    conversation.close()
    name = conversation.state.id
    for arguments, code in ((("recheck", name), 1), (("conversations", "export", name, "--format", "html"), 0)):
        result = run(*arguments)
        assert result.code == code
        assert "came from standard input, and was not kept." in result.out + result.err
        assert run(*arguments, "--in", garden).code == 0


def test_quotes_without_ids_are_checked_in_a_text_that_names_its_source(run: RunCommand, garden: Path) -> None:
    answer = garden.with_name("answer.md")
    answer.write_text('Source: garden.md\n\nIt says "Each plot is ten metres long".\n', "utf-8")
    result = run("recheck", answer, "--in", garden)
    assert (result.code, result.out.splitlines()[-1]) == (0, "1 quote checked: 1 found in the text.")


def test_a_passage_is_cut_where_it_is_printed_and_why_its_source_is_unreachable_is_said_once(
    run: RunCommand, tmp_path: Path
) -> None:
    manual = tmp_path / "manual.md"
    paragraphs = (f"Shed {number} has spades. {'It is open each day. ' * 40}" for number in range(2))
    manual.write_text("# Sheds\n\n" + "\n\n".join(paragraphs) + "\n", "utf-8")
    asked = run("ask", manual, "Which shed has spades?", "--json").json
    export = tmp_path / "export.md"
    run("conversations", "export", asked["conversation"], "-o", export)
    found = run("recheck", export, "--in", manual)
    assert f"{len(asked['passages'])} quotes checked" in found.out
    manual.unlink()
    for result in (found, run("recheck", export)):
        assert max(map(len, result.out.splitlines())) < 500
        assert "In full:" not in result.out
    assert run("recheck", export).out.count("is no longer there") == 1


def test_a_quote_whose_sentence_has_changed_is_a_fault(run: RunCommand, garden: Path) -> None:
    targets = _list_targets(run, garden)
    text = garden.read_text("utf-8").replace("Each plot is ten metres", "Only each plot is ten metres")
    garden.write_text(text.replace("A late spade costs", "A late spade often costs"), "utf-8")
    for target in targets:
        result = run("recheck", *target, "--since")
        assert result.code == 1
        assert 'sentence changed (then ✓): "Each plot is ten metres long"' in result.out
        assert "line 7: {+Only+} each plot is ten metres long." in result.out
        assert 'sentence changed (then !): "A late spade"' in result.out
        assert "4 sentence changed" in result.out.splitlines()[-1]
        assert "were compared" not in result.err
        checked = run("recheck", *target, "--json").json
        assert checked["counts"]["sentence_changed"] == 4
        assert {quote["sentence_compared"] for quote in checked["quotes"]} == {True, None}


def test_that_only_the_quote_was_compared_is_said(run: RunCommand, garden: Path) -> None:
    page = garden.with_name("faq.md")
    page.write_text(f'"24 euros a year" and "lent for three days" ([Garden]({garden.name})).\n', "utf-8")
    result = run("recheck", page)
    assert (result.code, result.out) == (0, "2 quotes checked: 2 same.\n")
    assert "Only the words of 2 quotes were compared: no sentence is kept with them." in result.err


def test_exported_notes_are_looked_up_in_the_document_that_they_name(run: RunCommand, garden: Path) -> None:
    library = open_library((str(garden),))
    text = garden.read_text("utf-8")
    store = NoteStore(open_store().notes_folder, get_source_key(library))
    for words, comment in (("costs 50 cents a day", 'Anna says "it is dear".'), ("Each plot is ten metres long.", "")):
        start = text.index(words)
        cited = make_span_citation(library.root_id, Span(doc="", start=start, end=start + len(words)), library)
        store.save(make_note(library, cited, comment))
    store.save(make_note(library, make_span_citation(find(library, "Tools"), None, library), "A whole section."))
    notes = garden.with_name("notes.md")
    notes.write_text(run("notes", garden).out, "utf-8")
    result = run("recheck", notes)
    assert (result.code, result.out) == (0, "2 quotes checked: 2 same.\n")
    exported = notes.read_text("utf-8")
    notes.write_text(exported.replace("> costs 50", "> costs 75"), "utf-8")
    assert "[-75-]{+50+} cents" in run("recheck", notes).out
    notes.write_text(exported, "utf-8")
    garden.write_text(text.replace("A late spade costs", "A late spade often costs"), "utf-8")
    result = run("recheck", notes)
    assert result.code == 1
    assert 'sentence changed: "costs 50 cents a day"' in result.out
    assert run("recheck", notes, "--in", garden).code == 1
    garden.write_text(text.replace("ten metres", "ten feet"), "utf-8")
    result = run("recheck", notes)
    assert result.code == 1
    assert "[-metres-]{+feet+}" in result.out


def test_words_that_differ_in_the_file_and_in_the_document_are_a_fault(run: RunCommand, garden: Path) -> None:
    asked = run("ask", garden, "What does a late spade cost?")
    answer = garden.with_name("answer.txt")
    answer.write_text(asked.out, "utf-8")
    table = garden.with_name("table.md")
    run("table", garden, "-q", "What does a late spade cost?", "-o", table)
    conversation = _ask(garden, '"Each plot is ten metres long" [{Plots}], "costs 50 cents a day" [{Tools}].')
    export = garden.with_name("out.md")
    run("conversations", "export", conversation, "-o", export)
    for path in (answer, table, export):
        text = path.read_text("utf-8")
        path.write_text(text.replace("50 cents", "75 cents"), "utf-8")
        told = run("recheck", path)
        assert told.code == 1
        assert ": changed" in told.out
        assert "[-75-]{+50+} cents" in told.out
        path.write_text(text, "utf-8")
        assert run("recheck", path).code == 0
    text = export.read_text("utf-8")
    assert "In full: A late spade costs" in text
    export.write_text(text.replace("In full: A late", "In full: An early"), "utf-8")
    told = run("recheck", export)
    assert told.code == 1
    assert "sentence changed (then ✓)" in told.out


def test_a_printed_passage_keeps_its_signs_and_says_what_is_struck_out(run: RunCommand, tmp_path: Path) -> None:
    document = tmp_path / "pump.md"
    document.write_text('# Pump\n\nThe pump costs ~~£90~~ £120, “net”, as `echo "$HOME"` says. It is blue.\n', "utf-8")
    printed = run("ask", document, "What does the pump cost?").out
    assert '“The pump costs ~~£90~~ £120, ‘net’, as echo "$HOME" says. It is blue.”' in printed
    saved = tmp_path / "answer.txt"
    saved.write_text(printed, "utf-8")
    assert run("recheck", saved).out == "1 quote checked: 1 same.\n"


def test_a_printed_passage_of_prose_and_code_is_found_again(run: RunCommand, tmp_path: Path) -> None:
    document = tmp_path / "net.md"
    steps = (
        '1. To stop retrying, write:\n\n   ```toml\n   [net]\n   retry = "*a*b*"\n   ```\n\n2. Start `*it*` again.\n'
    )
    document.write_text(f"# Net\n\n{steps}", "utf-8")
    printed = run("ask", document, "How do I stop retrying?").out
    assert '```\n[net]\nretry = "*a*b*"\n```\n[' in printed
    saved = tmp_path / "answer.txt"
    saved.write_text(printed, "utf-8")
    assert run("recheck", saved).out == "3 quotes checked: 3 same.\n"
