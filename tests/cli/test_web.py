"""Addresses on the command line: outline, show, ask and search fetch what they need and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.conftest import RunCommand
from tests.fakes.site import FakeSite

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
    links = read_links(run, site.origin)
    assert run("show", site.origin, links["Fees"]).out == FEES
    assert run("show", site.origin, links["Renting"], links["Fees"]).out == f"# Renting\n\nAt the counter.\n{FEES}"
    assert run("show", site.origin, f"[{links['Fees']}:1]").out.startswith("# Fees\n")
    gone = run("show", site.origin, links["Gone"])
    assert (gone.code, gone.out) == (1, "")
    assert gone.err == f"roamtui: There is no page at {site.url('/gone')} (404). Check the address.\n"


def test_without_the_network_the_cache_is_all(run: RunCommand, site: FakeSite) -> None:
    links = read_links(run, site.origin)
    run("show", site.origin, links["Fees"])
    site.forget()
    offline = run("show", "--no-network", site.origin, links["Fees"])
    assert (offline.code, offline.out) == (0, FEES)
    assert "The network is off" in offline.err
    missing = run("show", "--no-network", site.origin, links["Renting"])
    assert missing.code == 1
    assert "is not cached. Open it once" in missing.err
    assert site.counts.paths == []


def test_another_site_must_be_allowed(run: RunCommand, site: FakeSite) -> None:
    with FakeSite({"/x.md": "# X\n\nFar words about zebras.\n"}) as other:
        site.pages["/llms.txt"] = f"# T\n\n- [Zebras]({other.url('/x.md')}): striped animals\n"
        link = read_links(run, site.origin)["Zebras"]
        denied = run("show", site.origin, link)
        assert denied.code == 1
        assert denied.err.endswith(f"Allow it with --allow-origin {other.origin}.\n")
        answer = run("ask", site.origin, "Which striped animals are there, zebras?", "--json").json
        assert {"id": link, "status": "failed"} in [result for step in answer["steps"] for result in step["results"]]
        assert other.counts.paths == []
        shown = run("show", site.origin, link, "--allow-origin", other.origin)
        assert shown.out == "# X\n\nFar words about zebras.\n"
    assert run("outline", site.origin, "--allow-origin", "nonsense").code == 2
