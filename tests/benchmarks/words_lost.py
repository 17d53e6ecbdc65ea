"""Measures what conversion loses: all visible words of the XML of office files and books, beside ours.

    python tests/benchmarks/words_lost.py FOLDER

The folder has files of any formats. The independent reading takes texts from the XML by a few rules of its own, and
none of the code that is measured. Words are compared as multisets, without their order; a number is a word. A word is
invented if it is nowhere in the file. Numbers of lists, which the XML does not have, are not counted.
"""

from __future__ import annotations

import html
import posixpath
import re
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lxml import etree

from roamtui.errors import RoamtuiError
from roamtui.sources.convert.converters import NAMES_BY_FORMAT, Format, get_converter

_WORD = re.compile(r"[^\W_]+(?:[.,][^\W_]+)*|[^\W_]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_EMPTY_MARKUP = re.compile(r"\\(?=[!-/:-@\[-`{-~])|\]\((?:[^()\s]|\\.)*\)|[`*~]")
"""Backslashes, targets of links and marks around words."""
_SPACE_MARKUP = re.compile(r"!\[(?:\\.|[^\]\\])*\]\([^()\s]*\)|</?sup>|\[\^\d+\]:?|^```\w+$", re.MULTILINE)
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
_LONG_NUMBER = re.compile(r"\d+\.\d{6,}(?:E[+-]?\d+)?|\d+(?:\.\d+)?E[+-]?\d+")
_ORDINALS = ("st", "nd", "rd", "th")
_PARAGRAPHS = frozenset(
    {"p", "br", "tab", "tc", "tr", "h", "si", "cr", "s", "line-break", "table-cell", "is", "li", "oMath"}
)
_BLOCKS = _PARAGRAPHS | {
    *("div", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "dt", "dd", "pre", "section", "blockquote", "title", "rt"),
}
_SHOWN_MAX = 60
"""How many of the worst files are listed."""
_Element = Any
"""An element of XML: lxml has no types."""
Words = Counter[str]


def read_words(text: str) -> Words:
    """Count the words of a text."""
    return Counter(word.casefold() for word in _WORD.findall(re.sub("[`*~\u00ad]", "", text)))


def read_all_words(archive: zipfile.ZipFile) -> set[str]:
    """Return the words anywhere in the XML of a file, in attributes too."""
    known: set[str] = set()
    for part in archive.namelist():
        if part.endswith((".xml", ".rels", ".xhtml", ".html", ".opf", ".ncx", ".htm")):
            text = html.unescape(archive.read(part).decode("utf-8", "replace"))
            shown = " ".join(map(_format_number, _LONG_NUMBER.findall(text)))
            known |= read_words(f"{text} {shown}").keys()
    return known


def read_our_words(text: str) -> Words:
    """Count the words of our Markdown."""
    return read_words(_EMPTY_MARKUP.sub("", _SPACE_MARKUP.sub(" ", text)))


def _name(element: _Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _parse(archive: zipfile.ZipFile, part: str) -> _Element:
    try:
        return etree.fromstring(archive.read(part), etree.XMLParser(recover=True, resolve_entities=False))
    except (KeyError, etree.XMLSyntaxError):
        return None


def _join(root: _Element, texts: frozenset[str] | None, left_out: Callable[[_Element], bool]) -> str:
    """Join the text of elements with some names, or of all, with a space at the edges of paragraphs and cells."""
    out: list[str] = []

    def walk(element: _Element) -> None:
        if not isinstance(element.tag, str) or left_out(element):
            return
        name = _name(element)
        is_raised = any(
            each.get(key) == "superscript" for each in element.iterfind("{*}rPr/{*}vertAlign") for key in each.attrib
        )
        is_raised = is_raised or element.find("{*}rPr[@baseline]") is not None or name == "sup"
        if name in _BLOCKS or (is_raised and "".join(element.itertext()).strip() not in _ORDINALS):
            out.append(" ")
        if texts is None or name in texts:
            out.append(element.text or "")
        for child in element:
            walk(child)
            if texts is None:
                out.append(child.tail or "")
        if name in _BLOCKS or is_raised:
            out.append(" ")

    if root is not None:
        walk(root)
    return "".join(out)


def _read_docx(archive: zipfile.ZipFile) -> str:
    styles = _parse(archive, "word/styles.xml")
    hidden: set[str] = set()
    for style in styles.iter("{*}style") if styles is not None else ():
        if style.find("{*}rPr/{*}vanish") is not None:
            hidden.update(value for key, value in style.attrib.items() if key.endswith("styleId"))

    def left_out(element: _Element) -> bool:
        name = _name(element)
        if name == "r":
            properties = element.find("{*}rPr")
            if properties is not None:
                vanish = properties.find("{*}vanish")
                style = properties.find("{*}rStyle")
                if vanish is not None and "0" not in vanish.attrib.values():
                    return True
                return style is not None and bool(hidden.intersection(style.attrib.values()))
        if name == "Fallback":
            return element.getparent().find("{*}Choice") is not None
        if name == "tr":
            return element.find("{*}trPr/{*}del") is not None
        return name in ("del", "moveFrom", "instrText", "delText")

    texts = frozenset({"t", "noBreakHyphen"})
    parts = [_find_main(archive, "word/document.xml")]
    main = _parse(archive, parts[0])
    cited = (
        {
            (_name(each).removesuffix("Reference"), value)
            for each in main.iter("{*}footnoteReference", "{*}endnoteReference")
            for key, value in each.attrib.items()
            if key.endswith("}id")
        }
        if main is not None
        else set()
    )
    out = [_join(main, texts, left_out)]
    for kind in ("footnote", "endnote"):
        root = _parse(archive, f"word/{kind}s.xml")
        for note in root.iter(f"{{*}}{kind}") if root is not None else ():
            if any((kind, value) in cited for value in note.attrib.values()):
                out.append(_join(note, texts, left_out))
    return " ".join(out)


def _find_main(archive: zipfile.ZipFile, default: str) -> str:
    relations = _parse(archive, "_rels/.rels")
    for each in relations if relations is not None else ():
        if each.get("Type", "").endswith("/officeDocument"):
            return posixpath.normpath(str(each.get("Target", "")).lstrip("/"))
    return default


_ODT_LEFT_OUT = ("tracked-changes", "annotation", "-decls", "forms", "table-of-content", "-index", "-source")


def _read_odt(archive: zipfile.ZipFile) -> str:
    root = _parse(archive, "content.xml")
    hidden: set[str] = set()
    for style in root.iter("{*}style") if root is not None else ():
        if any(value == "none" for each in style for key, value in each.attrib.items() if key.endswith("}display")):
            hidden.update(value for key, value in style.attrib.items() if key.endswith("}name"))
    body = root.find("{*}body/{*}text") if root is not None else None

    def left_out(element: _Element) -> bool:
        name = _name(element)
        if any(key.endswith("}style-name") and value in hidden for key, value in element.attrib.items()):
            return True
        return name.endswith(_ODT_LEFT_OUT) or name in (
            "note-citation",
            "desc",
            "title",
            "covered-table-cell",
            "script",
        )

    return _join(body, None, left_out)


def _read_pptx(archive: zipfile.ZipFile) -> str:
    def left_out(element: _Element) -> bool:
        if _name(element) == "Fallback":
            return element.getparent().find("{*}Choice") is not None
        kinds = [each.get("type") for each in element.findall("{*}nvSpPr/{*}nvPr/{*}ph")]
        return bool({"dt", "ftr", "hdr", "sldNum"}.intersection(kinds))

    shown = _parse(archive, "ppt/presentation.xml")
    relations = _parse(archive, "ppt/_rels/presentation.xml.rels")
    targets = {each.get("Id"): each.get("Target", "") for each in (relations if relations is not None else ())}
    out: list[str] = []
    for slide in shown.iter("{*}sldIdLst") if shown is not None else ():
        for each in slide:
            ids = [value for key, value in each.attrib.items() if key.endswith("}id")]
            part = posixpath.normpath(posixpath.join("ppt", targets.get(ids[0] if ids else "", ""))).lstrip("/")
            part = part.removeprefix("ppt/ppt/") if part.startswith("ppt/ppt/") else part
            out.append(_join(_parse(archive, part), frozenset({"t"}), left_out))
    return " ".join(out)


def _read_xlsx(archive: zipfile.ZipFile) -> str:
    """Read the cells: texts, and numbers whose format is not that of a date."""
    strings = _parse(archive, "xl/sharedStrings.xml")
    shared = [
        _join(each, frozenset({"t"}), lambda element: _name(element) in ("rPh", "phoneticPr"))
        for each in (strings.iterfind("{*}si") if strings is not None else ())
    ]
    styles = _parse(archive, "xl/styles.xml")
    plain = _list_plain_styles(styles)
    out: list[str] = []
    for part in archive.namelist():
        if not re.fullmatch(r"xl/worksheets/[^/]+\.xml", part):
            continue
        sheet = _parse(archive, part)
        for cell in sheet.iter("{*}c") if sheet is not None else ():
            value = cell.findtext("{*}v") or ""
            match cell.get("t", "n"):
                case "s" if value.strip().isdigit() and int(value) < len(shared):
                    out.append(shared[int(value)])
                case "inlineStr":
                    out.append(_join(cell, frozenset({"t"}), lambda _: False))
                case "str":
                    out.append(value)
                case "n" if value and int(cell.get("s") or 0) in plain:
                    out.append(_format_number(value))
    return " ".join(out)


def _list_plain_styles(styles: _Element) -> set[int]:
    if styles is None:
        return {0}
    codes = {each.get("numFmtId"): each.get("formatCode", "") for each in styles.iter("{*}numFmt")}
    cells = styles.find("{*}cellXfs")
    plain: set[int] = set()
    for number, each in enumerate(cells if cells is not None else ()):
        kind = each.get("numFmtId", "0")
        code = re.sub(r'"[^"]*"|\\.|\[[^\]]*\]', "", codes.get(kind, ""))
        is_date = kind.isdigit() and (14 <= int(kind) <= 22 or 27 <= int(kind) <= 36 or 45 <= int(kind) <= 58)
        if not is_date and not re.search("[dmyhs]", code, re.IGNORECASE):
            plain.add(number)
    return plain or {0}


def _format_number(value: str) -> str:
    """Write a number as Excel shows it in a wide cell, with at most 15 digits in its fraction."""
    try:
        number = float(value)
    except ValueError:
        return value
    return str(int(number)) if number.is_integer() and abs(number) < 1e21 else f"{number:.15g}"


def _read_ods(archive: zipfile.ZipFile) -> str:
    root = _parse(archive, "content.xml")
    out: list[str] = []
    for cell in root.iter("{*}table-cell") if root is not None else ():
        kinds = {value for key, value in cell.attrib.items() if key.endswith("}value-type")}
        if "string" in kinds or not kinds:
            out += [_join(p, None, lambda element: _name(element) == "annotation") for p in cell.iterfind("{*}p")]
    return " ".join(out)


def _read_epub(archive: zipfile.ZipFile) -> str:
    container = _parse(archive, "META-INF/container.xml")
    part = next(each.get("full-path", "") for each in container.iter("{*}rootfile"))
    package = _parse(archive, part)
    items = {each.get("id"): each for each in package.iter("{*}item")}
    out: list[str] = []
    names = {name.lower(): name for name in archive.namelist()}
    for ref in dict.fromkeys(each.get("idref") for each in package.iter("{*}itemref")):
        item = items.get(ref)
        if item is None or "nav" in item.get("properties", "").split() or "svg" in item.get("media-type", ""):
            continue
        name = posixpath.normpath(posixpath.join(posixpath.dirname(part), item.get("href", "")))
        root = _parse(archive, names.get(name.lower(), name))
        body = root.find("{*}body") if root is not None else None
        out.append(_join(body, None, _is_left_out_of_page))
    return " ".join(out)


def _is_left_out_of_page(element: _Element) -> bool:
    hidden = element.get("hidden") is not None or "display:none" in element.get("style", "").replace(" ", "")
    names = (
        "script",
        "style",
        "nav",
        "svg",
        "audio",
        "video",
        "iframe",
        "object",
        "math",
        "rp",
        "template",
        "noscript",
    )
    return hidden or _name(element) in names


_READERS: dict[str, Callable[[zipfile.ZipFile], str]] = {
    "docx": _read_docx,
    "docm": _read_docx,
    "odt": _read_odt,
    "pptx": _read_pptx,
    "xlsx": _read_xlsx,
    "xlsm": _read_xlsx,
    "ods": _read_ods,
    "epub": _read_epub,
}


def measure_file(path: Path) -> tuple[Words, Words, Words, float] | str:
    """Return the words of an independent reading, ours, those that we invented, and our seconds.

    Or return why we refuse the file.
    """
    kind = path.suffix[1:].lower()
    formats = {name: each for each, names in NAMES_BY_FORMAT.items() for name in names}
    source_format: Format = formats[path.suffix.lower()]
    data = path.read_bytes()
    started = time.process_time()
    try:
        text = get_converter(source_format)(data, path.name).text
    except (RoamtuiError, Exception) as error:  # noqa: BLE001 - as the subprocess: any error refuses a file
        return f"{type(error).__name__}: {error}"
    seconds = time.process_time() - started
    with zipfile.ZipFile(path) as archive:
        theirs = read_words(_READERS[kind](archive))
        known = read_all_words(archive)
    own = read_our_words(_ADDED.sub(" ", _LIST_NUMBER.sub(r"\1", text)))
    squeezed = "".join(theirs)
    new = Words(
        {
            word: count
            for word, count in own.items()
            if word not in known and word not in theirs and _is_new(word, squeezed)
        }
    )
    return theirs, read_our_words(text), new, seconds


def main(folder: str) -> None:
    """Print a row for each format, and the worst files."""
    rows: dict[str, list[tuple[Path, Words, Words, Words, float]]] = {}
    refused: list[str] = []
    for path in sorted(each for each in Path(folder).rglob("*") if each.suffix[1:].lower() in _READERS):
        try:
            result = measure_file(path)
        except Exception as error:  # noqa: BLE001 - broken for the independent reading
            refused.append(f"  {path.name}: unreadable: {error}")
            continue
        if isinstance(result, str):
            refused.append(f"  {path.name}: {result[:100]}")
        else:
            rows.setdefault(path.suffix[1:].lower(), []).append((path, *result))
    _write_lines("| format | files | words | lost | invented | numbers lost | numbers invented | seconds |")
    _write_lines(f"|{'---|' * 8}")
    details: list[tuple[int, str]] = []
    for kind, files in rows.items():
        total, lost, invented = Words(), Words(), Words()
        for path, theirs, ours, new, _ in files:
            file_lost = theirs - ours
            total, lost, invented = total + theirs, lost + file_lost, invented + new
            if file_lost or new:
                shown = f"-{dict(file_lost.most_common(12))} +{dict(new.most_common(12))}"
                details.append((file_lost.total() + new.total(), f"{kind} {path.name}: {shown}"))
        numbers = [sum(n for word, n in words.items() if _NUMBER.fullmatch(word)) for words in (lost, invented)]
        shares = [f"{words.total()} ({words.total() / max(1, total.total()):.3%})" for words in (lost, invented)]
        seconds = sum(file[-1] for file in files)
        cells = (kind, len(files), total.total(), *shares, *numbers, f"{seconds:.1f}")
        _write_lines(f"| {' | '.join(map(str, cells))} |")
    _write_lines(*(line for _, line in sorted(details, reverse=True)[:_SHOWN_MAX]))
    _write_lines(f"{len(refused)} refused", *refused)


def _write_lines(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def _is_new(word: str, squeezed: str) -> bool:
    """Check whether a word was not made of neighbours, as in a formula."""
    return bool(_NUMBER.fullmatch(word)) or word not in squeezed


if __name__ == "__main__":
    main(sys.argv[1])
