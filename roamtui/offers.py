"""What the start screen offers: saved conversations, their sources, and examples."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from roamtui.conversation.library_sync import is_source_missing
from roamtui.conversation.log import ConversationSummary
from roamtui.document.loader import is_url
from roamtui.models.recorded import RecordedModel
from roamtui.paths import display_path, get_resource_dir, is_standard_input
from roamtui.plain import sanitise_line
from roamtui.sources.source_names import format_source, split_sources
from roamtui.tui.context import OfferGroup, StartOffer

_SHOWN_MAX = 8
"""Maximum number of saved conversations that are offered, and of sources."""
EXAMPLE = get_resource_dir("examples") / "handbook.md"
"""The document of the recorded answer."""
_EXAMPLES = (
    ("handbook.md", "Watch an answer", "recorded: sections open, quotes are checked, one of them is false"),
    ("handbook.md", "The Tallow Street Tool Library", "a handbook to try questions on"),
    ("pages", "A small site", "a folder of eight short pages"),
)


def make_offers(summaries: Sequence[ConversationSummary]) -> tuple[StartOffer, ...]:
    """Return all offers: saved conversations with the newest first, without those of `ask`, and more."""
    candidates = [each for each in summaries if not (each.is_one_shot or is_standard_input(each.source))]
    resumable_ids = {summary.id for summary in candidates if summary.source}
    shown = [summary for summary in summaries if summary.problem or summary.id in resumable_ids]
    offers = [_offer_conversation(each, is_resumable=each.id in resumable_ids) for each in shown[:_SHOWN_MAX]]
    sources = dict.fromkeys(summary.source for summary in candidates)
    for source in islice((each for each in sources if not is_source_missing(each)), _SHOWN_MAX):
        name, place = _name_source(source)
        offers.append(StartOffer(group=OfferGroup.SOURCE, name=name, note=place, source=source))
    for index, (file, name, note) in enumerate(_EXAMPLES):
        source = str(EXAMPLE.parent / file)
        model = None if index else RecordedModel()
        offers.append(StartOffer(group=OfferGroup.EXAMPLE, name=name, note=note, source=source, model=model))
    return tuple(offers)


def _name_source(source: str) -> tuple[str, str]:
    """Return the name of a source, and the folder where it is."""
    if is_url(source):
        return sanitise_line(source.partition("://")[2].rstrip("/")), ""
    folder = Path(split_sources(source)[0]).parent
    return sanitise_line(format_source(source)), sanitise_line(display_path(str(folder)))


def _offer_conversation(summary: ConversationSummary, *, is_resumable: bool) -> StartOffer:
    note = summary.problem
    if not note:
        name, place = _name_source(summary.source)
        note = " · ".join(filter(None, (name, summary.size, place)))
    return StartOffer(
        group=OfferGroup.CONVERSATION,
        name=sanitise_line(summary.title)
        or (f"Conversation {summary.id}" if summary.problem else "(untitled)"),
        note=note,
        source=summary.source,
        conversation_id=summary.id,
        is_missing=is_resumable and is_source_missing(summary.source),
        refusal="" if is_resumable else f"Cannot resume the conversation. {summary.problem}",
    )
