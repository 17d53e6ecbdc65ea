"""`roamtui recheck`."""

import json
from pathlib import Path

from tests.cli.conftest import GARDEN, RunCommand

SPADE = "Tools are lent for three days. A late spade costs 50 cents a day."


def test_a_conversation_and_its_export_give_the_same_results(run: RunCommand, garden: Path, tmp_path: Path) -> None:
    conversation = run("ask", garden, "What does a late spade cost?", "--json").json["conversation"]
    export, data = tmp_path / "export.md", tmp_path / "export.json"
    assert run("conversations", "export", conversation, "-o", garden).code == 2  # the file is its source
    run("conversations", "export", conversation, "-o", export)
    exported = run("conversations", "export", conversation, "--format", "json").json
    citations = exported["exchanges"][0]["citations"]
    citations.append({**citations[0], "quote": "Spades are free.", "verified": False})
    data.write_text(json.dumps(exported), "utf-8")
    run("conversations", "export", conversation, "-o", tmp_path / "export.html")
    assert run("recheck", tmp_path / "export.html").code == 2  # its quotes are in a script
    same = run("recheck", conversation, export, data)
    assert (same.code, same.out) == (0, "3 quotes checked: 3 same.\n")
    garden.write_text(GARDEN.replace("50 cents", "2 euros"), "utf-8")
    for target in (conversation, export, data):
        found = run("recheck", target, "--json")
        (quote,) = found.json["quotes"]
        assert (found.code, quote["state"], quote["quote"]) == (1, "changed", SPADE)
        assert quote["now"]["changes"] == SPADE.replace("50 cents", "[-50 cents-]{+2 euros+}")
        assert quote["now"]["path"] == ["Garden manual", "Tools"]
    garden.unlink()
    gone = run("recheck", "--all")
    assert gone.code == 1
    assert "unreachable" in gone.out


def test_an_answer_that_was_saved_from_a_pipe_is_checked(run: RunCommand, garden: Path, tmp_path: Path) -> None:
    garden.write_text(f"{GARDEN}\n## Spade\n\n- A late spade costs a fee.\n- A lost spade costs 20 euros.\n", "utf-8")
    answer = tmp_path / "answer.md"
    answer.write_text(run("ask", garden, "What does a late spade cost?").out, "utf-8")
    checked = run("recheck", answer)
    assert (checked.code, checked.out) == (0, "2 quotes checked: 2 same.\n")


def test_a_page_footer_within_a_passage_is_no_change(run: RunCommand, garden: Path, tmp_path: Path) -> None:
    garden.write_text(GARDEN.replace("A late spade costs", "A late spade\n\n- 17 -\n\ncosts"), "utf-8")
    answer = tmp_path / "answer.md"
    conversation = run("ask", garden, "What does a late spade cost?", "--json").json["conversation"]
    run("conversations", "export", conversation, "-o", answer)
    assert run("recheck", answer).out.startswith("1 quote checked: 1 same.")
    garden.write_text(garden.read_text("utf-8").replace("50 cents", "2 euros"), "utf-8")
    (quote,) = run("recheck", answer, "--json").json["quotes"]
    assert quote["now"]["changes"] == SPADE.replace("50 cents", "[-50 cents-]{+2 euros+}")


def test_an_faq_next_to_the_documents_is_checked(run: RunCommand, garden: Path) -> None:
    faq = garden.parent / "faq.md"
    faq.write_text(f'# FAQ\n\nDear? No: "{SPADE}" ([Tools](garden.md#tools)).\n', "utf-8")
    assert run("recheck", faq).code == 0
    garden.write_text(GARDEN.replace(SPADE, ""), "utf-8")
    gone = run("recheck", faq)
    assert (gone.code, gone.out.splitlines()[0]) == (1, f'{faq}:3: gone: "{SPADE}"')


def test_a_file_by_itself_triggers_no_fetch(run: RunCommand, tmp_path: Path) -> None:
    faq = tmp_path / "faq.md"
    faq.write_text(f'"{SPADE}" ([Tools](https://127.0.0.1:1/garden.md)).\n', "utf-8")
    refused = run("recheck", faq, "--json")
    assert "--allow-origin https://127.0.0.1:1" in refused.json["quotes"][0]["message"]


def test_unreachable_sources_and_wrong_use(run: RunCommand, tmp_path: Path) -> None:
    assert run("recheck").code == 2
    for missing in ("0123456789ab", tmp_path / "none.md", tmp_path / "none.html"):
        refused = run("recheck", missing)
        assert (refused.code, f"neither a file {missing} nor a conversation" in refused.err) == (1, True)
    faq = tmp_path / "faq.md"
    faq.write_text(f'"{SPADE}" [a8a96034].\n', "utf-8")
    assert "--in" in run("recheck", faq).out
    faq.write_text(f'"{SPADE}"\n', "utf-8")
    assert (run("recheck", faq).code, run("recheck", "--all").code) == (1, 0)  # only what is named must have quotes
    assert f"There is no quote to check in {faq}" in run("recheck", faq).err


def test_the_quotes_of_any_answer_are_looked_up_in_a_document(run: RunCommand, garden: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text(
        'It says "A late spade costs 50 cents a day", \'tools are lent for nine days\', and "best" of all.\n\n'
        '> Tools are lent\n> for three days.\n\n“Nobody has ever\x00 returned a broken wheelbarrow” "open\n',
        "utf-8",
    )
    checked = run("recheck", answer, "--in", garden)
    assert checked.code == 1
    lines = checked.out.splitlines()
    assert f'{answer}:1: found: "A late spade costs 50 cents a day"' in lines
    assert f'{answer}:1: not found, but similar: "tools are lent for nine days"' in lines
    assert f'{answer}:3: found: "Tools are lent for three days."' in lines
    assert lines[-1] == "4 quotes checked: 2 found, 1 not found, but similar, 1 not found."
    assert all("Garden manual > Tools, line" in line for line in lines if line.startswith("    in ["))
    answer.write_text('All is there: "A late spade costs 50 cents a day".\n', "utf-8")
    assert run("recheck", answer, "--in", garden).code == 0
    answer.write_text("Nothing is quoted.\n", "utf-8")
    assert run("recheck", answer, "--in", garden).code == 1


def test_a_table_in_csv_or_json_is_checked(run: RunCommand, garden: Path, tmp_path: Path) -> None:
    for name in ("table.csv", "table.json"):
        target = tmp_path / name
        run("table", garden, "-q", "What does a late spade cost?", "-o", target)
        assert run("recheck", target).out.splitlines()[-1] == "1 quote checked: 1 same."
        assert run("recheck", target, "--in", garden).code == 0
    garden.write_text(GARDEN.replace("50 cents", "2 euros"), "utf-8")
    for name in ("table.csv", "table.json"):
        assert run("recheck", tmp_path / name).code == 1
    (tmp_path / "table.csv").write_bytes(b'a: quote,"\x00\n')
    assert run("recheck", tmp_path / "table.csv").code == 1
