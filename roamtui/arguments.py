"""What the app was asked for, and arguments that other commands have too. The first screen waits for this module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roamtui.options import option, part, settings_given

SOURCE_HELP = "a document, a folder or a zip of documents, an https:// address, or - for standard input"
FILES_HELP = "documents, folders or zips of documents, opened as one; or one https:// address"
SEARCH = "retrieval"
"""The settings of search, as the name of what `settings_given` takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebArguments:
    """What may be fetched from the web."""

    is_offline: bool = option(False, "show only pages that were fetched before", name="--no-network")
    allowed: tuple[str, ...] = option(
        (), "fetch pages from this site too without asking; may be given again", name="--allow-origin", metavar="URL"
    )
    """Addresses whose sites pages may be fetched from without asking, besides that of the source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationArguments:
    """Which conversation goes on, and where all of it is written down."""

    is_continued: bool = option(False, "go on with the newest conversation", name="--continue", instead="conversation")
    conversation_id: str | None = option(
        None, "go on with this conversation", name="--conversation", metavar="ID", instead="conversation"
    )
    trace: str | None = option(
        None, "write all that happens to FILE; --model recorded:FILE replays it", name="--trace", metavar="FILE"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AppArguments:
    """Open a document in the app."""

    sources: tuple[str, ...] = option((), f"{FILES_HELP}, or - for standard input", name="SOURCE", many="*")
    web: WebArguments = part(WebArguments)
    given: Mapping[str, Any] = settings_given("model", "api_base", "max_cost_usd", "keep_open", SEARCH)
    conversation: ConversationArguments = part(ConversationArguments)
    is_plain: bool = option(False, "lines of text, for a screen reader or a simple terminal", name="--plain")
    is_watching: bool = option(False, "read the document again whenever it changes on disk", name="--watch")


def read_path(words: Sequence[str]) -> AppArguments | None:
    """Return what to open where the command line is one path and nothing else, None where it must be parsed.

    Loading argparse takes longer than reading the document. No command has a dot or a slash in its name.
    """
    if len(words) != 1 or words[0].startswith("-") or not any(mark in words[0] for mark in "./"):
        return None
    return AppArguments(sources=(words[0],))
