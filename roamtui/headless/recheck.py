"""`roamtui recheck`: checks whether quotes of conversations, tables and texts are still in their sources."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct, field, to_builtins

from roamtui.conversation.log import open_store
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError, SourceError
from roamtui.headless.checked_quotes import CheckedQuote, check_claim
from roamtui.headless.saved_claims import ClaimSources, read_claims_of_conversation, read_claims_of_file
from roamtui.outline.coverage import measure_coverage
from roamtui.outline.labels import PLAIN_PATH_STEP
from roamtui.output import warn, write_display, write_json, write_notice
from roamtui.quotes.claims import Claim
from roamtui.quotes.current_text import ClaimStatus
from roamtui.quotes.wording import format_sentence
from roamtui.sanitiser import sanitise_line
from roamtui.text import format_count, shorten

_QUOTES_HINT = (
    'A link to the document must follow each quote, as in "Wear is free" ([Damage](handbook.md#damage)). '
    "With --in SOURCE, each quotation of three or more words counts."
)
_NO_QUOTES = "No saved conversation has a quote to check. To check a file, name it."
_QUOTE_MAX = 300
"""Maximum characters of a quote to print. A longer one is a passage of an answer without a model."""


def run_recheck(
    targets: Sequence[str],
    open_conversation: Callable[[str, ConversationState], Library],
    open_file: Callable[[str, tuple[str, ...]], Library],
    source: str | None,
    *,
    only_changes: bool,
    as_json: bool,
) -> int:
    """Check the quotes of targets, or of all saved conversations if there are no targets.

    A target is the id of a conversation, the path of a text, or the folder of a table. A `source` replaces
    all recorded sources. Then every quotation of a file counts, and all are listed.

    Returns:
        1 if a quote is lost or changed. Unless `only_changes`, also 1 if a quote was never in the text.

    Raises:
        RoamtuiError: A target cannot be read, or none has a quote. All readable targets are checked first.
    """

    def open_saved(state: ConversationState, name: str, _added: tuple[str, ...]) -> Library:
        return open_conversation(name, state)

    checked = _QuoteList(replaces_source=source is not None, only_changes=only_changes)
    quotes = checked.quotes
    store = open_store()
    saved = {summary.id: summary for summary in store.list()}
    lacking: dict[str, Library] = {}
    """By name: the sources in which a quote was not found."""
    failures: list[RoamtuiError | OSError] = []
    for target in targets or saved:
        path = Path(target)
        claims: Iterable[Claim]
        try:
            if target in saved:
                summary = saved[target]
                if summary.problem and not (summary.source or targets):  # nothing of it can be read
                    warn(f"conversation {target}: {summary.problem}")
                    continue
                log = store.read(target)
                if log.warning:
                    warn(f"conversation {target}: {log.warning}")
                state = log.ended_state
                sources = ClaimSources(partial(open_saved, state), path.parent, source)
                claims = read_claims_of_conversation(state, target, sources)
            else:
                sources = ClaimSources(open_file, path.parent, source)
                claims = read_claims_of_file(path, target, sources.open, replaces_source=source is not None)
        except (RoamtuiError, OSError) as error:
            failures.append(error)
            continue
        for claim in claims:
            name = sources.resolve(claim.source)
            library = sources.open(claim.source, claim.added_sources)
            quotes.append(check_claim(claim, name, library))
            if isinstance(library, Library) and not quotes[-1].status.is_there:
                lacking[name] = library
    if not quotes and not failures:
        hint = "" if saved.keys() >= {*targets} else f" {_QUOTES_HINT}"
        problem = f"There is no quote to check in {', '.join(targets)}.{hint}"
        raise SourceError(problem if targets else _NO_QUOTES)
    if quotes:
        checked.write(as_json=as_json)
        gaps = {name: measure_coverage(library).gaps for name, library in lacking.items()}
        write_notice(*(f"{name}: {words}" for name, words in gaps.items() if words))
    for failure in failures[1:]:
        warn(str(failure))
    if failures:
        raise failures[0]
    return int(any(quote.is_fault and not (only_changes and quote.is_unchanged) for quote in quotes))


class _QuoteList(Struct, kw_only=True):
    """The checked quotes, and which of them the person wants to see."""

    replaces_source: bool
    """Whether the person named a source in place of the recorded ones."""
    only_changes: bool
    quotes: list[CheckedQuote] = field(default_factory=list)

    def write(self, *, as_json: bool) -> None:
        """Write all quotes as JSON, or those that a person should see."""
        if as_json:
            counts = Counter(quote.status for quote in self.quotes)
            status_counts = {status.value: counts[status] for status in ClaimStatus}
            write_json({"counts": status_counts, "quotes": to_builtins(self.quotes)})
        else:
            self._print_quotes()
        if only_quote := sum(quote.sentence_compared is False for quote in self.quotes):
            count = format_count(only_quote, "quote")
            write_notice(f"Only the words of {count} were compared: no sentence is kept with them.")

    def _print_quotes(self) -> None:
        """Write the quotes that a person should see, and how many quotes have each status."""
        listed = self.quotes
        if self.only_changes:
            listed = [quote for quote in listed if not quote.is_unchanged]
        elif not self.replaces_source:
            listed = [
                quote for quote in listed if quote.is_found_now or quote.status is not ClaimStatus.UNCHANGED
            ]
        in_order = sorted(self.quotes, key=lambda quote: [*ClaimStatus].index(quote.status))
        words = Counter(map(self._name_status, in_order))
        summary = ", ".join(f"{count} {status}" for status, count in words.items())
        lines: list[str] = []
        messages: set[str] = set()  # a source that cannot be opened is named once
        for quote in listed:
            lines += self._format_quote(quote)
            if quote.message and quote.message not in messages:
                lines.append(f"    {sanitise_line(quote.message)}")
                messages.add(quote.message)
        total = format_count(len(self.quotes), "quote")
        write_display("\n".join([*lines, f"{total} checked: {summary}."]) + "\n")

    def _name_status(self, quote: CheckedQuote) -> str:
        similar = ", but similar" if quote.now is not None else ""
        is_there = quote.status in (ClaimStatus.UNCHANGED, ClaimStatus.MOVED)
        if quote.is_found_now or (self.replaces_source and is_there):
            return "found in the text"
        is_lost = quote.status in (ClaimStatus.CHANGED, ClaimStatus.GONE)
        if quote.status is ClaimStatus.NOT_FOUND or (self.replaces_source and is_lost):
            return f"not found{similar}"
        return quote.status.value.replace("_", " ")

    def _format_quote(self, quote: CheckedQuote) -> Iterator[str]:
        """Format a quote, and where it is now. A passage gets no sentence, which would only repeat it."""
        place = f"{quote.place}:{quote.line}" if quote.line else quote.place
        status = self._name_status(quote)
        if (state := quote.original_state) is not None:
            reason = f": {state.label}" if quote.is_found_now else ""  # the document may not have changed
            status = f"{status} (then {state.sign}{reason})"
        yield sanitise_line(f'{place}: {status}: "{shorten(quote.quote, _QUOTE_MAX)}"')
        if now := quote.now:
            path = PLAIN_PATH_STEP.join(filter(None, [now.doc, *now.path]))
            changes = f": {now.changes}" if now.changes else ""
            where = "in" if self.replaces_source or quote.is_unchanged else "now in"
            yield "    " + sanitise_line(f"{where} [{now.section_id}] {path}, line {now.start_line}{changes}")
            if now.sentence is not None and len(quote.quote) <= _QUOTE_MAX:
                yield f"    {format_sentence(now.sentence)}"
