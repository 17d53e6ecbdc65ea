"""References: ids, names and suggestions."""

from pathlib import Path

from roamtui.bootstrap import open_library
from roamtui.outline.ids import Reference, parse_reference
from roamtui.outline.references import explain_unresolved, resolve_name, suggest_ids
from tests.search.libraries import id_of, make_library


def test_the_form_of_ids() -> None:
    assert parse_reference("0123abcd") == Reference(section_id="0123abcd")
    assert parse_reference("0123abcd:12") == Reference(section_id="0123abcd", part=12)
    assert parse_reference("0123abcd:c2.5") == Reference(section_id="0123abcd", range_numbers=(2, 5))
    for wrong in ("", "0123abc", "0123abcde", "0123abcd:", "0123abcd:c", "0123abcd:c.", "0123abcd:-1", "ghijklmn"):
        assert parse_reference(wrong) is None
    for wrong in ("0123abcd:٢", "0123abcd:1234567", "0123abcd b9e8ef5c", "0123abcd\n:2", "0123abcd:2:3"):
        assert parse_reference(wrong) is None


def test_a_path_names_a_file_and_an_ambiguous_title_names_nothing(tmp_path: Path) -> None:
    for name in ("en/first", "de/second"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / f"{name}.md").write_text(f"# About {name}\n\nText.\n\n## Use\n\nWords.\n", "utf-8")
    library = open_library([str(tmp_path)])
    first = id_of(library, "About en/first")
    for name in ("en/first.md", "first.md", "en/first", "en > first.md"):
        assert resolve_name(library, name) == first
    uses = [one for one in library.walk() if library.node(one).title == "Use"]
    assert resolve_name(library, "first.md > Use") in uses
    assert resolve_name(library, "Use") is None
    assert explain_unresolved(library, "Use") == '2 sections are called "Use".'
    assert explain_unresolved(library, "third.md > Use") == 'no section is called "third.md > Use" in the 2 files.'


def test_a_title_is_named_without_its_anchor() -> None:
    library = make_library("# Boats\n\n## Oars {#oars}\n\nA.\n\n## Masts\n\nB.\n")
    named = [node_id for node_id in library.walk() if library.node(node_id).title.startswith("Oars")]
    assert [resolve_name(library, name) for name in ("oars", "Boats > Oars", "Oars {#oars}")] == named * 3
    double = make_library("# Boats\n\n## Oars {#oars}\n\nA.\n\n## Oars\n\nB.\n")
    assert explain_unresolved(double, "Oars") == '2 sections are called "Oars".'


def test_a_title_is_named_by_its_first_words_and_never_by_digits_of_an_id() -> None:
    library = make_library(
        "# Law\n\n## § 43 Sale\n\nA.\n\n## § 433 Fees and more\n\nB.\n\n## § 433a Loss\n\nC.\n\n"
        "## Article 7. Ends\n\nD.\n\n## Article 7.1 Early\n\nE.\n\n## Article 70\n\nF.\n\n"
        '## "Book" [1]\n\nG.\n\n## Late fees\n\nH.\n\n## Late books\n\nI.\n\n## 2.6 Late rivals\n\nJ.\n'
        "\n## The 7 loans\n\nK.\n"
    )
    for name, title in {
        "§ 433 Fees and more": "§ 433 Fees and more",
        "[§ 433]": "§ 433 Fees and more",
        "Law › § 43": "§ 43 Sale",
        "Section 2.6": "2.6 Late rivals",
        "Subsection 2.6": "2.6 Late rivals",
        "§ 2.6": "2.6 Late rivals",
        "late rivals": "2.6 Late rivals",
        "article 7": "Article 7. Ends",
        "Article 70": "Article 70",
        '"Book" [1]': '"Book" [1]',
    }.items():
        assert resolve_name(library, name) == id_of(library, title)
    for name in ("Art", "§ 4", "Lat", "Late", "[]", "Section 2", "The loans"):
        assert resolve_name(library, name) is None
    assert explain_unresolved(library, "Late") == '2 sections are called "Late …".'
    late = id_of(library, "Late fees"), id_of(library, "Late books")
    assert suggest_ids(library, "Late") == late
    assert suggest_ids(make_library("# Late fees\n\n# Batteries and storage\n"), "Late fes") == (
        id_of(make_library("# Late fees\n"), "Late fees"),
    )
    digits = id_of(library, "Law")[2:6]
    assert suggest_ids(library, digits) == ()
