"""Format detection, the subprocess with its limits, notes, and the cache of conversions."""

import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from roamtui.convert import html, subprocess_job
from roamtui.convert.conversion import convert, convert_page, detect_format
from roamtui.convert.formats import FORMATS_BY_NAME, PDF
from roamtui.errors import OpeningCancelledError, SourceError
from roamtui.sources.conversion_cache import ConversionOptions, convert_cached
from tests.convert.sample_pdf import lay_out, make_pdf

_PDF = make_pdf([lay_out("one boat"), lay_out("two boats")])
_DAMAGED = b"PK\x03\x04" + bytes(3_000)
_HTML = b"<!DOCTYPE html><title>T</title><h1>Page</h1><p>text"


@pytest.mark.parametrize(
    ("data", "name", "media_type", "expected"),
    [
        (_PDF, "a.md", None, "PDF"),
        (b"\n%PDF-1.4 words", "a.pdf", None, "PDF"),
        (b"\xd0\xcf\0", "a", "application/pdf", "PDF"),
        (b"just text", "a.pdf", None, None),
        (
            _DAMAGED,
            "a",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "DOCX",
        ),
        (b"\xd0\xcf\x11\xe0\0", "a.docx", None, "DOCX"),
        (_HTML, "a.md", None, "HTML"),
        (_HTML, "a.txt", None, None),
        (b"%PDF-1.7 is how a PDF begins", "a.md", None, None),
        (b"%PDF-1.7\n\0", "a.txt", None, "PDF"),
        (b"<html> is the root\n\n# Head\n", "a.md", None, None),
        (b"<html lang=en>\n<head>", "a.md", None, "HTML"),
        (b"words", "a", "text/html; charset=utf-8", "HTML"),
        (_DAMAGED, "a.epub", None, "EPUB"),
        (b"a,b\n1,2\n", "", "application/csv", "CSV or TSV"),
        (b"a,b\n1,2\n", "/a.csv", "application/octet-stream", "CSV or TSV"),
        (b'{"cells": []}', "/a.ipynb", "text/plain", "Jupyter notebook"),
        (_HTML, "/a.csv", "text/html", "HTML"),
        (b"<p>none", "/a.pdf", "text/html", "HTML"),
        (b"# A", "/a.md", "application/json", None),
    ],
    ids=lambda value: "bytes" if isinstance(value, bytes) else str(value),
)
def test_the_content_takes_precedence_over_the_name_and_that_over_the_type(
    data: bytes, name: str, media_type: str | None, expected: str | None
) -> None:
    found = detect_format(data, name, media_type)
    assert (found and found.name) == expected


_GREEDY = """
import sys
from roamtui.convert import child
child._MEMORY_BYTES_MAX = 300_000_000
child.PDF.convert = lambda data, name, **options: bytearray(400_000_000)
child.main(sys.argv[1:])
"""
_CRASHING = "import sys; sys.exit(1)"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        pytest.param(_GREEDY, "it needs more memory than roamtui allows", id="greedy"),
        pytest.param(_CRASHING, "it is damaged, locked or too large", id="crashing"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
def test_a_file_that_needs_too_much_memory_or_ends_the_process_is_refused(
    monkeypatch: pytest.MonkeyPatch, code: str, reason: str
) -> None:
    monkeypatch.setattr(subprocess_job, "_COMMAND", ("-P", "-c", code))
    with pytest.raises(SourceError, match=rf"^Could not convert a\.pdf: {reason}"):
        convert(_PDF, "a.pdf", PDF)


def test_a_file_that_a_converter_cannot_read_is_refused_with_the_kind_of_the_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(html, "write_blocks", lambda *_: 1 / 0)
    with pytest.raises(SourceError, match=r"a\.html: it is damaged or not supported \(ZeroDivisionError\)\. "):
        convert(b"<p>words", "a.html", FORMATS_BY_NAME[".html"])
    with pytest.raises(
        SourceError, match=r"^Could not convert a\.ipynb: it is damaged or not supported \(TypeError\)\. "
    ):
        convert(b'{"cells": null}', "a.ipynb", FORMATS_BY_NAME[".ipynb"])


_WAITING = """
import os, signal, subprocess, sys
from roamtui.convert import child
def convert(data, name, *, on_progress, ocr_languages):
    subprocess.Popen(['sleep', '3600'])
    on_progress(os.getpid(), 4)
    signal.pause()
child.PDF.convert = convert
child.main(sys.argv[1:])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups")
def test_a_conversion_that_is_stopped_leaves_no_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(subprocess_job, "_COMMAND", ("-P", "-c", _WAITING))
    groups: list[int] = []

    def stop(done: int, count: int) -> None:
        if count:
            groups.append(done)
            raise OpeningCancelledError

    with pytest.raises(OpeningCancelledError):
        convert_cached(_PDF, "a.pdf", PDF, conversion=ConversionOptions(cache_dir=tmp_path), on_progress=stop)
    assert not any(tmp_path.iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(groups[0], 0)
    with suppress(ProcessLookupError):  # raised when the system has forgotten what the conversion started
        while groups:
            os.killpg(groups[0], 0)


def test_a_module_in_the_working_directory_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pypdfium2_raw.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    converted = convert(_PDF, "a.pdf", PDF)
    assert "one boat" in converted.text


def test_a_large_page_of_the_web_is_converted_in_a_subprocess(monkeypatch: pytest.MonkeyPatch) -> None:
    filler = "<p>word</p>" * 40_000
    converted = convert_page(f'<a href="b">né</a>{filler}'.encode("cp1252"), "cp1252", "https://a.example/x/")
    assert converted.text.startswith("[né](https://a.example/x/b)\n\nword\n")
    monkeypatch.setattr(subprocess_job, "_COMMAND", ("-c", "raise SystemExit(1)"))
    assert convert_page(b"<p>word", None, "https://a.example/").text == "word\n"
    with pytest.raises(SourceError, match=r"^Could not convert https://a\.example/: "):
        convert_page(filler.encode(), None, "https://a.example/")


def test_a_conversion_is_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ConversionOptions(cache_dir=tmp_path / "kept")
    first = convert_cached(_PDF, "a.pdf", PDF, conversion=options)
    monkeypatch.setattr(subprocess_job, "_COMMAND", ("-c", "raise SystemExit(1)"))
    assert convert_cached(_PDF, "a.pdf", PDF, conversion=options) == first
    (file,) = (tmp_path / "kept").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    for damaged in (b"", b"[]"):
        file.write_bytes(damaged)
        with pytest.raises(SourceError):
            convert_cached(_PDF, "a.pdf", PDF, conversion=options)
