"""Measures what conversion loses: all visible words of the XML of office files, books and pages, beside ours.

    python tests/benchmarks/words_lost.py FOLDER

The folder has files of any formats. The independent reading takes texts from the XML by a few rules of its
own, and none of the code that is measured. Words are compared as multisets, without their order; a number is
a word. A word is invented if it is nowhere in the file. PDFs are read by poppler's pdftotext, without heads
and feet of pages. Numbers of lists, which the XML does not have, are not counted.
"""

import html
import posixpath
import re
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree
from lxml.html import document_fromstring

from roamtui.sources.convert.converters import FORMATS_BY_NAME, get_converter

_WORD = re.compile(r"[^\W_]+(?:[.,][^\W_]+)*|[^\W_]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_EMPTY_MARKUP = re.compile(r"\\(?=[!-/:-@\[-`{-~])|\[(?=(?:\\.|[^\[\]\\])*\]\()|\]\((?:[^()\s]|\\.)*\)|[`*~]")
"""Backslashes, targets of links and marks around words."""
_SPACE_MARKUP = re.compile(r"!\[(?:\\.|[^\]\\])*\]\([^()\s]*\)|</?sup>|\[\^\d+\]:?|^```\S+$", re.MULTILINE)
"""Pictures with their descriptions, and marks of raised text and of notes."""
_LIST_NUMBER = re.compile(
    r"^((?:[ >]|[-] |#{1,6} |\| )*)(?:(?:Article|Section|Chapter|Step|Annex|Appendix) )?"
    r"(?:\(?(?:\w{1,4}[.)、-]){1,9}\w{0,3}\)?|\w{1,3})(?= |$)",
    re.MULTILINE,
)
_ADDED = re.compile(
    r"^## Rows .*$|^# Named areas\n(?:.*\n)*|^.*\(hidden\)$|\b\d{4}-\d\d-\d\d\b|\b\d+:\d\d:\d\d(?:\.\d+)?|^# Slide \d+",
    re.MULTILINE,
)
"""What we add: titles of sections, names of areas, and dates and times, which spreadsheets store as numbers."""
_FORMULA = re.compile(r"<(?:\w+:)?math\b.*?</(?:\w+:)?math>", re.DOTALL)
_LONG_NUMBER = re.compile(r"\d+\.\d{6,}(?:E[+-]?\d+)?|\d+(?:\.\d+)?E[+-]?\d+")
_SEPARATE = frozenset(
    re.compile(r"\S+").findall(
        "p br tab tc tr h si cr s line-break table-cell is li oMath div td th h1 h2 h3 h4 h5 h6 dt dd pre section "
        "blockquote title rt option button header figcaption caption summary center article label address"
    )
)
"""Elements that begin and end a word."""
_LEFT_OUT = frozenset(
    re.compile(r"\S+").findall(
        "del moveFrom instrText delText tracked-changes annotation forms table-of-content note-citation desc "
        "covered-table-cell script style nav svg audio video iframe object math rp template noscript textarea rPh "
        "phoneticPr head canvas select"
    )
)
_HIDDEN_LOOK = re.compile("dt|ftr|hdr|sldNum|linenos?|aria-hidden|navigation|contentinfo|menu|search")
"""Types of placeholders in presentations; classes and roles in pages."""
_LEFT_OUT_ENDS = ("-decls", "-index", "-source")
_ORDINALS = ("st", "nd", "rd", "th")
_EDGE_LINES = 4
"""How many lines at the top and the bottom of a page of a PDF may be its head and foot."""
_REPEATED_MIN = 3
"""On so many pages stands a head or foot."""
_PAGE_NUMBER = re.compile(r"[\divxl.–| -]+")
_SHOWN_MAX = 60
"""How many of the worst files are listed."""
_Element = Any
"""An element of XML: lxml has no types."""
Words = Counter[str]


def read_words(text: str) -> Words:
    return Counter(word.casefold() for word in _WORD.findall(re.sub("[`*~\u00ad\u200b]", "", text)))


def read_our_words(text: str) -> Words:
    """Count the words of our Markdown."""
    return read_words(_EMPTY_MARKUP.sub("", _SPACE_MARKUP.sub(" ", text)))


def _get_end(name: object) -> str:
    """Return a name without its namespace."""
    return str(name).rpartition("}")[2]


def _parse(archive: zipfile.ZipFile, part: str) -> _Element:
    try:
        root = etree.fromstring(archive.read(part), etree.XMLParser(recover=True, resolve_entities=False))
    except (KeyError, etree.XMLSyntaxError):
        root = None
    return etree.Element("none") if root is None else root


def _list_styles(root: _Element, look: str) -> set[str]:
    """List the names of styles with a look: an element in Word, or an attribute and its value in OpenDocument."""
    found: set[str] = set()
    for style in root.iter("{*}style"):
        looks = {_get_end(each.tag) for each in style.iterfind("{*}rPr/*")}
        looks |= {f"{_get_end(key)}={value.partition(' ')[0]}" for each in style for key, value in each.items()}
        found |= {value for key, value in style.items() if look in looks and _get_end(key) in ("styleId", "name")}
    return found


def _is_left_out(element: _Element, hidden: AbstractSet[str]) -> bool:
    name = _get_end(element.tag)
    if name in _LEFT_OUT or name.endswith(_LEFT_OUT_ENDS) or (name == "title" and element.tag != name):
        return True
    if name == "Fallback":
        return element.getparent().find("{*}Choice") is not None
    if name == "footer":
        return next(element.iterancestors("blockquote", "figure"), None) is None
    if name == "tr" and element.find("{*}trPr/{*}del") is not None:
        return True
    vanish = element.find("{*}rPr/{*}vanish")
    kinds = element.xpath("*[local-name()='nvSpPr']/*[local-name()='nvPr']/*[local-name()='ph']/@type")
    styles = [value for key, value in element.items() if key.endswith("}style-name")]
    styles += element.xpath("*[local-name()='rPr']/*[local-name()='rStyle']/@*")
    looks = [*kinds, *element.get("class", "").split(), element.get("role", "")]
    looks += ["aria-hidden"] if element.get("aria-hidden") == "true" else []
    return (
        (vanish is not None and "0" not in vanish.values())
        or any(map(_HIDDEN_LOOK.fullmatch, looks))
        or not hidden.isdisjoint(styles)
        or element.get("hidden") is not None
        or "display:none" in element.get("style", "").replace(" ", "")
    )


def _join(
    root: _Element, *texts: str, hidden: AbstractSet[str] = frozenset(), raised: AbstractSet[str] = frozenset()
) -> str:
    """Join the text of elements with some names, or of all, with a space at the edges of paragraphs and cells."""
    out: list[str] = []

    def walk(element: _Element) -> None:
        if not isinstance(element.tag, str) or _is_left_out(element, hidden):
            return
        name = _get_end(element.tag)
        is_raised = name == "sup" or "noteref" in element.values() or not raised.isdisjoint(element.values())
        is_raised |= bool(element.xpath("*[local-name()='rPr'][@baseline>0 or *[@*='superscript']]"))
        is_raised &= "".join(element.itertext()).strip() not in _ORDINALS  # "4th" is one word
        gap = " " if name in _SEPARATE or is_raised else ""
        out.append(gap)
        if not texts or name in texts:
            out.append(element.text or "")
        for child in element:
            walk(child)
            out.append("" if texts else child.tail or "")
        out.append(gap)

    walk(root)
    return "".join(out)


def _read_docx(archive: zipfile.ZipFile) -> Iterator[str]:
    starts = _parse(archive, "_rels/.rels").xpath(
        "*[substring-after(@Type, 'relationships/') = 'officeDocument']/@Target"
    )
    main = _parse(archive, [*starts, "word/document.xml"][0].lstrip("/"))
    hidden = _list_styles(_parse(archive, "word/styles.xml"), "vanish")
    yield _join(main, "t", "noBreakHyphen", hidden=hidden)
    for kind in ("footnote", "endnote"):
        cited = {value for each in main.iter(f"{{*}}{kind}Reference") for value in each.values()}
        for note in _parse(archive, f"word/{kind}s.xml").iter(f"{{*}}{kind}"):
            yield _join(note, "t", hidden=hidden) if not cited.isdisjoint(note.values()) else ""


def _read_odt(archive: zipfile.ZipFile) -> Iterator[str]:
    root = _parse(archive, "content.xml")
    for body in root.findall("{*}body/{*}text"):
        yield _join(body, hidden=_list_styles(root, "display=none"), raised=_list_styles(root, "text-position=super"))


def _read_pptx(archive: zipfile.ZipFile) -> Iterator[str]:
    targets = {each.get("Id"): each.get("Target", "") for each in _parse(archive, "ppt/_rels/presentation.xml.rels")}
    for slide in _parse(archive, "ppt/presentation.xml").iterfind("{*}sldIdLst/*"):
        key = next((value for key, value in slide.items() if key.endswith("}id")), "")
        yield _join(_parse(archive, posixpath.normpath(posixpath.join("/ppt", targets.get(key, ""))).lstrip("/")), "t")


def _read_xlsx(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the cells: texts, and numbers whose format is not that of a date."""
    shared = [_join(each, "t") for each in _parse(archive, "xl/sharedStrings.xml").iterfind("{*}si")]
    styles = _parse(archive, "xl/styles.xml")
    codes = {each.get("numFmtId"): each.get("formatCode", "") for each in styles.iter("{*}numFmt")}
    kinds = [each.get("numFmtId", "0") for each in styles.iterfind("{*}cellXfs/*")]
    shapes = [re.sub(r'"[^"]*"|\\.|\[[^\]]*\]', "", codes.get(kind, "0")) for kind in kinds]
    dates = {*map(str, (*range(14, 23), *range(27, 37), *range(45, 48)))}
    looks_like_date = re.compile("[dmyhs]", re.I).search
    is_date = [kind in dates or bool(looks_like_date(shape)) for kind, shape in zip(kinds, shapes, strict=True)]
    for part in archive.namelist():
        for cell in _parse(archive, part).iter("{*}c") if re.fullmatch(r"xl/worksheets/[^/]+\.xml", part) else ():
            value, style = cell.findtext("{*}v") or "", int(cell.get("s") or 0)
            match cell.get("t", "n"):
                case "s" if value.strip().isdigit() and int(value) < len(shared):
                    yield shared[int(value)]
                case "inlineStr":
                    yield _join(cell, "t")
                case "str":
                    yield value
                case "n" if value and not (style < len(is_date) and is_date[style]):
                    yield _format_number(value)


def _format_number(value: str) -> str:
    """Write a number as Excel shows it in a wide cell, with at most 15 digits in its fraction."""
    try:
        number = float(value)
    except ValueError:
        return value
    return str(int(number)) if number.is_integer() and abs(number) < 1e21 else f"{number:.15g}"


def _read_epub(archive: zipfile.ZipFile) -> Iterator[str]:
    part = next(each.get("full-path", "") for each in _parse(archive, "META-INF/container.xml").iter("{*}rootfile"))
    package = _parse(archive, part)
    items = {each.get("id"): each for each in package.iter("{*}item")}
    names = {name.lower(): name for name in archive.namelist()}
    for ref in dict.fromkeys(each.get("idref") for each in package.iter("{*}itemref")):
        item = items.get(ref)
        if item is not None and "nav" not in item.get("properties", "").split() and "svg" not in item.get("media-type"):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(part), item.get("href", "")))
            yield from map(_join, _parse(archive, names.get(name.lower(), name)).findall("{*}body"))


def _read_html(data: bytes) -> str:
    try:
        root = document_fromstring(re.sub(r"<\?xml[^>]*>", "", data.decode()))
    except UnicodeDecodeError:
        root = document_fromstring(data)
    mains = root.xpath("//main | //*[@role='main']") or root.xpath("//body")
    return " ".join(map(_join, mains))


def _read_pdf(path: Path) -> tuple[Words, str]:
    """Read a PDF by poppler: its words without heads, feet and numbers of pages, and its whole text."""
    command = ["pdftotext", "-layout", str(path), "-"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pages = [[" ".join(line.split()) for line in page.split("\n") if line.strip()] for page in text.split("\f")]
    edges = [{*range(_EDGE_LINES), *range(len(page) - _EDGE_LINES, len(page))} for page in pages]
    forms = [[re.sub(r"\d+", "0", line) for line in page] for page in pages]
    counts = Counter(
        form
        for page, rows in zip(forms, edges, strict=True)
        for form in {page[row] for row in rows if 0 <= row < len(page)}
    )
    kept = [
        line
        for page, page_forms, rows in zip(pages, forms, edges, strict=True)
        for row, (line, form) in enumerate(zip(page, page_forms, strict=True))
        if row not in rows or not (counts[form] >= _REPEATED_MIN or _PAGE_NUMBER.fullmatch(line))
    ]
    return read_words("\n".join(kept)), text


_READERS: dict[str, Callable[[zipfile.ZipFile], Iterator[str]]] = {
    "docx": _read_docx,
    "odt": _read_odt,
    "pptx": _read_pptx,
    "xlsx": _read_xlsx,
    "epub": _read_epub,
}


class _Measured(NamedTuple):
    theirs: Words
    lost: Words
    invented: Words
    seconds: float


def measure_file(path: Path) -> _Measured:
    """Compare the words of an independent reading with ours, and time ours."""
    data = path.read_bytes()
    started = time.process_time()
    text = get_converter(FORMATS_BY_NAME[path.suffix])(data, path.name).text
    seconds = time.process_time() - started
    if path.suffix == ".pdf":
        theirs, source = _read_pdf(path)
    elif path.suffix == ".html":
        theirs, source = read_words(_read_html(data)), data.decode("utf-8", "replace")
    else:
        with zipfile.ZipFile(path) as archive:
            theirs = read_words(" ".join(_READERS[path.suffix[1:]](archive)))
            names = [name for name in archive.namelist() if re.search(r"\.(x?html?|xml|rels|opf|ncx)$", name)]
            source = " ".join(archive.read(name).decode("utf-8", "replace") for name in names)
    source = html.unescape(source)
    formulas = ["".join(re.sub("<[^>]*>", "", each).split()) for each in _FORMULA.findall(source)]
    numbers = map(_format_number, _LONG_NUMBER.findall(source))
    known = read_words(" ".join([source, *formulas, *numbers])) + theirs
    squeezed = "".join([*theirs, *formulas]).casefold()
    own = read_our_words(_ADDED.sub(" ", _LIST_NUMBER.sub(r"\1", text)))
    # A word that is made of neighbours, as in a formula, is not invented.
    invented = {word for word in own if word not in known and (_NUMBER.fullmatch(word) or word not in squeezed)}
    lost = theirs - read_our_words(text)
    return _Measured(theirs, lost, Words({word: own[word] for word in invented}), seconds)


def _format_row(kind: str, files: list[_Measured]) -> str:
    total = sum(file.theirs.total() for file in files)
    cells = [kind, f"{len(files)}", f"{total:,}"]
    for name in ("lost", "invented"):
        words = [(word, count) for file in files for word, count in getattr(file, name).items()]
        count = sum(count for _, count in words)
        cells.append(f"{count} ({count / max(1, total):.3%})")
        cells.append(f"{sum(count for word, count in words if _NUMBER.fullmatch(word))}")
    return f"| {' | '.join(cells)} | {sum(file.seconds for file in files):.1f} |"


def main(folder: str) -> None:
    """Print the worst files, and a row for each format."""
    rows: dict[str, list[_Measured]] = {}
    worst: list[tuple[int, str]] = []
    for path in sorted(each for kind in (*_READERS, "html", "pdf") for each in Path(folder).rglob(f"*.{kind}")):
        try:
            result = measure_file(path)
        except Exception as error:  # noqa: BLE001 - as the subprocess: any error refuses a file
            worst.append((0, f"refused: {path.name}: {type(error).__name__}: {error}"[:160]))
            continue
        rows.setdefault(path.suffix[1:], []).append(result)
        shown = f"{path.name}: -{dict(result.lost.most_common(12))} +{dict(result.invented.most_common(12))}"
        worst.append((result.lost.total() + result.invented.total(), shown))
    lines = [line for _, line in sorted(worst)[-_SHOWN_MAX:]]
    lines.append("| format | files | words | lost | numbers lost | invented | numbers invented | seconds |")
    lines += [_format_row(kind, files) for kind, files in rows.items()]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
