"""Where nothing at hand answers, pages of a list are opened and searched."""

from __future__ import annotations

from roamtui.agent.loop import Agent
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import Stopped
from roamtui.document.build import open_named
from roamtui.models.offline.links import LINKS_MAX, Link, choose_links, find_links
from roamtui.models.offline.model import OfflineModel
from roamtui.outline.render import render_outline
from roamtui.search.keyword import KeywordSearcher
from tests.fakes.site import FakeSite
from tests.models.offline.talking import Talk

_PAGES = {
    "/start.md": "# Start\n\nPress the button.\n",
    "/power.md": f"# Power\n\n## Mains\n\n{'Mains. ' * 3_000}\n\n## Charging\n\nCharging takes ninety minutes.\n",
    "/care.md": "# Care\n\nA damp cloth.\n",
    "/history.md": "# History\n\nFounded in 1911.\n",
}
_LIST = "# Gadget\n\n## Docs\n\n" + "".join(f"- [{path[1:-3]}]({path}): note\n" for path in _PAGES)


def _make_talk(site: FakeSite) -> Talk:
    library, loader = open_named([site.url("/llms.txt")])
    return Talk(agent=Agent(Session.start(library, loader=loader), OfflineModel(), KeywordSearcher(library)))


def _link(number: int, words: str) -> Link:
    return Link(section_id=f"{number:08x}", words=words)


def test_what_is_scented_goes_first_and_a_synonym_counts_half() -> None:
    links = [_link(0, "Weather"), _link(1, "Purchase of spare parts"), _link(2, "Buy spare parts"), _link(3, "Spare")]
    assert choose_links(links, "buy spare parts", ()) == ("00000002", "00000001", "00000003")
    assert choose_links(links, "buy spare parts", {"00000002"}) == ("00000001", "00000003")


def test_only_of_a_short_list_pages_are_opened_without_a_scent() -> None:
    links = [_link(number, "Page") for number in range(12)]
    assert len(choose_links(links, "Why?", ())) == LINKS_MAX
    assert choose_links([*links, _link(12, "Page")], "Why?", ()) == ()


def test_links_are_read_off_both_forms_of_the_outline() -> None:
    with FakeSite({"/llms.txt": _LIST}) as site:
        library, _ = open_named([site.url("/llms.txt")])
    seen = find_links(render_outline(library, budget_tokens=2_000))
    assert [link.words for link in seen] == ["start note...", "power note...", "care note...", "history note..."]
    assert find_links("- [0123abcd] Start (page)\n- [0123abce] Docs (+4, ~9k)") == (_link(0x123ABCD, "Start (page)"),)


async def test_pages_are_opened_and_searched_where_the_list_says_nothing() -> None:
    with FakeSite({"/llms.txt": _LIST, **_PAGES}) as site:
        talk = _make_talk(site)
        answer = await talk.ask("How long does charging take?")
        assert '"Charging takes ninety minutes."' in answer.answer
        assert talk.opened[: LINKS_MAX + 1] == ("start", "power", "care", "Charging")
        assert "/history.md" not in site.counts.paths
        asked = len(site.counts.paths)
        await talk.ask("How long does charging take?")
        assert len(site.counts.paths) == asked


async def test_a_question_that_no_page_answers_opens_no_more_than_three() -> None:
    with FakeSite({"/llms.txt": _LIST, **_PAGES}) as site:
        talk = _make_talk(site)
        answer = await talk.ask("What is the capital of France?")
        assert answer.stopped is Stopped.NOT_FOUND
        assert len(talk.opened) == LINKS_MAX
