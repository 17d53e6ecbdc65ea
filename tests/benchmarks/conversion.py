"""What conversion loses, beside independent readers: `python -m tests.benchmarks.conversion FOLDER`.

`conversion_files.json` lists files of other projects. They were chosen by their digests before the first run. Rules of
converters may be made with the half "tune", never with the half "report". FOLDER has each file as `DIGEST.suffix`;
`--mirror` copies them from Git repositories (`MIRROR/owner+name/repo`). They are not in this repository.

The readers are pandoc 3.9, openpyxl and python-pptx in an environment of their own: `pip install pypandoc_binary
openpyxl python-pptx`, with its packages in `PYTHONPATH` and its pandoc in `PATH`; Chromium for pages, and poppler for
PDFs. What docs/sources.md leaves out is taken out of what they read, by the XML.

Words that the reader has and the Markdown lacks are lost; so are numbers, which have no zeros around them. Formulas
count by their letters and digits only: pandoc writes them as TeX.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from roamtui.convert.conversion import convert, detect_format
from roamtui.errors import SourceError
from tests.benchmarks.conversion_pages import READERS as PAGE_READERS
from tests.benchmarks.conversion_readers import READERS as OFFICE_READERS
from tests.benchmarks.conversion_readers import read_by_pandoc

_READERS = OFFICE_READERS | PAGE_READERS
_LIST = Path(__file__).with_name("conversion_files.json")
_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_DIVIDED = re.compile(r"([^\W\d_]+)[-\xad\u2010]\n\s*([^\W\d_]+)")
"""A word at a line end that may be divided, or joined by a hyphen."""
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DIGEST_LENGTH = 8
_WORST = 10
_ITEM_NUMBER = re.compile(r"^(\d+)(?=[.)] )", re.MULTILINE)


class Score(NamedTuple):
    """What was compared of a file, or of several: sums of words."""

    words: int = 0
    lost: int = 0
    numbers: int = 0
    """Lost numbers, which are among the lost words."""


class Comparison(NamedTuple):
    score: Score
    lost: Sequence[str] = ()
    refusal: str = ""


def list_words(text: str) -> list[str]:
    """List the words of a text. A number has no zeros around it, because formats of numbers add some."""
    words = _WORD.findall(_THOUSANDS.sub("", unicodedata.normalize("NFKC", text).casefold()))
    return [f"{float(word):.12g}" if word[0].isdecimal() and len(word) < 300 else word for word in words]


def compare_texts(markdown: str, text: str) -> Comparison:
    """Compare Markdown with what an independent reader reads."""
    own = list_words(read_by_pandoc(markdown.encode(), "gfm-emoji-tex_math_dollars"))
    words = list_words(_join_divided(text, own))
    lost = Counter(words) - Counter(own)
    numbers = sum(count for word, count in lost.items() if word[0].isdecimal())
    return Comparison(Score(len(words), lost.total(), numbers), [*lost.elements()])


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
    text = ""
    try:
        text = _READERS[kind](data)
    except Exception as error:  # noqa: BLE001 - readers raise many errors
        problem = f"The reader fails: {type(error).__name__}"
    words = list_words(text)
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
    # pandoc does not count the numbers of items as words
    return compare_texts(_ITEM_NUMBER.sub(r"\1\\", markdown) if kind == "pdf" else markdown, text)


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
    worst = sorted(compared, key=lambda pair: pair[1].score.lost, reverse=True)
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
    parser.add_argument("--show", help="the start of a digest: print which words of this file are lost")
    given = parser.parse_args()
    entries = json.loads(given.files.read_text("utf-8"))
    if given.mirror:
        copy_files(entries, given.mirror, given.folder)
    if given.show:
        found = compare_file(next(given.folder.glob(f"{given.show}*")))
        sys.stdout.write(f"lost: {' '.join(found.lost)}\n{found.refusal}\n")
        return
    sys.stdout.write(f"| format | half | files | {' | '.join(Score._fields)} |\n|---|---|{'---:|' * 4}\n")
    for kind in given.formats:
        paths = {get_path(entry, given.folder): entry for entry in entries}
        compared = [(entry, compare_file(path)) for path, entry in paths.items() if path.suffix == f".{kind}"]
        sys.stdout.write(write_report(compared, kind))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
