"""PDF files, written object by object: pages of lines at a height in a size, and bookmarks."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from roamtui.convert.pdf.pdfium import PdfFile

_LEADING = 14
_FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica{} /Encoding /WinAnsiEncoding >>"


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfLine:
    """A line of a page."""

    text: str
    top: float
    size: float = 11
    font: str = "F1"
    """`F1`, or `F2` for bold."""
    x: float = 72
    links_to: int | None = None
    """The page, from 0, that a click on the line opens."""


def lay_out(*texts: str, first_top: float = 720) -> list[PdfLine]:
    """Return lines one below the other; an empty text leaves a gap, ``#`` makes large letters and ``*`` bold ones."""
    lines = []
    for row, text in enumerate(texts):
        top = first_top - row * _LEADING
        if text.startswith("# "):
            lines.append(PdfLine(text=text[2:], top=top, size=20))
        elif text.startswith("## "):
            lines.append(PdfLine(text=text[3:], top=top, size=15))
        elif text.startswith("* "):
            lines.append(PdfLine(text=text[2:], top=top, font="F2"))
        elif text:
            lines.append(PdfLine(text=text, top=top))
    return lines


def lay_cells(*rows: str, first_top: float = 700) -> list[PdfLine]:
    """Return rows of cells divided by ``|``: the first at the left, the others in columns; ``*`` makes a row bold."""
    return [
        PdfLine(text=cell.strip().removeprefix("* "), top=first_top - number * _LEADING, x=x, font=font)
        for number, row in enumerate(rows)
        for font in ("F2" if row.startswith("* ") else "F1",)
        for x, cell in zip((72, 300, 380, 460), row.split("|"), strict=False)
        if cell.strip()
    ]


def make_pdf(
    pages: Sequence[Sequence[PdfLine]],
    *,
    bookmarks: Sequence[tuple[int, str, int]] = (),
    title: str = "",
    empty: str = "",
    labels: str = "",
) -> bytes:
    """Return a PDF.

    Args:
        pages: Lines of each.
        bookmarks: Level from 1 on, title, and 0-based page of each, in order.
        title: In its information.
        empty: What is drawn on pages without lines.
        labels: The ranges of printed page numbers, as PDF writes them.
    """
    objects = ["", "", _FONT.format(""), _FONT.format("-Bold"), f"<< /Title ({_escape(title)}) >>"]
    fonts = "/Font << /F1 3 0 R /F2 4 0 R >>"
    numbers = []
    for lines in pages:
        links = "".join(_write_link(line) for line in lines if line.links_to is not None)
        numbers.append(_add_page(objects, "".join(map(_write_text, lines)) or empty, fonts, links=links))
    outline = _write_outline(objects, bookmarks, numbers) if bookmarks else ""
    if labels:
        outline += f" /PageLabels << /Nums [{labels}] >>"
    return _join_pages(objects, numbers, outline)


def make_scan(data: bytes, pages: Sequence[int]) -> bytes:
    """Return a PDF with pictures of the pages of another one, at 200 dots per inch. Pages are counted from 0."""
    file = PdfFile(data, "sample.pdf")
    objects = ["", "", _FONT.format(""), "<< >>", "<< >>"]
    numbers = []
    for page_number in pages:
        with file.open_page(page_number) as page:
            assert page is not None
            width, height = page.measure()
            columns, rows = (round(length * 200 / 72) for length in (width, height))
            pixels = page.draw(columns, rows)
        packed = zlib.compress(bytes(pixels[::3])).decode("latin-1")
        objects.append(
            f"<< /Type /XObject /Subtype /Image /Width {columns} /Height {rows} /ColorSpace /DeviceGray "
            f"/BitsPerComponent 8 /Length {len(packed)} /Filter /FlateDecode >>\nstream\n{packed}\nendstream"
        )
        shown = f"{width} 0 0 {height} 0 0 cm /I Do"
        numbers.append(_add_page(objects, shown, f"/XObject << /I {len(objects)} 0 R >>", width, height))
    return _join_pages(objects, numbers)


def _add_page(
    objects: list[str], content: str, resources: str, width: float = 612, height: float = 792, links: str = ""
) -> int:
    """Append the objects of a page, and return the number of the last one."""
    objects.append(_write_stream(content))
    objects.append(
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents {len(objects)} 0 R "
        f"/Resources << {resources} >> /Annots [{links}] >>"
    )
    return len(objects)


def _join_pages(objects: list[str], numbers: Sequence[int], outline: str = "") -> bytes:
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {outline} >>"
    objects[1] = f"<< /Type /Pages /Count {len(numbers)} /Kids [{' '.join(f'{number} 0 R' for number in numbers)}] >>"
    return assemble(objects)


def assemble(objects: Sequence[str]) -> bytes:
    """Return a PDF of numbered objects. The first is its catalogue, the fifth its information."""
    data = b"%PDF-1.7\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 5 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode("latin-1")


def write_bomb(length: int) -> str:
    """Return a stream object that unpacks to `length` characters."""
    return _write_stream(" " * length)


def _write_text(line: PdfLine) -> str:
    return f"BT /{line.font} {line.size} Tf 1 0 0 1 {line.x} {line.top} Tm ({_escape(line.text)}) Tj ET\n"


def _write_link(line: PdfLine) -> str:
    rect = f"{line.x} {line.top - 2} {line.x + 200} {line.top + line.size}"
    return f"<< /Type /Annot /Subtype /Link /Rect [{rect}] /Dest [{line.links_to} /Fit] >>"


def _write_stream(text: str) -> str:
    packed = zlib.compress(text.encode("latin-1")).decode("latin-1")
    return f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n{packed}\nendstream"


def _write_outline(objects: list[str], bookmarks: Sequence[tuple[int, str, int]], pages: Sequence[int]) -> str:
    """Append an object for each bookmark and one for their root; return the catalogue's entry."""
    first = len(objects) + 1
    root = first + len(bookmarks)
    parents: list[int] = []
    for index, (level, title, page) in enumerate(bookmarks):
        above = next((other for other in range(index - 1, -1, -1) if bookmarks[other][0] < level), None)
        parents.append(root if above is None else first + above)
        objects.append(f"/Title ({_escape(title)}) /Dest [{pages[page]} 0 R /Fit] /Parent {parents[-1]} 0 R")
    objects.append("/Type /Outlines")
    for number in range(first, root + 1):
        children = [first + index for index, parent in enumerate(parents) if parent == number]
        if children:
            objects[number - 1] += f" /First {children[0]} 0 R /Last {children[-1]} 0 R /Count {len(children)}"
        for child, following in pairwise(children):
            objects[child - 1] += f" /Next {following} 0 R"
    for number in range(first, root + 1):
        objects[number - 1] = f"<< {objects[number - 1]} >>"
    return f"/Outlines {root} 0 R"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def protect(data: bytes) -> bytes:
    """Return a PDF of `make_pdf` that asks for a password."""
    owner = "b22d4dc85211f71c22947f016c6df5b95727225cc3e30781c51edf6ef03a66e4"
    user = "152070dd9aba1b0a53943cb7b71821971e84de4895e004f26fedb8c1b5f20fd9"
    identity = b"0123456789abcdef".hex()
    entry = f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{owner}> /U <{user}> >>"
    return data.replace(b"trailer\n<<", f"trailer\n<< {entry} /ID [<{identity}> <{identity}>]".encode())
