"""The offers of the start screen: saved conversations, their sources, examples and sites."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from roamtui.conversation.library_sync import is_source_missing
from roamtui.conversation.log import ConversationSummary
from roamtui.document.counts import format_count
from roamtui.document.plain import sanitise_line
from roamtui.paths import display_path, get_resource_dir
from roamtui.sources.file_sources import name_sources, split_sources
from roamtui.tui.context import OfferGroup, StartOffer

_CONVERSATIONS_SHOWN = 8
_SOURCES_SHOWN = 8
_EXAMPLES = (
    ("handbook.md", "The Tallow Street Tool Library", "a handbook to try questions on"),
    ("pages", "A small site", "a folder of eight short pages"),
)
_SITES_FILE = Path(__file__).with_name("sites.toml")


def list_offers(summaries: Sequence[ConversationSummary], own_sites: Path) -> tuple[tuple[StartOffer, ...], str]:
    """Return all offers, and a sentence if the person's own list of sites cannot be read.

    Args:
        summaries: Saved conversations, the newest change first. Those of `roamtui ask` are not offered.
        own_sites: File of the person's own list of sites, which may be missing.
    """
    available = [
        summary
        for summary in summaries
        if not (summary.is_one_shot or summary.source.startswith("-") or is_source_missing(summary.source))
    ]
    problem = ""
    offers: list[StartOffer] = []
    answered = [summary for summary in available if summary.is_answered and summary.questions]
    for summary in answered[:_CONVERSATIONS_SHOWN]:
        offers.append(
            StartOffer(
                group=OfferGroup.CONVERSATION,
                name=sanitise_line(summary.title) or "(untitled)",
                note=f"{format_count(summary.questions, 'question')} · {sanitise_line(display_path(summary.source))}",
                source=summary.source,
                conversation_id=summary.id,
            )
        )
    sources = dict.fromkeys(summary.source for summary in available)
    for source in list(sources)[:_SOURCES_SHOWN]:
        is_url = "://" in source
        name = source.partition("://")[2].rstrip("/") if is_url else name_sources(source)
        note = "" if is_url else sanitise_line(display_path(str(Path(split_sources(source)[0]).parent)))
        offers.append(StartOffer(group=OfferGroup.SOURCE, name=sanitise_line(name), note=note, source=source))
    for file, name, note in _EXAMPLES:
        path = get_resource_dir("examples") / file
        if path.exists():
            offers.append(StartOffer(group=OfferGroup.EXAMPLE, name=name, note=note, source=str(path)))
    if own_sites.is_file():
        try:
            offers += list(_read_sites(own_sites))
        except (OSError, ValueError, KeyError, TypeError) as error:
            problem = f"{own_sites} cannot be read: {sanitise_line(str(error))}."
    return (*offers, *_read_sites(_SITES_FILE)), problem


def _read_sites(path: Path) -> Iterator[StartOffer]:
    for site in tomllib.loads(path.read_text("utf-8"))["sites"]:
        url = str(site["url"])
        description = sanitise_line(str(site.get("about", "")))
        host = sanitise_line(url).removeprefix("https://").removesuffix("/llms.txt")
        yield StartOffer(
            group=OfferGroup.SITE,
            name=sanitise_line(str(site["name"])),
            note=f"{description} · {host}" if description else host,
            source=url,
        )
