"""Small commands: outline, table, notes and index."""

import importlib.util
import io
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from roamtui.bootstrap import open_library
from roamtui.conversation.log import open_store
from roamtui.conversation.notes import NoteStore, make_note
from roamtui.headless.sections import print_hits
from roamtui.paths import get_cache_path, get_conversations_path
from roamtui.quotes.located_notes import make_span_citation
from roamtui.search.base import Hit, SearchMode
from tests.cli.conftest import RunCommand, write_settings
from tests.conversation.conversations import find
from tests.fakes.model_servers import FakeEmbeddingServer, FakeOpenAIServer, FakeReply
from tests.fakes.site import FakeSite
from tests.table.filling import PERIOD, write_leases


def test_every_id_of_an_outline_can_be_shown(run: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "wide.md"
    path.write_text("".join(f"# Heading {number}\n\nText.\n\n" for number in range(3_000)), "utf-8")
    ranges = re.findall(r"\[([0-9a-f]{8}:c\d+)\]", run("outline", path).out)
    assert len(ranges) > 1
    assert run("show", path, *ranges).out == path.read_text("utf-8")
    root_id = ranges[0].partition(":")[0]
    assert run("show", path, root_id).out == path.read_text("utf-8")
    unknown = run("show", path, ranges[0], f"{root_id}:c{len(ranges) + 1}")
    assert (unknown.code, unknown.out) == (1, "")


def test_each_section_that_is_shown_starts_on_a_line(run: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "open.md"
    path.write_text("# A\n\nfirst\n\n# B\n\nlast", "utf-8")
    assert run("show", path, "B", "A", "B").out == "# B\n\nlast\n# A\n\nfirst\n\n# B\n\nlast"


@pytest.mark.usefixtures("forked_models")
def test_summaries_end_before_the_spending_limit(
    run: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    for name in ("apples", "bees", "cherries"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nAll of {name}.\n", "utf-8")
    reply = FakeReply(text="All of it.", input_tokens=100, output_tokens=80)
    with FakeOpenAIServer(*[reply] * 3) as server:
        model = ("--model", "openai/gpt-4.1-mini", "--api-base", server.url, "--summaries", "--yes")
        limited = run("index", tmp_path, *model, "--max-cost", "0.0003")
        assert limited.code == 1
        assert "your spending limit of $0.0003. 1 of 3 summaries are saved" in limited.err
        assert len(server.requests) == 1
        assert run("index", tmp_path, *model).code == 0
        assert len(server.requests) == 3


def test_a_table_in_its_own_folder_is_none_of_its_documents(run: RunCommand, tmp_path: Path) -> None:
    leases = write_leases(tmp_path / "leases")
    for name in ("faq.md", "faq.md", "faq.csv"):
        output = leases / name
        assert run("table", leases, "-q", PERIOD, "-o", output).code == 0
        assert "faq" not in output.read_text("utf-8")
    named = run("table", leases, leases / "faq.md", "-q", PERIOD, "-o", leases / "faq.md")
    assert "faq.md is one of the documents, and would be overwritten" in named.err


def test_a_table_tells_once_what_it_leaves_out_and_fills_the_rows_beside_an_empty_file(
    run: RunCommand, tmp_path: Path
) -> None:
    leases = write_leases(tmp_path / "leases")
    (leases / "empty.md").write_text("", "utf-8")
    (leases / "plan.png").write_bytes(b"")
    first, again = (run("table", leases, "-q", PERIOD) for _ in range(2))
    assert "Skipped: 1 file of another kind." in first.err
    assert "Skipped" not in again.err
    assert [row["cells"][0]["state"] for row in first.json["rows"]] == ["passage", "passage", "failed"]
    assert "1 document could not be read. empty.md: The document has no text." in again.err
    assert (first.code, again.code) == (1, 1)


def test_all_of_no_readable_conversation_is_no_success(run: RunCommand, garden: Path) -> None:
    none = run("recheck", "--all")
    conversation = run("ask", garden, "What does a late spade cost?", "--json").json["conversation"]
    assert run("recheck", "--all").code == 0
    (get_conversations_path() / f"{conversation}.jsonl").write_text("garbage\n", "utf-8")
    damaged = run("recheck", "--all")
    assert f"conversation {conversation}: It is damaged" in damaged.err
    for result in (none, damaged):
        assert (result.code, result.out) == (1, "")
        assert "No saved conversation has a quote to check." in result.err


def test_a_file_whose_name_is_no_id_is_no_conversation(run: RunCommand, garden: Path) -> None:
    conversation = run("ask", garden, "What does a late spade cost?", "--json").json["conversation"]
    path = get_conversations_path() / f"{conversation}.jsonl"
    path.with_name("a\x1b[31m.jsonl").write_bytes(path.read_bytes())
    listed = run("conversations", "--all").out
    assert listed.startswith(conversation)
    assert listed.count("\n") == 1


def test_a_conversation_whose_last_change_was_cut_off_is_not_passed_off_as_whole(run: RunCommand, garden: Path) -> None:
    conversation = run("ask", garden, "What does a late spade cost?", "--json").json["conversation"]
    path = get_conversations_path() / f"{conversation}.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    for command in (("conversations", "export", conversation), ("recheck", conversation)):
        assert f"conversation {conversation}: The last change of this conversation was cut off" in run(*command).err


def test_a_folder_for_a_table_that_has_one_is_refused(run: RunCommand, garden: Path, tmp_path: Path) -> None:
    assert run("table", garden, "-q", "How long is a plot?", "--folder", tmp_path / "t1").code == 0
    refused = run("table", tmp_path / "t1", "--folder", tmp_path / "t2")
    assert (refused.code, refused.out) == (2, "")
    assert "--folder has no effect" in refused.err
    assert not (tmp_path / "t2").exists()


def test_an_exported_table_of_a_folder_is_rechecked_wherever_it_is(
    run: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    leases = write_leases(tmp_path / "leases")
    (leases / "anna.md").rename(leases / "=anna  1.md")
    periods = "| Season | Notice period |\n|---|---|\n| Summer | 60 days |\n| Winter | 90 days |\n"
    text = f"# Lease of Carl\n\n## Notice\n\nThe [board](a.md) sets the notice period:\n\n{periods}"
    (leases / "carl.md").write_text(text, "utf-8")
    names = ("t.md", "out/t.md")
    for name in names:
        run("table", "leases", "-q", PERIOD, "-o", name)
    monkeypatch.chdir(leases)
    for name in names:
        assert run("recheck", tmp_path / name).out == "3 quotes checked: 3 same.\n"
        assert run("recheck", tmp_path / name, "--in", leases).out.endswith("3 quotes checked: 3 found in the text.\n")


def test_what_was_kept_is_printed_and_deleted_of_a_document_that_is_gone_too(run: RunCommand, garden: Path) -> None:
    assert run("notes").out.startswith("No notes yet. In the app, b adds one.")
    library = open_library((str(garden),))
    folder = open_store().notes_folder
    note = make_note(library, make_span_citation(find(library, "Tools"), None, library), "Sharpen them.")
    NoteStore(folder, library.source).save(note)
    assert run("notes").out == f"{garden}  (1 note)\n"
    printed = run("notes", garden)
    assert (printed.code, "## Tools\n" in printed.out, "Sharpen them.\n" in printed.out) == (0, True, True)
    garden.unlink()
    gone = run("notes", garden)
    assert (gone.code, "Sharpen them.\n" in gone.out, "shown as they were saved" in gone.err) == (0, True, True)
    refused = run("notes", garden, "--delete")
    assert (refused.code, run("notes", garden).code) == (2, 0)
    deleted = run("notes", garden, "--delete", "--yes")
    assert (deleted.code, deleted.err, run("notes", garden).code) == (0, "Deleted 1 note.\n", 1)
    assert all(b"Sharpen" not in file.read_bytes() for file in folder.rglob("*") if file.is_file())
    assert run("notes", "--delete").code == 2


def test_notes_on_a_page_are_deleted_without_fetching_it(run: RunCommand, garden: Path) -> None:
    library = open_library((str(garden),))
    note = make_note(library, make_span_citation(find(library, "Tools"), None, library), "Sharpen them.")
    with FakeSite({}) as site:
        url = site.url("/garden")
        NoteStore(open_store().notes_folder, url).save(replace(note, source_key=url))
        assert run("notes", url.replace("http", "HTTP"), "--delete", "--yes").err == "Deleted 1 note.\n"
        assert site.counts.paths == []
    assert run("notes").out.startswith("No notes yet")


@pytest.mark.parametrize(("typed", "is_deleted"), [("y\n", True), ("\n", False), ("no\n", False), ("", False)])
def test_a_conversation_is_deleted_once_a_person_at_a_terminal_agrees(
    run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch, typed: str, *, is_deleted: bool
) -> None:
    saved_id = run("ask", garden, "How long is a plot?", "--json").json["conversation"]
    keys = io.StringIO(typed)
    monkeypatch.setattr("sys.stdin", keys)
    piped = run("conversations", "delete", saved_id)
    assert piped.code == 2
    assert piped.err == ("roamtui: the conversation was not deleted, as you did not confirm. Answer y, or add --yes.\n")
    monkeypatch.setattr(keys, "isatty", lambda: True)
    result = run("conversations", "delete", saved_id)
    question = f"Delete conversation {saved_id} (How long is a plot?, 1 question) permanently? [y/N]\n"
    assert result.err.startswith(question)
    assert result.code == (0 if is_deleted else 2)
    assert (saved_id in run("conversations", "--all").out) is not is_deleted
    if not is_deleted:
        assert run("conversations", "delete", saved_id, "--yes").err == f"Deleted conversation {saved_id}.\n"
    assert "No conversation" in run("conversations", "delete", saved_id).err


def test_a_file_of_a_person_at_a_terminal_is_replaced_only_if_they_agree(
    run: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leases, output = write_leases(tmp_path / "leases"), tmp_path / "notes.md"
    saved_id = run("ask", leases, "When does it end?", "--json").json["conversation"]
    keys = io.StringIO("n\ny\nn\ny\n")
    monkeypatch.setattr(keys, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", keys)
    for command in (("conversations", "export", saved_id), ("table", leases, "-q", PERIOD)):
        output.write_text("My own notes.\n", "utf-8")
        kept = run(*command, "-o", output)
        assert (kept.code, output.read_text("utf-8")) == (2, "My own notes.\n")
        replaced = run(*command, "-o", output)
        assert (replaced.code, output.read_text("utf-8") == "My own notes.\n") == (0, False)
        for asked in (kept, replaced):
            assert asked.err.startswith(f"{output} exists. Replace it? [y/N]\n")
    assert run("table", leases, "-q", PERIOD, "-o", output).code == 0, "the table has written this file"
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert run("conversations", "export", saved_id, "-o", output).code == 0, "a script is not asked"


def test_notes_follow_a_document_that_has_moved(run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = open_library((str(garden),))
    note = make_note(library, make_span_citation(find(library, "Tools"), None, library), "Sharpen them.")
    NoteStore(open_store().notes_folder, library.source).save(note)
    conversation = run("ask", garden, "How long is a plot?", "--json").json["conversation"]
    monkeypatch.chdir(garden.parent)
    new = garden.rename(garden.with_name("moved.md"))
    assert "Sharpen them." in run("notes", garden.name).out, "a relative path of a document that is gone"
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    run(new, "--conversation", conversation, "--plain")
    assert "Sharpen them." in run("notes", new).out
    assert run("notes").out == f"{new}  (1 note)\n"


def test_results_without_a_word_of_the_query_are_listed_last_below_a_heading(
    garden: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = open_library((str(garden),))
    titles = {"Plots": True, "Tools": False}
    hits = [
        Hit(section_id=find(library, title), score=1.0, why="", is_related=is_related)
        for title, is_related in titles.items()
    ]
    print_hits(library, hits, SearchMode.HYBRID, as_json=False)
    tools, heading, plots = capsys.readouterr().out.splitlines()
    assert " > Tools, " in tools
    assert heading == "Related · closest first"
    assert " > Plots, " in plots


needs_lance = pytest.mark.skipif(importlib.util.find_spec("lancedb") is None, reason="LanceDB is not installed")


def _list_indexes() -> list[Path]:
    return sorted((get_cache_path() / "indexes").glob("*.sqlite3"))


def test_an_index_is_kept_used_and_deleted(run: RunCommand, tmp_path: Path) -> None:
    folder = tmp_path / "manuals"
    folder.mkdir()
    (folder / "a.md").write_text("# Apples\n\nRed and round.\n", "utf-8")
    (folder / "b.md").write_text("# Dates\n\nBrown and sweet.\n", "utf-8")
    made = run("index", folder)
    assert made.code == 0
    [path] = _list_indexes()
    assert made.out.startswith(f"2 sections; 2 entries new or changed, in {path} (")

    (folder / "b.md").write_text("# Dates\n\nBrown and dry.\n", "utf-8")
    assert "; 1 entry new or changed, " in run("index", folder).out
    hits = run("search", folder, "dry", "--json").json["hits"]
    assert [hit["path"][-1] for hit in hits] == ["Dates"]

    assert run("index", folder, "--delete").out == f"Deleted {path}\n"
    assert _list_indexes() == []
    assert run("index", folder, "--delete").out == "There is no index of this source.\n"


@pytest.mark.slow
@pytest.mark.usefixtures("forked_models")
def test_an_index_whose_vectors_could_cost_too_much_is_not_made(
    run: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    (tmp_path / "long.md").write_text("# Long\n\n" + "word " * 8_000, "utf-8")
    with FakeEmbeddingServer() as server:
        write_settings(f'[retrieval]\nembedder_api_base = "{server.openai_url}"\n')
        embedder = "openai/text-embedding-3-small"
        result = run("index", tmp_path / "long.md", "--embedder", embedder, "--max-cost", "0.0001")
        assert "openai/text-embedding-3-small will read 1 section, about 7.6k tokens (~$0.0002)." in result.err
        assert "The next request could exceed your spending limit." in result.err
        assert result.code == 1
        assert server.texts == []


@needs_lance
@pytest.mark.slow
@pytest.mark.usefixtures("forked_models")
def test_sections_are_embedded_into_a_database_searched_and_deleted(
    run: RunCommand, garden: Path, tmp_path: Path
) -> None:
    arguments = garden, "--index", tmp_path / "database", "--mode", "hybrid", "--embedder", "ollama/arctic"
    with FakeEmbeddingServer() as server:
        write_settings(f'[retrieval]\nembedder_api_base = "{server.origin}"\n')
        result = run("index", *arguments)
        assert result.code == 0
        assert "\nollama/arctic will read 5 sections, about 93 tokens.\n" in result.err
        assert result.out.endswith("All sections that have text are compared by meaning.\n")
        assert len(server.texts) == 5
        assert run("index", *arguments).out.startswith("5 sections; 0 entries new")
        assert len(server.texts) == 5
        hits = run("search", garden, "late spade", *arguments[1:], "--json").json["hits"]
    assert hits[0]["path"][-1] == "Tools"
    assert run("index", garden, "--index", tmp_path / "database", "--delete").out.endswith("database\n")
    assert run("index", garden, "--index", tmp_path / "database", "--delete").out.startswith("There is no index")
