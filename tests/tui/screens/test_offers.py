"""What the start screen offers."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from roamtui.conversation.store import ConversationSummary
from roamtui.tui.screens.open_document import OfferGroup, list_offers


def summarise(conversation_id: str, source: str, title: str = "Fees?") -> ConversationSummary:
    moment = "2026-01-01T00:00:00+00:00"
    return ConversationSummary(
        id=conversation_id,
        source=source,
        title=title,
        model="offline",
        created_at=moment,
        updated_at=moment,
        questions=2,
    )


def test_about_thirty_sites_and_the_examples_are_offered_without_any_conversation(tmp_path: Path) -> None:
    offers, problem = list_offers((), tmp_path / "sites.toml")
    assert not problem
    sites = [offer for offer in offers if offer.group is OfferGroup.SITE]
    assert 25 <= len(sites) <= 40
    assert len({site.source for site in sites}) == len(sites)
    assert all(urlsplit(site.source).scheme == "https" and site.source.endswith("/llms.txt") for site in sites)
    assert [offer.group for offer in offers][:2] == [OfferGroup.EXAMPLE, OfferGroup.EXAMPLE]


def test_conversations_and_documents_of_late_come_first_where_they_are_still_there(tmp_path: Path) -> None:
    handbook = tmp_path / "handbook.md"
    handbook.write_text("# Handbook\n")
    summaries = (
        summarise("one", str(handbook)),
        summarise("two", str(tmp_path / "gone.md")),
        summarise("three", "-0123"),
        summarise("four", "https://site.example/llms.txt", title=""),
        summarise("five", str(handbook), title="Hours?"),
    )
    offers, _ = list_offers(summaries, tmp_path / "sites.toml")
    late = [offer for offer in offers if offer.group in (OfferGroup.CONVERSATION, OfferGroup.SOURCE)]
    assert [offer.conversation_id for offer in late] == ["one", "four", "five", None, None]
    assert [offer.source for offer in late[3:]] == [str(handbook), "https://site.example/llms.txt"]
    assert late[1].name == "(no question yet)"


def test_a_persons_own_sites_come_before_the_bundled_ones(tmp_path: Path) -> None:
    own = tmp_path / "sites.toml"
    own.write_text('[[sites]]\nname = "Ours\\u001b[2J"\nurl = "https://ours.example/llms.txt"\n')
    offers, problem = list_offers((), own)
    sites = [offer for offer in offers if offer.group is OfferGroup.SITE]
    assert sites[0].source == "https://ours.example/llms.txt"
    assert "\x1b" not in sites[0].name
    assert not problem
    for broken in ("[[sites]]\nname = 1\n", "sites = 3\n", "[", "[[sites]]\n"):
        own.write_text(broken)
        offers, problem = list_offers((), own)
        assert str(own) in problem
        assert len(offers) > 20
