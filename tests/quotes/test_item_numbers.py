"""An item of a list has one number: in its source, on the screen and in a quote."""

import re

from hypothesis import given
from hypothesis import strategies as st

from roamtui.convert.docx import convert_docx
from roamtui.convert.html import convert_html
from roamtui.convert.pdf.convert import convert_pdf
from roamtui.markdown.units import read_units
from roamtui.quotes.find import find_quote
from tests.convert.sample_pdf import lay_out, make_pdf
from tests.convert.samples import make_docx_parts, pack
from tests.tui.reader.sections import show

_NUMBERS = st.lists(st.integers(0, 30), min_size=1, max_size=5)
_WORD_LIST = (
    '<w:abstractNum w:abstractNumId="{0}"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/>'
    '<w:lvlText w:val="%1."/></w:lvl></w:abstractNum><w:num w:numId="{0}"><w:abstractNumId w:val="{0}"/></w:num>'
)
_WORD_ITEM = (
    '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="{}"/></w:numPr></w:pPr><w:r><w:t>item</w:t></w:r></w:p>'
)


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


@given(_NUMBERS)
def test_items_of_a_page_keep_their_numbers(numbers: list[int]) -> None:
    lists = "".join(f"<ol start={number}><li>item</ol>" for number in numbers)
    assert _read_numbers(convert_html(lists, base_url=None).text) == numbers
    if len(set(numbers)) == len(numbers):
        items = "".join(f"<li value={number}>item" for number in numbers)
        assert _read_numbers(convert_html(f"<ol>{items}</ol>", base_url=None).text) == numbers


def test_a_second_list_of_word_has_its_own_numbers() -> None:
    parts = make_docx_parts([_WORD_ITEM.format(number) for number in (1, 1, 2, 2)], styles="", footnotes="")
    lists = _WORD_LIST.format(1) + _WORD_LIST.format(2)
    parts["word/numbering.xml"] = f"<w:numbering xmlns:w='w'>{lists}</w:numbering>"
    assert _read_numbers(convert_docx(pack(parts), "a.docx").text) == [1, 2, 1, 2]


def test_clauses_of_a_pdf_keep_their_numbers() -> None:
    items = (f"{number}. item" for number in (1, 2, 4, 7))
    lines = lay_out("The terms", "of the lease", *(line for item in items for line in ("", item, "goes on")))
    text = convert_pdf(make_pdf([lines]), "a.pdf").text
    assert _read_numbers(text[text.index("1. item") :]) == [1, 2, 4, 7]
