"""Compares the heading scan with a full parse on every real file, the large ones too: `python -m` this module."""

from __future__ import annotations

import gzip
import json
import sys

from roamtui.document.parse import parse_document
from tests.document.invariants import read_sections
from tests.document.judge import judge_outline
from tests.real_documents import decode, find_data_dir, list_documents

_PATTERNS = ("books/*.md", "llms/files/*", "llms/full/*", "sets/*/docs/**/*.*", "perf/*.md.gz")


def main() -> int:
    """Compare, print what differs and how much was compared, and return 1 where anything differs."""
    files = examples = headings = characters = different = 0
    for name in list_documents(*_PATTERNS):
        path = find_data_dir() / name
        if not path.is_file():
            continue
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        count = _compare(decode(content), name)
        files, characters = files + 1, characters + len(content)
        headings, different = headings + max(0, count), different + (count < 0)
    for name in list_documents("spec/*.json"):
        for number, example in enumerate(json.loads((find_data_dir() / name).read_text("utf-8")), 1):
            count = _compare(example["markdown"], f"{name} {number}")
            examples, headings, different = examples + 1, headings + max(0, count), different + (count < 0)
    sys.stdout.write(
        f"{files:,} files ({characters / 1e6:.1f} MB) and {examples:,} examples of specifications, "
        f"{headings:,} headings: {different} differ\n"
    )
    return 1 if different else 0


def _compare(text: str, name: str) -> int:
    """Return how many headings a text has, -1 where the two do not agree."""
    found = read_sections(parse_document(text))
    judged = judge_outline(text)
    if [(level, title.strip(), line) for level, title, line in found] == [
        (level, title.strip(), line) for level, title, line in judged
    ]:
        return len(found)
    sys.stdout.write(f"{name} differs\n")
    return -1


if __name__ == "__main__":
    sys.exit(main())
