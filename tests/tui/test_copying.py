"""An answer on its way to the clipboard."""

from __future__ import annotations

from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.tui.copying import write_answer


def test_an_answer_is_copied_with_its_sources() -> None:
    known = Citation(
        section_id="a8a96034",
        quote="forty loaves",
        state=QuoteState.EXACT,
        path=("Ovens", "Stone oven"),
        start_line=9,
        end_line=10,
    )
    unknown = Citation(section_id="0badc0de", quote=None, state=QuoteState.NO_QUOTE)
    assert write_answer(" Forty [a8a96034].\n", (known, unknown)) == (
        "Forty [a8a96034].\n"
        "\n"
        "Sources:\n"
        "\n"
        '- [a8a96034] Ovens > Stone oven, lines 9-10: "forty loaves" (exact)\n'
        "- [0badc0de] unknown section\n"
    )


def test_an_answer_without_sources_is_copied_alone() -> None:
    assert write_answer("Yes.", ()) == "Yes.\n"
