"""EPUB books and Word documents, assembled part by part."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_STYLES = {
    "Title": "Title",
    "H1": "heading 1",
    "H2": "heading 2",
    "Code": "Code",
}
_DC, _OPS = "http://purl.org/dc/elements/1.1/", "http://www.idpf.org/2007/ops"
_CORE = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
XML = '<?xml version="1.0" encoding="UTF-8"?>'


def pack(parts: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip archive of parts by name, always with the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return stream.getvalue()


def make_epub_parts(
    chapters: Mapping[str, str], *, nav: str = "", ncx: str = "", title: str = "The Book of Boats"
) -> dict[str, str | bytes]:
    """Return the parts of a book.

    Args:
        chapters: Content of each body, by file name in reading order.
        nav: Lists of the table of contents of EPUB 3.
        ncx: Points of that of EPUB 2.
        title: Of the book.
    """
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
        f"{XML}<package xmlns:dc='{_DC}'><metadata><dc:title>{title}</dc:title></metadata>"
        f'<manifest>{"".join(items)}</manifest><spine toc="ncx">{spine}</spine></package>'
    )
    for name, body in chapters.items():
        parts[f"OEBPS/text/{name}"] = f"{XML}<html><head><title/></head><body>{body}</body></html>"
    return parts


def write_word_paragraph(text: str, style: str = "") -> str:
    """Return a paragraph of a Word document, its text as XML."""
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}<w:r><w:t>{text}</w:t></w:r></w:p>"


def make_docx_parts(paragraphs: Sequence[str], *, title: str = "", footnotes: str = "") -> dict[str, str | bytes]:
    """Return the parts of a Word document.

    Args:
        paragraphs: Its body, as XML.
        title: In its properties.
        footnotes: As XML.
    """
    related = {"styles": "styles.xml"}
    more: dict[str, str | bytes] = {}
    if footnotes:
        related["footnotes"] = "footnotes.xml"
        more["word/footnotes.xml"] = f'<w:footnotes xmlns:w="{WORD}">{footnotes}</w:footnotes>'
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{style}"><w:name w:val="{name}"/></w:style>'
        for style, name in _STYLES.items()
    )
    office = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    return {
        "[Content_Types].xml": (
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{office}"/></Types>'
        ),
        "_rels/.rels": _relate({f"{_OFFICE}/officeDocument": "word/document.xml"}),
        "word/_rels/document.xml.rels": _relate({f"{_OFFICE}/{kind}": target for kind, target in related.items()}),
        "word/styles.xml": f'<w:styles xmlns:w="{WORD}">{styles}</w:styles>',
        "docProps/core.xml": (
            f"{XML}<c:coreProperties xmlns:c='{_CORE}' xmlns:dc='{_DC}'><dc:title>{title}</dc:title></c:coreProperties>"
        ),
        "word/document.xml": f'{XML}<w:document xmlns:w="{WORD}"><w:body>{"".join(paragraphs)}</w:body></w:document>',
        **more,
    }


def _relate(targets: Mapping[str, str]) -> str:
    relations = "".join(
        f'<Relationship Id="r{number}" Type="{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets.items())
    )
    return f'<Relationships xmlns="{_RELATIONS}">{relations}</Relationships>'
