"""Real filings: each figure under the heads that a person read on the page, and the headings that a person found.

The truth of the tables holds no text of a filing: for each file and page a digest of a row's label, and for each of its
columns a digest of label, head and figure, with the number of words of the head.
"""

import json
import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import pytest

from roamtui.convert.pdf.markdown import LineJoiner
from roamtui.convert.pdf.pdfium import PdfFile
from roamtui.convert.pdf.rows import read_rows
from roamtui.convert.pdf.table_writer import write_page_table
from roamtui.convert.pdf.tables import detect_tables
from tests.benchmarks.pdf import score_filing
from tests.real_documents import PROJECT_DIR, find_data_dir

_TRUTH = PROJECT_DIR / "tests" / "cases" / "pdf_tables.json"
_DATA = find_data_dir() / "financebench"
_FOLDER = _DATA / "pdfs"
_SHARE_MIN = 0.97


def make_digest(*texts: str) -> str:
    """Return a digest of texts, without regard to blanks and signs."""
    squeezed = "|".join(re.sub(r"[\W_]+", "", text) for text in texts)
    return blake2b(squeezed.encode(), digest_size=6).hexdigest()


def iter_table_rows(path: Path, page: int) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the heads and the cells of each row of the tables on a page, counted from 1."""
    with PdfFile(path.read_bytes(), path.name).open_page(page - 1) as opened:
        assert opened is not None
        rows = read_rows(opened)
    for table in detect_tables(rows):
        body = rows[table.start : table.end]
        lines = write_page_table(body, table.header_row_count, table.columns, LineJoiner([]).join).splitlines()
        if lines[0].startswith("| "):
            cells = [line.strip("|").split(" | ") for line in lines]
            yield from ((cells[0], row) for row in cells[2:])


pytestmark = pytest.mark.skipif(not _FOLDER.is_dir(), reason="No real documents here: set ROAMTUI_DATA.")


def test_items_of_real_filings_are_headings_on_their_pages() -> None:
    truths = json.loads((_DATA / "items.json").read_text("utf-8"))
    scores = [score_filing(_FOLDER / name, truth, ()) for name, truth in sorted(truths.items())[1::2]]
    assert sum(score["Items found"] for score in scores) >= 0.98 * sum(score["Items"] for score in scores) > 0


def test_figures_of_real_statements_are_under_their_own_heads() -> None:
    truth = json.loads(_TRUTH.read_text("utf-8"))
    missed: list[str] = []
    count = 0
    for name, pages in truth.items():
        for page, wanted in pages.items():
            found = set()
            for heads, cells in iter_table_rows(_FOLDER / name, int(page)):
                if make_digest(cells[0]) == wanted["row"]:
                    found |= {
                        (column, words, make_digest(cells[0], " ".join(head.split()[-words:]), cell))
                        for words in {words for words, _ in wanted["cells"]}
                        for column, (head, cell) in enumerate(zip(heads[1:], cells[1:], strict=True))
                    }
            count += len(wanted["cells"])
            missed += [
                f"{name} p. {page} column {column + 1}"
                for column, (words, digest) in enumerate(wanted["cells"])
                if (column, words, digest) not in found
            ]
    assert sum(map(len, truth.values())) >= 30
    assert len(missed) <= (1 - _SHARE_MIN) * count, missed
