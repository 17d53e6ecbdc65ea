from __future__ import annotations

from collections import Counter

import pytest

from roamtui.agent.recheck import Claim, Standing, mark_changes, read_claims, recheck
from roamtui.document.build import build_library
from roamtui.document.library import Library
from roamtui.sources.read import RawText
from tests.benchmarks.recheck import EXPECTED, PATTERNS, try_copies
from tests.real_documents import list_documents

HANDBOOK = """\
# Handbook

## Loans

A book may be kept for three weeks, then it costs 2 euros a day. Ask at the desk for longer.

## Rooms

Rooms are let by the hour to members of the library alone.
"""
QUOTE = "A book may be kept for three weeks"


def parse(text: str) -> Library:
    return build_library(RawText(text=text, source="handbook.md", name="handbook.md"))


def look_up(text: str, quote: str = QUOTE) -> tuple[Standing, str]:
    (section_id,) = (one for one in parse(HANDBOOK).walk() if parse(HANDBOOK).title_of(one) == "Loans")
    library = parse(text)
    finding = recheck(Claim(quote=quote, place="", section_id=section_id), library)
    return finding.standing, library.text_at(finding.span) if finding.span is not None else ""


def test_a_quote_is_the_same_wherever_its_section_begins() -> None:
    assert look_up(HANDBOOK.replace("## Loans", "New words.\n\n## Loans")) == (Standing.SAME, QUOTE)


@pytest.mark.parametrize("new", ["## Lending", "### Loans\n\n## Lending"])
def test_a_quote_in_a_section_of_another_name_has_moved(new: str) -> None:
    assert look_up(HANDBOOK.replace("## Loans", new)) == (Standing.MOVED, QUOTE)


def test_other_words_are_found_whole() -> None:
    changed = HANDBOOK.replace("kept for three weeks", "kept for a month")
    assert look_up(changed) == (Standing.CHANGED, "A book may be kept for a month")
    assert mark_changes("for three weeks", "for four weeks") == "for [-three-]{+four+} weeks"


def test_what_is_like_it_by_chance_is_not_taken_for_it() -> None:
    changed = HANDBOOK.replace(f"{QUOTE}, then it costs 2 euros a day.", "Books stay here.")
    assert look_up(changed + "\nA room may be kept for three hours.\n") == (Standing.GONE, "")


def test_a_person_quotes_with_a_link() -> None:
    text = (
        'Three weeks: "A book\nmay be kept for three weeks" ([Loans](my%20handbook.md#loans)).\n\n'
        '"Nobody" says this. "See [the desk](desk.md) first" [Rooms](<rooms at night.md>)\n'
    )
    assert read_claims(text, "faq.md") == (
        Claim(
            quote="A book\nmay be kept for three weeks", place="faq.md", line=1, source="my handbook.md", anchor="loans"
        ),
        Claim(quote="See [the desk](desk.md) first", place="faq.md", line=4, source="rooms at night.md"),
    )


def test_real_documents_that_were_changed_are_told_apart() -> None:
    names = [name for name in list_documents(*PATTERNS) if "us-constitution" in name or "oci-runtime" in name]
    if not names:
        pytest.skip("no real documents")
    told = [(done, standing) for _, done, _, standing, _ in try_copies(names, 16)]
    right = Counter(done for done, standing in told if standing is EXPECTED[done])
    assert right["leave"] == sum(done == "leave" for done, _ in told)
    assert {kind: right[kind] for kind in ("rename", "move", "reword")} == {"rename": 4, "move": 4, "reword": 4}
    assert right["delete"] >= 3  # of 4: a document may say nearly the same twice
