"""Compares the heading scan with a full parse on every real file: `python -m tests.soak.compare_headings`."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator

from roamtui.document.parse import parse_document
from tests.document.invariants import read_sections
from tests.document.judge import judge_outline
from tests.real_documents import decode, find_data_dir, list_documents

_PATTERNS = ("books/*.md", "llms/files/*", "llms/full/*", "sets/*/docs/**/*.*", "perf/*.md.gz")


def list_texts(*patterns: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file."""
    for name in list_documents(*patterns):
        path = find_data_dir() / name
        if path.is_file():
            yield name, decode(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())


def main() -> int:
    """Compare, print what differs and how much was compared, and return 1 if anything differs."""
    texts = headings = different = 0
    for name, text in list_texts(*(sys.argv[1:] or _PATTERNS)):
        found, judged = (
            [(level, title.strip(), line) for level, title, line in outline]
            for outline in (read_sections(parse_document(text)), judge_outline(text))
        )
        texts, headings, different = texts + 1, headings + len(found), different + (found != judged)
        if found != judged:
            sys.stdout.write(f"{name} differs\n")
    sys.stdout.write(f"{texts:,} texts, {headings:,} headings: {different} differ\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
