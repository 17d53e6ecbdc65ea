"""How much of the outline that people see is one of sections: `python -m tests.benchmarks.outlines [FOLDER]`.

In contracts, the clauses that hold the answers of the question set. Their headings come from its authors, so the texts
are also read without the marks of their headings. Rules were written from every second contract by name. In a FOLDER,
the outlines `NAME.txt` that a person wrote of the documents `NAME.*` beside them, a title on each line.
"""

import json
import re
import sys
from pathlib import Path

from roamtui.document.document import Document, NodeKind
from roamtui.document.loader import open_sources
from roamtui.document.parse import parse_document
from tests.real_documents import find_data_dir

_MARKS = re.compile(r"^#+ ", re.MULTILINE)
_NON_WORD = re.compile(r"[\W_]+")


def list_titles(document: Document) -> list[str]:
    """Return the titles of all sections as keys to compare."""
    rows = zip(document.columns.kinds, document.columns.titles, strict=True)
    return [_make_key(title) for kind, title in rows if kind is NodeKind.SECTION]


def count_gold_clauses(folder: Path, *, has_marks: bool, half: int | None = None) -> tuple[int, int]:
    """Return how many gold clauses of contracts start a section, and how many there are; of one half if given."""
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    golds = {(each["doc"], each["gold_line"]) for each in questions}
    found = count = 0
    for number, name in enumerate(sorted({name for name, _ in golds})):
        if half is None or number % 2 == half:
            text = (folder / "docs" / name).read_text("utf-8")
            document = parse_document(text if has_marks else _MARKS.sub("", text))
            starts = set(document.columns.starts)
            lines = {line for gold, line in golds if gold == name}
            found += sum(document.line_starts[line - 1] in starts for line in lines)
            count += len(lines)
    return found, count


def count_titles(source: Path) -> tuple[int, int, int]:
    """Return how many titles of an outline by hand are in those of sections, their number, and that of sections."""
    wanted = [_make_key(line) for line in source.with_suffix(".txt").read_text("utf-8").splitlines() if line.strip()]
    sections = list_titles(open_sources([str(source)])[0].root)
    left = list(sections)
    for title in wanted:
        match = next((each for each in left if title in each or (each and each in title)), None)
        if match is not None:
            left.remove(match)
    found = len(sections) - len(left)
    return found, len(wanted), len(sections)


def _make_key(title: str) -> str:
    return _NON_WORD.sub("", title).casefold()


def main() -> None:
    """Count clauses, and titles of the documents in the folder that is named, if any."""
    for has_marks in (True, False):
        for half, name in enumerate(("unseen", "seen")):
            found, count = count_gold_clauses(
                find_data_dir() / "sets" / "cuad-contracts", has_marks=has_marks, half=half
            )
            marks = "with" if has_marks else "without"
            sys.stdout.write(f"clauses {marks} marks, {name} contracts: {found}/{count}\n")
    for folder in map(Path, sys.argv[1:]):
        for outline in sorted(folder.glob("*.txt")):
            source = next(path for path in folder.glob(f"{outline.stem}.*") if path != outline)
            found, count, sections = count_titles(source)
            sys.stdout.write(f"{outline.stem}: {found} of {count} titles, {sections} sections\n")


if __name__ == "__main__":
    main()
