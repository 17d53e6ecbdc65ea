"""What the tests of the start screen share: an app with a few offers."""

from __future__ import annotations

from collections.abc import Callable

from roamtui.sources.convert.converted import PageReport
from roamtui.tui.context import TuiOptions
from roamtui.tui.start.offers import OfferGroup, StartOffer
from roamtui.tui.start.start_app import StartActions, StartApp

OFFERS = (
    StartOffer(
        group=OfferGroup.CONVERSATION,
        name="What of fees?",
        note="1 question",
        source="/d/fees.md",
        conversation_id="c1",
    ),
    StartOffer(group=OfferGroup.EXAMPLE, name="A handbook", note="to try", source="/d/handbook.md"),
    StartOffer(group=OfferGroup.SITE, name="[red]Odd[/]", note="tools", source="https://odd.example/llms.txt"),
)


def make_start_app(
    open_source: Callable[[str, bool, PageReport], str], theme: str | None = None, *, source: str | None = None
) -> StartApp[str]:
    """Return a start screen that opens by `open_source`, a source at once; a bare name with a dot may be an address."""
    actions = StartActions(
        list_offers=lambda: (OFFERS, ""),
        open_source=open_source,
        suggest_address=lambda name: f"https://{name}" if "." in name else None,
    )
    return StartApp(actions, TuiOptions(theme=theme), source)
