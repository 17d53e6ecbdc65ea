"""The constructs that Markdown can contain, each as a text with the words that it shows."""

import json
from dataclasses import dataclass

from tests.case_files import read_rows
from tests.real_documents import find_data_dir

LONG = 20_000
"""Length in characters of the longest lines."""


def _number_words(word: str) -> str:
    """Return a long line of a word with growing numbers: an answer that only repeats itself would be stopped."""
    return "".join(f"{word}{number}" for number in range(LONG // (len(word) + 4)))


@dataclass(frozen=True, slots=True)
class Construct:
    """A text, and the words that it shows; None for those of markdown-it-py's rendering."""

    name: str
    text: str
    words: str | None = None


OWN_CONSTRUCTS = (
    *(Construct(*row) for row in read_rows("matrices/constructs", "constructs")),
    Construct("wide table", "|" + " c |" * 30 + "\n|" + "---|" * 30 + "\n|" + " a |" * 30 + "\n"),
    Construct("nested lists", "".join("  " * depth + f"- item{depth}\n" for depth in range(30))),
    Construct("long word", _number_words("x") + "\n"),
    Construct("long line", _number_words(" and word") + "\n"),
    Construct("long heading", "#" + _number_words(" word") + "\n"),
    Construct("long cell", "| a | b |\n|---|---|\n| c |" + _number_words(" word") + " |\n"),
    Construct("long code", "```\nx = " + _number_words("x") + "\n```\n"),
    Construct("long link", "[words](https://example.org/" + _number_words("a") + ")\n"),
    Construct("long formula", "$y" + _number_words(" + x") + "$\n"),
    Construct("long row of marks", "*_`<!$" * (LONG // 6) + "\n"),
    Construct("brackets", "> " + "[" * 500 + "\n"),
)


def list_constructs() -> list[Construct]:
    """List our own constructs and a sixth of the examples of the CommonMark specification, if these are here."""
    path = find_data_dir() / "spec" / "commonmark-spec-tests.json"
    examples = json.loads(path.read_text("utf-8"))[::6] if path.is_file() else []
    return [*OWN_CONSTRUCTS, *(Construct(f"example {example['example']}", example["markdown"]) for example in examples)]
