"""A small folder of documents with questions about them, and their files."""

import json
from pathlib import Path
from typing import Any

from tests.case_files import read_case

BOATS = read_case("boats.md")
BIKES = read_case("bikes.md")


def write_folder(folder: Path) -> Path:
    """Write the documents below `folder` and return it."""
    (folder / "hire").mkdir(parents=True)
    (folder / "hire" / "boats.md").write_text(BOATS, "utf-8")
    (folder / "bikes.md").write_text(BIKES, "utf-8")
    return folder


def write_questions(path: Path, *questions: dict[str, Any] | str) -> Path:
    """Write questions, or lines as they are, to a file and return it."""
    lines = [question if isinstance(question, str) else json.dumps(question) for question in questions]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


CANOE = {
    "id": "canoe",
    "doc": "hire/boats.md",
    "question": "What does a canoe cost an hour?",
    "gold_section_titles_path": ["Boats", "Prices", "Canoe"],
    "gold_line": 13,
}
TYRE = {"id": "tyre", "doc": "bikes.md", "question": "Who mends a flat tyre?", "gold_line": 9}
JACKET = {"id": "jacket", "doc": "hire/boats.md", "question": "Who wears a life jacket?", "path": ["Safety"]}
