"""Folders, several files, other formats and addresses on the command line."""

from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from tests.cli.conftest import RunCommand
from tests.convert.sample_pdf import lay_out, make_pdf
from tests.fakes.site import FakeSite, SitePage
from tests.real_documents import PROJECT_DIR


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    first = lay_out("Tools", "Every tool hangs in the shed behind the plots.", "Take one and put it back.")
    second = lay_out("Fines", "A late spade costs 50 cents a day.", "Nobody pays more than five euros.")
    path = tmp_path / "manual.pdf"
    path.write_bytes(make_pdf([first, second], bookmarks=[(1, "Tools", 0), (1, "Fines", 1)], title="Garden"))
    return path


def test_a_pdf_is_quoted_with_its_page(run: RunCommand, manual: Path) -> None:
    outline = run("outline", manual, "--json").json
    assert (outline["title"], [section["title"] for section in outline["sections"]]) == (
        "Garden",
        ["Tools", "Fines"],
    )
    (citation, *_) = run("ask", manual, "How much does a late spade cost?", "--json").json["citations"]
    assert (citation["path"], citation["page"]) == (["Fines"], 2)
    printed = run("ask", manual, "How much does a late spade cost?").out
    assert "Fines, p. 2, lines 8-9\n“A late spade costs 50 cents a day." in printed
    shown = run("show", manual, outline["sections"][1]["id"])
    assert shown.out.startswith("# Fines\n")
    assert "Fines, p. 2, lines " in run("search", manual, "late spade").out
    assert "manual.pdf: converted from PDF; line numbers refer to the converted text.\n" in shown.err


@pytest.mark.parametrize(
    "line",
    [
        "outline -- -cafe.md",
        "outline --json -- -cafe.md",
        "outline b.md --json -- -cafe.md",
        "search -- -cafe.md -x",
        "search b.md --json -- -x",
    ],
)
def test_what_follows_two_dashes_is_no_option(run: RunCommand, tmp_path: Path, line: str) -> None:
    for name in ("-cafe.md", "b.md"):
        (tmp_path / name).write_text("# Fines\n\nThe word is x.\n")
    with chdir(tmp_path):
        result = run(*line.split())
    assert (result.code, result.err) == (0, "")
    assert "Fines" in result.out


LIST = (
    "# Bikes\n\n> All about renting bikes.\n\n## Docs\n\n"
    "- [Renting](renting): how to rent\n- [Fees](fees.md): late returns and deposits\n- [Gone](gone): nothing\n\n"
    "## Optional\n\n- [History](history): long ago\n"
)
FEES = "# Fees\n\nFees are paid at the counter.\n\n## Late return\n\nA late return costs 2 euros an hour.\n"


@pytest.fixture
def site() -> Iterator[FakeSite]:
    with FakeSite({"/llms.txt": LIST, "/renting": "<h1>Renting</h1><p>At the counter.", "/fees.md": FEES}) as site:
        yield site


def read_links(run: RunCommand, url: str) -> dict[str, str]:
    sections = run("outline", url, "--json").json["sections"]
    return {section["title"]: section["id"] for section in sections if section["kind"] == "link"}


def test_show_fetches_the_page_of_a_link(run: RunCommand, site: FakeSite) -> None:
    site.pages["/history"] = SitePage(body="Long ago.\0\n", media_type="text/markdown")
    links = read_links(run, site.origin)
    assert "/history: 1 NUL character shown as ␀.\n" in run("show", site.origin, links["History"]).err
    assert run("show", site.origin, links["Fees"]).out == FEES
    assert run("show", site.origin, links["Renting"], links["Fees"]).out == f"# Renting\n\nAt the counter.\n{FEES}"
    assert run("show", site.origin, f"[{links['Fees']}:1]").out.startswith("# Fees\n")
    gone = run("show", site.origin, links["Gone"])
    assert (gone.code, gone.out) == (1, "")
    assert gone.err == f"roamtui: There is no page at {site.url('/gone')} (404). Check the URL.\n"


def test_an_answer_has_no_words_of_a_page_twice(run: RunCommand, site: FakeSite) -> None:
    page = (PROJECT_DIR / "examples/pages/fees.md").read_text("utf-8")
    site.pages |= {"/llms.txt": "# T\n\n- [Fees](/fees.md): what it costs\n", "/fees.md": page}
    citations = run("ask", site.origin, "late fee for a drill", "--json").json["citations"]
    places = [(citation["doc"], citation["start_line"]) for citation in citations]
    assert len(places) > 1
    assert len(set(places)) == len(places), "a page and its only chapter have the same text"


def test_a_site_whose_pages_all_fail_in_one_way_says_it_once(run: RunCommand) -> None:
    links = "".join(f"- [Spade {number}](http://127.0.0.1:1/{number})\n" for number in range(6))
    with FakeSite({"/llms.txt": f"# T\n\n{links}"}) as site:
        result = run("ask", site.origin, "What is a spade?", "--allow-origin", "http://127.0.0.1:1")
    assert result.err.count("127.0.0.1:1 ") == 1
    assert "more" not in result.err


def test_another_site_must_be_allowed(run: RunCommand, site: FakeSite) -> None:
    with FakeSite({"/x.md": "# X\n\nFar words about zebras.\n"}) as other:
        site.pages["/llms.txt"] = f"# T\n\n- [Zebras]({other.url('/x.md')}): striped animals\n"
        link = read_links(run, site.origin)["Zebras"]
        denied = run("show", site.origin, link)
        assert denied.code == 1
        assert denied.err.endswith(f"or add --allow-origin {other.origin}.\n")
        answer = run("ask", site.origin, "Which striped animals are there, zebras?", "--json")
        assert f"or add --allow-origin {other.origin}.\n" in answer.err
        assert other.counts.paths == []
        shown = run("show", site.origin, link, "--allow-origin", other.origin)
        assert shown.out == "# X\n\nFar words about zebras.\n"
    assert run("outline", site.origin, "--allow-origin", "nonsense").code == 2
