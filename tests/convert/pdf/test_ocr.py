"""Scanned pages of PDFs, read by the real tesseract: words, tables and languages."""

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from roamtui.convert import subprocess_job
from roamtui.convert.formats import PDF
from roamtui.convert.pdf.convert import convert_pdf
from roamtui.errors import SourceError
from roamtui.sources.conversion_cache import ConversionOptions, convert_cached
from tests.case_files import read_case
from tests.convert.sample_pdf import lay_cells, lay_out, make_pdf, make_scan
from tests.convert.samples import read_outline

_WORD = re.compile(r"[\w.,%$]*\w[\w.,%$]*")
pytestmark = pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
_PROSE = read_case("harbour_master.txt").splitlines()
_PAGE = [*lay_out("# Harbour rules", "", "", *_PROSE), *lay_out("## Fees in winter", first_top=500)]
_TABLE = lay_cells("Fees | 2023 | 2024", "Small boats | 1,120 | 1,240", "Large boats | 3,340 | 3,510", first_top=460)
_TEXT_PDF = make_pdf([[*_PAGE, *_TABLE]])
_SHORT_PDF = make_pdf([lay_out(_PROSE[0])])
"""A page for tests of when it is read, not of how: it is read in half the time."""


def _share_right(expected: str, read: str) -> float:
    """Return which share of the words and numbers was read, whatever their order, quotation marks and dashes."""
    wanted, found = (Counter(word.strip(".,") for word in _WORD.findall(text)) for text in (expected, read))
    return sum((wanted & found).values()) / wanted.total()


def test_a_scan_has_the_text_headings_and_tables_of_the_page() -> None:
    expected = convert_pdf(_TEXT_PDF, "text.pdf")
    converted = convert_pdf(make_scan(_TEXT_PDF, [0]), "scan.pdf", ocr_languages=["eng"])
    assert _share_right(expected.text, converted.text) >= 0.97
    assert read_outline(converted.text) == read_outline(expected.text)
    assert "| Small boats | 1,120 | 1,240 |\n| Large boats | 3,340 | 3,510 |" in converted.text
    assert converted.page_starts == (0,)
    assert converted.notes == ()


def test_a_language_that_is_not_installed_is_named() -> None:
    with pytest.raises(SourceError, match=r"tesseract has no data for xyz\. Install the data"):
        convert_pdf(make_scan(_TEXT_PDF, [0]), "scan.pdf", ocr_languages=["xyz"])


def test_what_ocr_has_not_read_is_not_said_to_need_ocr() -> None:
    drawn = make_pdf([_PAGE, []], empty="100 100 200 200 re f")
    converted = convert_pdf(drawn, "a.pdf", ocr_languages=["eng"])
    assert converted.notes == ("pages without text: 2. OCR has found none. Check ocr.languages in config.toml.",)
    assert converted.left_out == ("pages without text (2)",)
    with pytest.raises(SourceError, match=r"contains no text\. OCR has found none\."):
        convert_pdf(make_pdf([[]], empty="100 100 200 200 re f"), "a.pdf", ocr_languages=["eng"])


def test_scans_are_read_as_far_as_the_time_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.convert.pdf.convert._SCANS_SECONDS_MAX", 0.05)
    converted = convert_pdf(make_scan(_SHORT_PDF, [0, 0]), "scan.pdf", ocr_languages=["eng"])
    assert "harbour master" in converted.text
    assert converted.notes == ("only the first 1 of 2 pages were read.",)


def test_scans_are_read_in_the_subprocess_and_found_in_the_cache_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = make_scan(_SHORT_PDF, [0, 0])
    with pytest.raises(SourceError, match=r"add `--ocr`"):
        convert_cached(data, "a.pdf", PDF, conversion=ConversionOptions(cache_dir=tmp_path))
    reports: list[tuple[int, int]] = []
    first = convert_cached(
        data,
        "a.pdf",
        PDF,
        conversion=ConversionOptions(cache_dir=tmp_path, reads_scans=True),
        on_progress=lambda done, count: reports.append((done, count)),
    )
    assert "harbour master" in first.text
    assert (1, 2) in reports
    monkeypatch.setattr(subprocess_job, "_COMMAND", ("-c", "raise SystemExit(1)"))
    assert convert_cached(data, "a.pdf", PDF, conversion=ConversionOptions(cache_dir=tmp_path)) == first
