"""Books, llms.txt files, hostile files and specification examples: all headings are found, and no text is lost."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from roamtui.document.document import Document
from roamtui.document.parse import parse_document
from tests.document.invariants import (
    assert_ids_follow_the_contract,
    assert_is_lossless,
    assert_is_nested,
    assert_tokens_add_up,
    read_sections,
)
from tests.document.judge import judge_outline
from tests.real_documents import decode, list_documents, read_document

_BOOKS = list_documents("books/*.md", "llms/files/*.txt", "llms/full/*.txt")
_HOSTILE = list_documents("adversarial/files/*")


@lru_cache(maxsize=4)
def _parse(name: str) -> Document:
    return parse_document(read_document(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", list_documents("books/*.md", "llms/files/*.txt")[::3])
def test_the_headings_of_real_documents_match_a_full_parse(name: str) -> None:
    assert read_sections(_parse(name)) == judge_outline(read_document(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*_BOOKS, *_HOSTILE])
def test_nothing_of_a_document_is_lost(name: str) -> None:
    document = _parse(name)
    assert document.text == read_document(name)
    assert_is_lossless(document)
    assert_is_nested(document)
    assert_ids_follow_the_contract(document)
    assert_tokens_add_up(document)


def test_the_headings_of_hostile_files_match_the_manifest(data_dir: Path) -> None:
    folder = data_dir / "adversarial"
    wrong = {}
    for case in json.loads((folder / "MANIFEST.json").read_text()):
        found = read_sections(parse_document(decode((folder / case["file"]).read_bytes())))
        if found not in _list_right_outlines(case) and not case.get("expected_unchecked"):
            wrong[case["file"]] = found
    assert wrong == {}


def _list_right_outlines(case: dict[str, Any]) -> list[list[tuple[int, str, int]]]:
    outlines = [case["expected"]]
    if isinstance(case.get("also_ok"), list):
        outlines.append(case["also_ok"])
    return [[(level, title, line) for level, title, line in outline] for outline in outlines]


@pytest.mark.parametrize("name", ["commonmark-spec-tests.json", "gfm-spec-tests.json"])
def test_the_headings_of_specification_examples_match_a_full_parse(name: str, data_dir: Path) -> None:
    wrong = []
    for case in json.loads((data_dir / "spec" / name).read_text()):
        document = parse_document(case["markdown"])
        assert_is_lossless(document)
        if read_sections(document) != judge_outline(case["markdown"]):
            wrong.append((case["example"], case["markdown"]))
    assert wrong == []
