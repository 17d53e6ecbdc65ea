"""Rules on questions with known sections: whether search, and the outline, lead there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from roamtui.checking.facts import AskedQuestion, Facts, Finding, Place
from roamtui.checking.structure import OUTLINE_TOKENS, find_named
from roamtui.document.library import Library
from roamtui.document.plain import plain_line, shorten
from roamtui.evaluation.golds import GoldError, find_gold_ids
from roamtui.evaluation.questions import EvalQuestion

HITS_MAX = 10


def ask_questions(
    library: Library, questions: Sequence[EvalQuestion], search: Callable[[str], Sequence[str]]
) -> tuple[tuple[AskedQuestion, ...], tuple[str, ...]]:
    """Return the questions that are about a library, and a sentence for each that cannot be asked.

    Args:
        library: With all its files.
        questions: As `roamtui eval` takes them; those about other documents are passed over.
        search: Returns the ids that are found, the best first.
    """
    has_files = library.root.columns.has_files
    name = library.source.rpartition("/")[2]
    documents = {one.key: one for one in library.documents} if has_files else {}
    asked: list[AskedQuestion] = []
    problems: list[str] = []
    for question in questions:
        if not has_files and question.doc.rpartition("/")[2] == name:
            documents = {question.doc: library.root}
        if question.doc not in documents:
            continue
        try:
            golds = find_gold_ids(question, documents).strict
        except GoldError as error:
            problems.append(f"Question {question.id} is left out: {plain_line(str(error))}.")
            continue
        document = documents[question.doc]
        row = min(document.rows_by_id[one] for one in golds & document.rows_by_id.keys())
        place = Place(document, row, document.columns.starts[row])
        found = tuple(search(question.question)[:HITS_MAX])
        asked.append(AskedQuestion(question=question.question, golds=golds, place=place, found=found))
    return tuple(asked), tuple(problems)


def find_unfound(facts: Facts) -> Iterator[Finding]:
    """Yield questions whose sections search does not find."""
    for asked in facts.questions:
        if asked.golds.isdisjoint(asked.found):
            yield Finding(asked.place, f"search does not find {_name(asked)} among its first {HITS_MAX}")


def find_unnamed(facts: Facts) -> Iterator[Finding]:
    """Yield questions whose section stands below nothing that an outline names."""
    library = facts.library
    named = find_named(library) - {library.title_id()} if facts.questions else set()
    for asked in facts.questions:
        section_id = asked.place.section_id
        if named.isdisjoint((*library.ancestors(section_id), section_id)):
            message = f"an outline of {OUTLINE_TOKENS:,} tokens names nothing that leads to {_name(asked)}"
            yield Finding(asked.place, message)


def _name(asked: AskedQuestion) -> str:
    return f"{asked.place.quoted} for “{shorten(plain_line(asked.question), 80)}”"
