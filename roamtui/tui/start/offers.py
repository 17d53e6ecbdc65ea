"""What can be opened: conversations and documents of late, files here, examples, sites. Knows no screen."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.document.plain import plain_line
from roamtui.locations import find_resource_dir, shorten_path
from roamtui.sources.listing import is_document_name, is_skipped_folder, order_name

if TYPE_CHECKING:
    from roamtui.conversation.store import ConversationSummary

_CONVERSATIONS_SHOWN = 8
_SOURCES_SHOWN = 8
_FILES_SHOWN = 6
"""Of the current folder, where no path is typed."""
_ENTRIES_MAX = 5_000
"""Names of one folder that are looked at."""
_SITES_FILE = Path(__file__).with_name("sites.toml")


class OfferGroup(StrEnum):
    """Under which heading an offer stands, in this order."""

    OPEN = "Open now"
    CONVERSATION = "Go on with"
    FILE = "Files here"
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
    """What to open: a path, as it may be typed, or an address."""
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


def list_files(typed: str) -> tuple[StartOffer, ...]:
    """Return the documents and folders that a path which is typed may go on to, or some of the current folder."""
    head, part = os.path.split(typed)
    is_path = bool(head) or typed.startswith((".", "~"))
    try:
        with os.scandir(expand(head) or ".") as entries:
            found = [(entry.name, entry.is_dir()) for entry in islice(entries, _ENTRIES_MAX)]
    except (OSError, ValueError):
        return ()
    files = []
    for name, is_folder in sorted(found, key=lambda entry: (entry[1], order_name(entry[0]))):
        is_wanted = not is_skipped_folder(name) if is_folder else is_document_name(name)
        if not name.casefold().startswith(part.casefold() if is_path else "") or not (is_wanted or (is_path and part)):
            continue
        path = os.path.join(head, name) + (os.sep if is_folder else "")  # noqa: PTH118 - as it is typed
        note = "a folder" if is_folder else ""
        files.append(StartOffer(group=OfferGroup.FILE, name=plain_line(path), note=note, source=path))
    return tuple(files) if is_path else filter_offers(files, typed)[:_FILES_SHOWN]


def complete(typed: str, files: Sequence[StartOffer]) -> str | None:
    """Return what all `files` that begin as typed have in common, None where that is no more than what is typed."""
    names = [offer.source for offer in files if offer.source.casefold().startswith(typed.casefold())]
    common = os.path.commonprefix(names)  # noqa: RUF071 - characters are meant
    return common if len(common) > len(typed) else None


def expand(typed: str) -> str:
    """Return a path with its ``~`` in full."""
    try:
        return str(Path(typed).expanduser()) if typed.startswith("~") else typed
    except RuntimeError:
        return typed


def list_offers(summaries: Sequence[ConversationSummary], own_sites: Path) -> tuple[tuple[StartOffer, ...], str]:
    """Return all offers, and a sentence where a person's own list cannot be read, else an empty one.

    Args:
        summaries: Saved conversations, the one changed last first.
        own_sites: A person's own list of sites; it need not be there.
    """
    from roamtui.conversation.loading import is_gone  # noqa: PLC0415 - the screen stands before it is needed

    known = [summary for summary in summaries if not (summary.source.startswith("-") or is_gone(summary.source))]
    problem = ""
    own: tuple[StartOffer, ...] = ()
    if own_sites.is_file():
        try:
            own = tuple(read_sites(own_sites))
        except (OSError, ValueError, KeyError, TypeError) as error:
            problem = f"{own_sites} cannot be read: {plain_line(str(error))}."
    offers = (*_list_conversations(known), *_list_sources(known), *_list_examples(), *own, *read_sites(_SITES_FILE))
    return offers, problem


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
        note = "" if is_address else plain_line(shorten_path(str(Path(source).parent)))
        yield StartOffer(group=OfferGroup.SOURCE, name=plain_line(name), note=note, source=source)


def _list_examples() -> Iterator[StartOffer]:
    folder = find_resource_dir("examples")
    for file, name, note in (
        ("handbook.md", "The Tallow Street Tool Library", "a handbook to try questions on"),
        ("llms.txt", "A small site", "an llms.txt with its pages beside it"),
    ):
        if (folder / file).is_file():
            yield StartOffer(group=OfferGroup.EXAMPLE, name=name, note=note, source=str(folder / file))
