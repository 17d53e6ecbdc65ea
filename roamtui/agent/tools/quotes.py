"""`check_quotes`: a tool of `roamtui mcp` that says which quotes of a text are in the documents."""

import asyncio
from collections import Counter
from collections.abc import Mapping

from msgspec.structs import replace

from roamtui.agent.specs import QUOTES, QUOTES_MAX
from roamtui.agent.tools import Tool, ToolContext, ToolResponse
from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.outline.coverage import format_absence, measure_coverage
from roamtui.outline.labels import format_path
from roamtui.outline.references import resolve_name
from roamtui.quotes.claims import read_quotations
from roamtui.quotes.current_text import ClaimStatus, Finding, recheck
from roamtui.quotes.verdicts import make_citation
from roamtui.quotes.wording import format_sentence
from roamtui.sanitiser import sanitise_line
from roamtui.text import format_count, shorten

_QUOTE_LENGTH = 300
_NOT_FOUND = "not_found"
_UNREACHABLE = "unreachable"
_VERDICTS = {
    ClaimStatus.UNCHANGED: "found",
    ClaimStatus.MOVED: "elsewhere",
    ClaimStatus.UNREACHABLE: _UNREACHABLE,
}
_NO_TEXT = "check_quotes needs a text: the one that has the quotations."
_NO_QUOTE = "No quote to check: a quote is a block quote, or three or more words between quotation marks."


async def _run(arguments: Mapping[str, object], context: ToolContext) -> ToolResponse:
    text = str(arguments.get("text") or "")
    name = str(arguments.get("document") or "").strip("[] ")
    if not text.strip():
        return ToolResponse(text=_NO_TEXT, is_refused=True)
    return await asyncio.to_thread(_check_quotes, text, name, context.conversation.state.library)


def _check_quotes(text: str, name: str, library: Library) -> ToolResponse:
    named = resolve_name(library, name) if name and name not in library else name
    within = "" if named == library.root_id else named
    if within is None or (within and library.node(within).kind is NodeKind.FOLDER):
        words = f'"{shorten(sanitise_line(name), 60)}" is no document or section. Name its path or id.'
        return ToolResponse(text=words, is_refused=True)
    claims = read_quotations(text, "", library)
    lines: list[str] = []
    counts: Counter[str] = Counter()
    for number, claim in enumerate(claims[:QUOTES_MAX], start=1):
        placed = replace(claim, section_id=claim.section_id or within)
        finding = recheck(placed, library)
        verdict = _VERDICTS.get(finding.status, _NOT_FOUND)
        counts[verdict] += 1
        lines.append(f'{number}. {verdict}: "{shorten(sanitise_line(claim.quote), _QUOTE_LENGTH)}"')
        lines.append(f"   {_format_place(finding, library, is_found=verdict != _NOT_FOUND)}")
        if finding.surroundings is not None:
            lines.append(f"   {format_sentence(finding.surroundings.text)}")
    if not lines:
        return ToolResponse(text=_NO_QUOTE)
    verdicts = (*_VERDICTS.values(), _NOT_FOUND)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in verdicts if counts[verdict])
    left = len(claims) - QUOTES_MAX
    note = ""
    if left > 0:
        note = f" {format_count(left, 'quote')} left out: check the rest of the text in another call."
    heading = f"{format_count(counts.total(), 'quote')}: {summary}"
    if counts[_NOT_FOUND] or counts[_UNREACHABLE]:
        heading = format_absence(measure_coverage(library, within or None), heading)
    else:
        heading = f"{heading}."
    return ToolResponse(text="\n".join([f"{heading}{note}", *lines]))


def _format_place(finding: Finding, library: Library, *, is_found: bool) -> str:
    """Format the place of a quote, or the nearest words and their place."""
    if finding.span is None:
        return finding.message or "nothing is like it"
    section_id = finding.section_id or library.root_id
    lines = make_citation(section_id, library, span=finding.span).place
    place = f"[{section_id}] {format_path(library, section_id)}, {lines}"
    if is_found:
        return place
    words = shorten(sanitise_line(library.clean_text(finding.span)), _QUOTE_LENGTH)
    return f'nearest: "{words}" in {place}'


TOOL = Tool(spec=QUOTES, run=_run)
