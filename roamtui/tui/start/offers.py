"""What the start screen offers: conversations and documents of late, examples, well-known sites. Knows no screen."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.document.plain import plain_line
from roamtui.locations import find_resource_dir, shorten_path

if TYPE_CHECKING:
    from roamtui.conversation.index import ConversationSummary

_CONVERSATIONS_SHOWN = 8
_SOURCES_SHOWN = 8
_SITES_FILE = Path(__file__).with_name("sites.toml")


class OfferGroup(StrEnum):
    """Under which heading an offer stands, in this order."""

    CONVERSATION = "Go on with"
    SOURCE = "Opened before"
    EXAMPLE = "Examples"
    SITE = "Sites with an llms.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOffer:
    """Something to open."""

    group: OfferGroup
    name: str
    """Safe for the screen, as `note` is."""
    note: str
    source: str
    """What to open: a path or an address."""
    conversation_id: str | None = None
    """The conversation to go on with, None for a new one."""


def filter_offers(offers: Iterable[StartOffer], pattern: str) -> tuple[StartOffer, ...]:
    """Return the offers in which each typed word stands."""
    words = pattern.casefold().split()
    return tuple(
        offer
        for offer in offers
        if all(word in f"{offer.group} {offer.name} {offer.note} {offer.source}".casefold() for word in words)
    )


def list_offers(summaries: Sequence[ConversationSummary], own_sites: Path) -> tuple[tuple[StartOffer, ...], str]:
    """Return all offers, and a sentence where a person's own list cannot be read, else an empty one.

    Args:
        summaries: Saved conversations, the one changed last first.
        own_sites: A person's own list of sites; it need not be there.
    """
    known = [summary for summary in summaries if is_openable(summary.source)]
    problem = ""
    own: tuple[StartOffer, ...] = ()
    if own_sites.is_file():
        try:
            own = tuple(read_sites(own_sites))
        except (OSError, ValueError, KeyError, TypeError) as error:
            problem = f"{own_sites} cannot be read: {plain_line(str(error))}."
    offers = (*_list_conversations(known), *_list_sources(known), *_list_examples(), *own, *read_sites(_SITES_FILE))
    return offers, problem


def is_openable(source: str) -> bool:
    """Return whether a source of a conversation can be opened again: an address, or a file that is still there."""
    if source.startswith(("https://", "http://")):
        return True
    try:
        return Path(source).exists() and not source.startswith("-")
    except (OSError, ValueError):
        return False


def read_sites(path: Path) -> Iterator[StartOffer]:
    """Yield the sites of a list.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no TOML, or no such list; likewise `KeyError` and `TypeError`.
    """
    for site in tomllib.loads(path.read_text("utf-8"))["sites"]:
        url = str(site["url"])
        about = plain_line(str(site.get("about", "")))
        host = plain_line(url).removeprefix("https://").removesuffix("/llms.txt")
        yield StartOffer(
            group=OfferGroup.SITE,
            name=plain_line(str(site["name"])),
            note=f"{about} · {host}" if about else host,
            source=url,
        )


def _list_conversations(summaries: Sequence[ConversationSummary]) -> Iterator[StartOffer]:
    for summary in summaries[:_CONVERSATIONS_SHOWN]:
        count = "1 question" if summary.questions == 1 else f"{summary.questions:,} questions"
        yield StartOffer(
            group=OfferGroup.CONVERSATION,
            name=plain_line(summary.title) or "(no question yet)",
            note=f"{count} · {plain_line(shorten_path(summary.source))}",
            source=summary.source,
            conversation_id=summary.id,
        )


def _list_sources(summaries: Sequence[ConversationSummary]) -> Iterator[StartOffer]:
    sources = list(dict.fromkeys(summary.source for summary in summaries))
    for source in sources[:_SOURCES_SHOWN]:
        is_address = "://" in source
        name = source.partition("://")[2].rstrip("/") if is_address else Path(source).name
        note = "a site" if is_address else plain_line(shorten_path(str(Path(source).parent)))
        yield StartOffer(group=OfferGroup.SOURCE, name=plain_line(name), note=note, source=source)


def _list_examples() -> Iterator[StartOffer]:
    folder = find_resource_dir("examples")
    for file, name, note in (
        ("handbook.md", "The Tallow Street Tool Library", "a handbook to try questions on"),
        ("llms.txt", "A small site", "an llms.txt with its pages beside it"),
    ):
        if (folder / file).is_file():
            yield StartOffer(group=OfferGroup.EXAMPLE, name=name, note=note, source=str(folder / file))
