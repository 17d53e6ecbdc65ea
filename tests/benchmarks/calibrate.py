"""Would logistic regression choose better than weights? `python -m tests.benchmarks.calibrate MODEL_FOLDER`.

One regression tells how likely a section is the right one, the other how likely a document has the answer. Both are
fitted by all question sets but one, which is reported, and sets count the same. See "Rules of offline answers" in
docs/benchmarks.md.
"""

import argparse
import json
import math
import random
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from roamtui.bootstrap import open_library
from roamtui.document.library import Library
from roamtui.models.local_embedder import LocalEmbedder
from roamtui.retrieval.passages import choose_passages
from roamtui.search.base import Hit, RetrievalOptions, Searcher, SearchServices
from roamtui.search.hybrid import make_searcher
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.terms import TermMatcher
from tests.real_documents import find_data_dir

_SETS = ("anthropic-docs", "ray-docs", "vespa-docs", "cuad-contracts")
_HITS_MAX = 30
_PASSAGE_HITS_MAX = 8
_FALSE_SHARE = 0.04
"""Share of the answerable questions that "not found" may refuse."""
_STEPS = 30
_BINS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.01)


class Case(Struct, frozen=True, kw_only=True):
    """A section for a question, or a document for a question: what is known of it, and whether it is right."""

    set_name: str
    question: int
    features: tuple[float, ...]
    is_right: bool
    is_chosen: bool
    """Whether roamtui puts the section first, or answers from the document."""


def fit(features: np.ndarray, rights: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return coefficients, the constant first, by Newton's method with a small penalty."""
    rows = np.c_[np.ones(len(features)), features]
    penalty = np.eye(rows.shape[1])
    penalty[0, 0] = 1e-9
    found = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        chances = predict(found, features)
        slope = rows.T @ (weights * (rights - chances)) - penalty @ found
        curve = (rows.T * (weights * chances * (1 - chances))) @ rows + penalty
        found += np.linalg.solve(curve, slope)
    return found


def predict(coefficients: np.ndarray, features: np.ndarray) -> np.ndarray:
    chances: np.ndarray = 1 / (1 + np.exp(-np.clip(features @ coefficients[1:] + coefficients[0], -30, 30)))
    return chances


def predict_left_out(cases: Sequence[Case]) -> np.ndarray:
    """Return the chance of each case, by a regression that has not seen its set."""
    features = np.array([case.features for case in cases])
    features = (features - features.mean(axis=0)) / (features.std(axis=0) + 1e-9)
    rights = np.array([case.is_right for case in cases], dtype=float)
    names = np.array([case.set_name for case in cases])
    weights = np.array([1_000 / (names == name).sum() for name in names])
    chances = np.zeros(len(cases))
    for name in _SETS:
        other = names != name
        chances[~other] = predict(fit(features[other], rights[other], weights[other]), features[~other])
    return chances


def describe(library: Library, hits: Sequence[Hit], scores: dict[str, float], question: str) -> list[tuple[float, ...]]:
    """Return the features of each hit: shares of the best score, the question in text and path, and similarity."""
    matcher = TermMatcher.for_question(question)
    found = []
    for hit in hits:
        node = library.node(hit.section_id)
        places = (library.text_at(node.own_content_span), " > ".join(node.path))
        found.append([{term for *_, term in matcher.locate(place)} for place in places])
    counts = {term: sum(term in text | path for text, path in found) for term in matcher.terms}
    rarity = {term: math.log(1 + (len(hits) + 1) / (count + 1)) for term, count in counts.items()}
    total = sum(rarity.values()) or 1.0
    best = max((hit.similarity or 0.0 for hit in hits), default=0.0) or 1.0
    return [
        (
            scores.get(hit.section_id, 0.0),
            *(sum(rarity[term] for term in terms if term in rarity) / total for terms in both),
            (hit.similarity or 0.0) / best,
        )
        for hit, both in zip(hits, found, strict=True)
    ]


def read_cases(number: int, embedder: LocalEmbedder) -> tuple[list[Case], list[Case]]:
    """Ask questions about their own document and one of another set. Return sections, and documents."""
    chance = random.Random(11)  # noqa: S311 - not a secret
    folders = {name: find_data_dir() / "sets" / name for name in _SETS}
    questions: dict[str, list[dict[str, Any]]] = {
        name: [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
        for name, folder in folders.items()
    }
    sections: list[Case] = []
    documents: list[Case] = []
    count = 0
    for name in _SETS:
        for row in chance.sample(questions[name], min(number, len(questions[name]))):
            foreign = chance.choice([other for other in _SETS if other != name])
            other = folders[foreign] / "docs" / str(chance.choice(questions[foreign])["doc"])
            for is_own, path in ((True, folders[name] / "docs" / str(row["doc"])), (False, other)):
                count += 1
                library, searcher = _open(path, embedder)
                hits = searcher.search(row["question"], limit=_HITS_MAX)
                words = KeywordSearcher(library).rank(row["question"], limit=_HITS_MAX)
                scores = {hit.section_id: hit.score for hit in words.hits}
                features = describe(library, hits, scores, row["question"])
                gold = tuple(row["gold_section_titles_path"])
                for rank, (hit, values) in enumerate(zip(hits, features, strict=True) if is_own else ()):
                    is_right = library.node(hit.section_id).path[-len(gold) :] == gold
                    sections.append(
                        Case(set_name=name, question=count, features=values, is_right=is_right, is_chosen=not rank)
                    )
                similar = [*sorted((hit.similarity or 0.0 for hit in hits), reverse=True), 0.0, 0.0]
                covered = max((text + path_share for _, text, path_share, _ in features), default=0.0)
                _, is_answer = choose_passages(
                    library, row["question"], hits[:_PASSAGE_HITS_MAX], needs_certainty=False
                )
                whole = (similar[0], similar[0] - similar[1], covered)
                documents.append(
                    Case(set_name=name, question=count, features=whole, is_right=is_own, is_chosen=is_answer)
                )
    return sections, documents


def _open(path: Path, embedder: LocalEmbedder) -> tuple[Library, Searcher]:
    library = open_library((str(path),))
    searcher = make_searcher(library, RetrievalOptions(), SearchServices(meaning=embedder, fails_without_vectors=True))
    assert searcher is not None
    return library, searcher


def _report(title: str, cases: Sequence[Case], chances: np.ndarray) -> list[str]:
    rights = np.array([case.is_right for case in cases])
    lines = [f"{title}: Brier score {np.mean((chances - rights) ** 2):.4f} ({rights.mean() * (1 - rights.mean()):.4f})"]
    for low, high in pairwise(_BINS):
        inside = (chances >= low) & (chances < high)
        if inside.any():
            says = f"{100 * chances[inside].mean():.0f} %, {100 * rights[inside].mean():.0f} % are right"
            lines.append(f"  of {inside.sum()} it says {says}")
    return lines


def main() -> None:
    """Print how often the right section is first, and "not found" is right, by weights and by regression."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--number", type=int, default=60, help="questions of each set")
    given = parser.parse_args()
    sections, documents = read_cases(given.number, LocalEmbedder(given.model))
    chances = predict_left_out(sections)
    first: dict[int, int] = {}
    for index, case in enumerate(sections):
        if chances[index] > chances[first.setdefault(case.question, index)]:
            first[case.question] = index
    lines = _report("sections", sections, chances)
    by_weights = sum(case.is_right and case.is_chosen for case in sections)
    by_regression = sum(sections[index].is_right for index in first.values())
    lines.append(f"  right section first, of {len(first)}: {by_weights} by weights, {by_regression} by regression")
    chances = predict_left_out(documents)
    own = np.array([case.is_right for case in documents])
    answers = np.array([case.is_chosen for case in documents])
    bound = np.quantile(chances[own], _FALSE_SHARE)
    lines += _report("documents", documents, chances)
    for name, is_found in (("weights", answers), ("regression", chances >= bound)):
        false, far = (100 * (~is_found[which]).mean() for which in (own, ~own))
        lines.append(f'  "not found" by {name}: {false:.1f} % of own documents, {far:.1f} % of others')
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
