"""What conversion loses, beside independent readers: `python -m tests.benchmarks.conversion FOLDER`.

`conversion_files.json` lists files of other projects. They were chosen by their digests before the first run. Rules of
converters may be made with the half "tune", never with the half "report". FOLDER has each file as `DIGEST.suffix`;
`--mirror` copies them from Git repositories (`MIRROR/owner+name/repo`). They are not in this repository.

The readers are pandoc 3.9, openpyxl and python-pptx in an environment of their own: `pip install pypandoc_binary
openpyxl python-pptx`, with its packages in `PYTHONPATH` and its pandoc in `PATH`; Chromium for pages, and poppler for
PDFs. What docs/sources.md leaves out is taken out of what they read, by the XML.

- Lost: words that the reader has and the Markdown lacks, counted; so are numbers, without zeros around them.
- Invented: words that the Markdown has more often than both the reader and the XML of the file. Not counted, because no
  reader has them: numbers that Word writes before a paragraph, titles and boxes to tick that the converter makes, the
  repeated head of a long sheet, and the text of a merged cell in its other columns and rows.
- Moved: places of three words that are once in both texts, and not in the same order. Notes are at the end of both.

Formulas count by their letters and digits only: pandoc writes them as TeX.
"""

import argparse
import hashlib
import io
import json
import re
import subprocess
import sys
import unicodedata
import zipfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from roamtui.convert.conversion import convert, detect_format
from roamtui.convert.zip_package import ZIP_START
from roamtui.errors import SourceError
from tests.benchmarks.conversion_pages import READERS as PAGE_READERS
from tests.benchmarks.conversion_pages import drop_additions, list_sources
from tests.benchmarks.conversion_readers import READERS as OFFICE_READERS
from tests.benchmarks.conversion_readers import REPEATED, parse_part, read_by_pandoc

_READERS = OFFICE_READERS | PAGE_READERS
_LIST = Path(__file__).with_name("conversion_files.json")
_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_DIVIDED = re.compile(r"([^\W\d_]+)[-\xad\u2010]\n\s*([^\W\d_]+)")
"""A word at a line end that may be divided, or joined by a hyphen."""
_LABEL = re.compile(r"^(?:\W*[^\W_]{1,5}[.):])+(?:[^\W_]{1,5}\b)?|^\W*[\d.]+\b")
_ADDITION = re.compile(
    r"^#+ (?:Slide \d+\b.*|Named areas)$|^\*\*Notes:\*\*$| \(hidden\)$|\[x\]|^## Rows [\d,]+–[\d,]+\n\n\|.*$",
    re.MULTILINE,
)
"""What the converter adds: titles, boxes to tick, and the repeated heads of long sheets."""
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_WORDY_ATTRIBUTES = frozenset(
    "descr title name alt val value label formatCode ref string string-value current-value".split()  # noqa: SIM905
)
_WHOLE = frozenset({"p", "h", "si", "is"})
"""Elements that are one text, whatever is in them."""
_PAGES = (".htm", ".html", ".mht", ".txt")
_DIGEST_LENGTH = 8
_WORST = 10
_BREAKS = frozenset({"tab", "br", "cr", "s", "line-break"})


class Score(NamedTuple):
    """What was compared of a file, or of several: sums of words."""

    words: int = 0
    lost: int = 0
    invented: int = 0
    moved: int = 0
    numbers: int = 0
    """Lost numbers, which are among the lost words."""


class Comparison(NamedTuple):
    score: Score
    lost: Sequence[str] = ()
    invented: Sequence[str] = ()
    refusal: str = ""


def list_words(text: str) -> list[str]:
    """List the words of a text. A number has no zeros around it, because formats of numbers add some."""
    words = _WORD.findall(_THOUSANDS.sub("", unicodedata.normalize("NFKC", text).casefold()))
    return [f"{float(word):.12g}" if word[0].isdecimal() and len(word) < 300 else word for word in words]


def count_package_words(data: bytes) -> Counter[str]:
    """Count the words of all XML in an archive, also those in attributes that are shown."""
    counts = Counter[str]()
    if not data.startswith(ZIP_START):
        return counts
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            counts.update(list_words(archive.read(name).decode("utf-8", "replace")) if name.endswith(_PAGES) else ())
            for each in parse_part(name, archive.read(name)).iter("{*}*"):
                tag = etree.QName(each).localname
                counts.update(list_words("".join(_iter_texts(each)) if tag in _WHOLE else each.text or ""))
                counts.update(list_words(" ".join(each.get(key) for key in each.attrib if _is_wordy(key))))
                if tag == "table-cell":  # pandoc does not tell which columns and rows it covers
                    spans = [int(value) for key, value in each.items() if key.endswith("-spanned")]
                    counts.update(list_words("".join(_iter_texts(each))) * (prod(spans) - 1))
    return counts


def _iter_texts(element: Any) -> Iterator[str]:  # noqa: ANN401 - lxml has no types
    for each in element.iter("{*}*"):
        yield " " if etree.QName(each).localname in _BREAKS else each.text or ""
        yield (each.tail or "") if each is not element else ""


def _is_wordy(key: str) -> bool:
    return key.rpartition("}")[2] in _WORDY_ATTRIBUTES


def count_moved(reader: Sequence[str], own: Sequence[str]) -> int:
    """Count the places of three words that are once in both texts, but in another order."""
    places = []
    for words in (reader, own):
        triples = list(zip(words, words[1:], words[2:], strict=False))
        counts = Counter(triples)
        places.append({triple: place for place, triple in enumerate(triples) if counts[triple] == 1})
    order = [places[1][triple] for triple in places[0] if triple in places[1]]
    ends: list[int] = []
    for place in order:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
    return len(order) - len(ends)


def compare_texts(markdown: str, texts: Sequence[str], package: Counter[str]) -> Comparison:
    """Compare Markdown with what an independent reader reads, in one order or several; the least count is moved."""
    own_text = read_by_pandoc(markdown.encode(), "gfm-emoji-tex_math_dollars")
    own = list_words(own_text)
    additions = Counter(list_words("\n".join(match[0] for match in _ADDITION.finditer(markdown))))
    allowed = Counter(list_words(texts[0])) | package
    words, *others = (list_words(_join_divided(REPEATED.sub("", text), own)) for text in texts)
    lost = Counter(words) - Counter(own)
    labels = Counter(
        word for line in own_text.splitlines() if (start := _LABEL.match(line)) for word in list_words(start[0])
    )
    invented = Counter(own) - (Counter(words) | allowed) - labels - additions
    numbers = sum(count for word, count in lost.items() if word[0].isdecimal())
    moved = min(count_moved(order, own) for order in (words, *others))
    score = Score(len(words), lost.total(), invented.total(), moved, numbers)
    return Comparison(score, [*lost.elements()], [*invented.elements()])


def _join_divided(text: str, own: Sequence[str]) -> str:
    """Join the words that are divided at line ends if the Markdown has them whole."""
    known = {*own}
    return _DIVIDED.sub(
        lambda match: match[1] + match[2] if f"{match[1]}{match[2]}".casefold() in known else match[0], text
    )


def compare_file(path: Path) -> Comparison:
    """Compare a file. If the reader refuses it, nothing is counted; if only roamtui does, all its words are lost."""
    data = path.read_bytes()
    kind = path.suffix[1:]
    problem = ""
    sources = Counter[str]()
    try:
        read = _READERS[kind](data)
        texts = [read] if isinstance(read, str) else read
        for source in list_sources(data, kind):
            sources |= Counter(list_words(source))
    except Exception as error:  # noqa: BLE001 - readers raise many errors
        texts = [""]
        problem = f"The reader fails: {type(error).__name__}"
    words = list_words(REPEATED.sub("", texts[0]))
    refusal = Score(len(words), len(words))
    name = path.name[:_DIGEST_LENGTH] + path.suffix
    source_format = detect_format(data, name)
    if source_format is None:
        return Comparison(refusal, words, refusal="Its format is not detected.")
    try:
        markdown = convert(data, name, source_format).text
    except SourceError as error:
        return Comparison(refusal, words, refusal=str(error))
    if problem:
        return Comparison(Score(), refusal=problem)
    own = drop_additions(markdown) if kind == "pdf" else markdown
    return compare_texts(own, texts, sources or count_package_words(data))


def copy_files(entries: Sequence[dict[str, str]], mirror: Path, folder: Path) -> None:
    """Copy the files of the list from Git repositories, and check their digests."""
    folder.mkdir(exist_ok=True)
    for entry in entries:
        repository = mirror / entry["repository"].replace("/", "+") / "repo"
        show = ["git", "-C", str(repository), "show", f"{entry['commit']}:{entry['path']}"]
        data = subprocess.run(show, capture_output=True, check=True).stdout
        if hashlib.sha256(data).hexdigest() != entry["sha256"]:
            sys.exit(f"{entry['path']} has another digest.")
        get_path(entry, folder).write_bytes(data)


def get_path(entry: dict[str, str], folder: Path) -> Path:
    return folder / f"{entry['sha256']}{Path(entry['path']).suffix.lower()}"


def write_report(compared: Sequence[tuple[dict[str, str], Comparison]], kind: str) -> str:
    """Write a row for each half, the worst files of the half "tune", and what is said of refused files."""
    rows = []
    for half in ("tune", "report"):
        scores = [comparison.score for entry, comparison in compared if entry["half"] == half]
        total = Score(*map(sum, zip(Score(), *scores, strict=True)))
        shares = (f"{value:,} ({value / max(1, total.words):.3%})" for value in total[1:])
        rows.append(f"| {kind} | {half} | {len(scores)} | {total.words:,} | {' | '.join(shares)} |")
    worst = sorted(compared, key=lambda pair: sum(pair[1].score[1:]), reverse=True)
    shown = [pair for pair in worst if pair[0]["half"] == "tune"][:_WORST]
    for entry, comparison in shown + [pair for pair in worst if pair[1].refusal]:
        name = f"{entry['sha256'][:_DIGEST_LENGTH]} {entry['repository']} {entry['path']}"
        rows.append(f"  {name}: {', '.join(map(str, comparison.score))} {comparison.refusal}")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Print a report of each format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=Path, default=_LIST, help="another list of files")
    parser.add_argument("--mirror", type=Path)
    parser.add_argument("--formats", nargs="+", choices=_READERS, default=[*_READERS])
    parser.add_argument("--show", help="the start of a digest: print which words of this file are lost and invented")
    given = parser.parse_args()
    entries = json.loads(given.files.read_text("utf-8"))
    if given.mirror:
        copy_files(entries, given.mirror, given.folder)
    if given.show:
        found = compare_file(next(given.folder.glob(f"{given.show}*")))
        sys.stdout.write(f"lost: {' '.join(found.lost)}\ninvented: {' '.join(found.invented)}\n{found.refusal}\n")
        return
    sys.stdout.write(f"| format | half | files | {' | '.join(Score._fields)} |\n|---|---|{'---:|' * 6}\n")
    for kind in given.formats:
        paths = {get_path(entry, given.folder): entry for entry in entries}
        compared = [(entry, compare_file(path)) for path, entry in paths.items() if path.suffix == f".{kind}"]
        sys.stdout.write(write_report(compared, kind))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
