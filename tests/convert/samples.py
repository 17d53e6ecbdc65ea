"""Files of many formats for tests of converters, some made by LibreOffice, Jupyter and others."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from roamtui.document.document import NodeKind
from roamtui.document.parse import parse_document

_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_DC, _OPS = "http://purl.org/dc/elements/1.1/", "http://www.idpf.org/2007/ops"
XML = '<?xml version="1.0" encoding="UTF-8"?>'


def pack(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive of parts by name, always with the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def make_epub_parts(chapters: Mapping[str, str], *, nav: str = "", ncx: str = "") -> dict[str, str | bytes]:
    """Return the parts of a book, given the content of each body by file name, and a table of contents."""
    items = [
        f'<item id="c{number}" href="text/{name.replace(" ", "%20")}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(chapters)
    ]
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": (
            f'{XML}<container><rootfiles><rootfile full-path="OEBPS/content.opf"/></rootfiles></container>'
        ),
    }
    if nav:
        items.append('<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>')
        head = f'<html xmlns:epub="{_OPS}"><body>'
        parts["OEBPS/nav.xhtml"] = f'{head}<nav epub:type="toc"><h1>Contents</h1>{nav}</nav></body></html>'
    if ncx:
        items.append('<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>')
        parts["OEBPS/toc.ncx"] = f"{XML}<ncx><docTitle><text>Not this</text></docTitle><navMap>{ncx}</navMap></ncx>"
    parts["OEBPS/content.opf"] = (
        f"{XML}<package xmlns:dc='{_DC}'><metadata><dc:title>The Book of Boats</dc:title></metadata>"
        f'<manifest>{"".join(items)}</manifest><spine toc="ncx">{spine}</spine></package>'
    )
    for name, body in chapters.items():
        parts[f"OEBPS/text/{name}"] = f"{XML}<html><head><title/></head><body>{body}</body></html>"
    return parts


def write_word_paragraph(text: str, style: str = "") -> str:
    """Return a paragraph of a Word document, its text as XML."""
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}<w:r><w:t>{text}</w:t></w:r></w:p>"


def make_docx_parts(paragraphs: Sequence[str], *, styles: str, footnotes: str) -> dict[str, str | bytes]:
    """Return the parts of a Word document, given the XML of its body, its styles and its footnotes."""
    return {
        "docProps/core.xml": f"<c><dc:title xmlns:dc='{_DC}'>The Handbook</dc:title></c>",
        "word/document.xml": f"<w:document {_WORD}><w:body>{''.join(paragraphs)}</w:body></w:document>",
        "word/styles.xml": f"<w:styles {_WORD}>{styles}</w:styles>",
        "word/footnotes.xml": f"<w:footnotes {_WORD}>{footnotes}</w:footnotes>",
    }


FILES = Path(__file__).parent / "files"


def read_sample(name: str) -> bytes:
    return (FILES / name).read_bytes()


def replace_part(data: bytes, part: str, old: str, new: str) -> bytes:
    """Return an archive with a text in one of its parts replaced; a part that is missing becomes `new`."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    before = parts.get(part, b"")
    assert isinstance(before, bytes)
    assert old.encode() in before
    parts[part] = before.replace(old.encode(), new.encode(), 1) if before else new
    return pack(parts)


def add_part(data: bytes, part: str, content: str | bytes) -> bytes:
    """Return an archive with one more part."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return pack({**{name: archive.read(name) for name in archive.namelist()}, part: content})


def remove_part(data: bytes, part: str) -> bytes:
    """Return an archive without one of its parts."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return pack({name: archive.read(name) for name in archive.namelist() if name != part})


def read_outline(text: str) -> list[tuple[int, str]]:
    """Return level and title of each section, as an outline shows them."""
    columns = parse_document(text).columns
    titles = map(columns.get_shown_title, range(len(columns)))
    rows = zip(columns.kinds, columns.levels, titles, strict=True)
    return [(level, title) for kind, level, title in rows if kind is NodeKind.SECTION]
