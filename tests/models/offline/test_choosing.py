"""Which sections are opened, what they may cost, and which pages where nothing at hand answers."""

from __future__ import annotations

from dataclasses import replace

from roamtui.agent.loop import Agent
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import Message, Role, Stopped
from roamtui.document.build import open_named
from roamtui.models.offline.choosing import LINKS_MAX, SECTIONS_MAX, choose_links, choose_sections
from roamtui.models.offline.model import OfflineModel
from roamtui.models.offline.reading import Found, Reading, read_messages
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


def _find(*sizes: tuple[int, int], snippet: str = "It says so.") -> Reading:
    """Return a reading whose search found sections of these tokens and descendants."""
    return Reading(
        question="?",
        earlier_questions=(),
        outline=(),
        given=(),
        given_ids=frozenset(),
        asked_ids=frozenset(),
        found=tuple(
            Found(section_id=f"{place:08x}", path="A", tokens=tokens, descendants=descendants, snippet=snippet)
            for place, (tokens, descendants) in enumerate(sizes)
        ),
        has_searched=True,
        has_expanded=False,
    )


def _choose(*sizes: tuple[int, int]) -> list[int]:
    return [int(section_id, 16) for section_id in choose_sections(_find(*sizes))]


def test_at_most_four_are_opened() -> None:
    assert _choose(*[(100, 0)] * 9) == list(range(SECTIONS_MAX))


def test_the_first_is_opened_whatever_it_costs() -> None:
    assert _choose((9_000, 0), (3_000, 0)) == [0]


def test_what_passes_the_budget_is_left_out_and_small_ones_are_not() -> None:
    assert _choose((2_500, 0), (2_100, 0), (2_000, 0), (200, 0)) == [0, 2, 3]


def test_a_section_with_many_below_it_costs_its_own_text_alone() -> None:
    assert _choose((2_500, 0), (30_000, 99)) == [0, 1]
    assert _choose((2_500, 0), (30_000, 1)) == [0]


def test_a_heading_without_text_is_left_to_the_next_one() -> None:
    bare = _find((10, 0), (3_000, 2), snippet="").found
    reading = _find(*[(100, 0)] * 5)
    found = (*bare, *(replace(hit, section_id=f"{number:08x}") for number, hit in enumerate(reading.found, start=2)))
    chosen = choose_sections(replace(reading, found=found))
    assert [int(section_id, 16) for section_id in chosen] == [1, 2, 3, 4]


def _make_talk(site: FakeSite) -> Talk:
    library, loader = open_named([site.url("/llms.txt")])
    return Talk(agent=Agent(Session.start(library, loader=loader), OfflineModel(), KeywordSearcher(library)))


def _link(number: int, words: str) -> tuple[str, str]:
    return f"{number:08x}", words


def test_what_is_scented_goes_first_and_a_synonym_counts_half() -> None:
    links = [_link(0, "Weather"), _link(1, "Purchase of spare parts"), _link(2, "Buy spare parts"), _link(3, "Spare")]
    assert choose_links(links, "buy spare parts", ()) == ("00000002", "00000001", "00000003")
    assert choose_links(links, "buy spare parts", {"00000002"}) == ("00000001", "00000003")


def test_only_of_a_short_list_pages_are_opened_without_a_scent() -> None:
    links = [_link(number, "Page") for number in range(12)]
    assert len(choose_links(links, "Why?", ())) == LINKS_MAX
    assert choose_links([*links, _link(12, "Page")], "Why?", ()) == ()


def test_links_are_read_off_the_outline_whatever_its_form() -> None:
    with FakeSite({"/llms.txt": _LIST}) as site:
        library, _ = open_named([site.url("/llms.txt")])
    for outline in (
        render_outline(library, budget_tokens=2_000),
        "- [0123abcd] start (page)\n- [0123abce] Docs (+4, ~9k)",
    ):
        links = read_messages([Message(role=Role.USER, text=outline)]).links
        assert links
        assert "start" in links[0][1]
        assert not any("Docs" in words for _, words in links)


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
