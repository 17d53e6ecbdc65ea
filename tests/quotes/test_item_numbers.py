"""An item of a list has one number: in its source, on the screen and in a quote."""

import re

from hypothesis import given
from hypothesis import strategies as st

from roamtui.convert.pdf.convert import convert_pdf
from roamtui.markdown.units import read_units
from roamtui.quotes.find import find_quote
from tests.convert.sample_pdf import lay_out, make_pdf
from tests.tui.reader.sections import show

_NUMBERS = st.lists(st.integers(0, 30), min_size=1, max_size=5)


def _read_numbers(text: str) -> list[int]:
    """Return the number that the screen shows before each item, after finding exactly these in quotes."""
    shown = [int(match[1]) for line in show(text) if (match := re.match(r"\W*(\d+)[.)] item", line))]
    for number in range(40):
        assert (find_quote(f"{number}. item", text) is not None) == (number in shown)
    assert [int(re.split("[.)]", unit.whole.text)[0]) for unit in read_units(text).units] == shown
    return shown


@given(_NUMBERS, st.sampled_from(("", "> ", "- ")), st.sampled_from((".", ")")))
def test_items_of_markdown_keep_their_numbers(numbers: list[int], before: str, delimiter: str) -> None:
    text = "".join(f"{before}{number}{delimiter} item\n" for number in numbers)
    is_counted = len(set(numbers)) == 1 and before != "- "
    expected = [*range(numbers[0], numbers[0] + len(numbers))] if is_counted else numbers
    assert _read_numbers(text) == expected


def test_clauses_of_a_pdf_keep_their_numbers() -> None:
    items = (f"{number}. item" for number in (1, 2, 4, 7))
    lines = lay_out("The terms", "of the lease", *(line for item in items for line in ("", item, "goes on")))
    text = convert_pdf(make_pdf([lines]), "a.pdf").text
    assert _read_numbers(text[text.index("1. item") :]) == [1, 2, 4, 7]
