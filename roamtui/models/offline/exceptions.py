"""The exception that stands near a passage, which a quote alone would hide."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from roamtui.models.offline.reading import Given
from roamtui.search.sentences import find_sentences
from roamtui.search.terms import find_terms
from roamtui.search.units import UnitKind

_TITLE = re.compile(
    r"[\W\d]*(?:exceptions?|exemptions?|exclusions?|restrictions?|ausnahmen?|excepciones)\b", re.IGNORECASE
)
_MARK = re.compile(
    r"\b(?:except(?:ing|ed)?|unless|however|but not|apart from|other than|cannot|only if"
    r"|do(?:es)? not apply|(?:may|must|can|should|shall) (?:never|not)"
    r"|es sei denn|außer|ausgenommen|jedoch|gilt nicht|gelten nicht)\b",
    re.IGNORECASE,
)
_SENTENCES_NEAR = 3
"""After a passage, in which an exception to it is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearException:
    """A sentence that limits what a passage says."""

    section: Given
    title: str
    """Of the heading under which it stands."""
    quote: str


@dataclass(slots=True)
class _Part:
    """A heading and the sentences up to the next one."""

    level: int
    title: str
    sentences: list[str] = field(default_factory=list)


def is_about_exceptions(title: str) -> bool:
    """Return whether a heading announces exceptions."""
    return _TITLE.match(title) is not None


def find_exception(
    section: Given, quote: str, given: Sequence[Given], terms: Sequence[str], told: Sequence[str]
) -> NearException | None:
    """Return what limits a passage: under a heading of its own below or beside it, else in the sentences after it."""
    parts = _list_parts(section.text)
    place = next((index for index, part in enumerate(parts) if quote in part.sentences), None)
    below = [(section, part) for part in _list_near(parts, place)] if place is not None else []
    below += [(other, part) for other in given if _is_below(other, section) for part in _list_parts(other.text)]
    beside = [(other, part) for other in given if _is_beside(other, section) for part in _list_parts(other.text)]
    for candidates, is_sure in ((below, True), (beside, False)):
        for other, part in candidates:
            sentence, held = _choose_sentence(part.sentences, terms)
            if sentence and (held or is_sure):
                return NearException(section=other, title=part.title, quote=sentence) if sentence not in told else None
    if place is None or _MARK.search(quote):
        return None
    sentences = parts[place].sentences
    after = sentences[sentences.index(quote) + 1 :][:_SENTENCES_NEAR]
    sentence = next((one for one in after if _MARK.search(one)), "")
    return (
        NearException(section=section, title=parts[place].title, quote=sentence)
        if sentence not in ("", *told)
        else None
    )


def _list_parts(text: str) -> list[_Part]:
    parts = [_Part(0, "")]
    for sentence in find_sentences(text):
        words = text[sentence.start : sentence.end]
        if sentence.kind is UnitKind.HEADING:
            line = text[text.rfind("\n", 0, sentence.start) + 1 : sentence.end].lstrip()
            parts.append(_Part(len(line) - len(line.lstrip("#")) or 2, words.strip("# ")))
        elif sentence.kind is not UnitKind.TABLE_HEAD:
            parts[-1].sentences.append(words)
    return parts


def _list_near(parts: Sequence[_Part], place: int) -> Iterator[_Part]:
    """Yield the parts about exceptions that are children of a part, or come after it as its siblings."""
    level = parts[place].level
    shallowest: float = math.inf  # of the headings up to here: what is deeper belongs to another of them
    for part in parts[place + 1 :]:
        if not level or part.level < level:
            return
        shallowest = min(shallowest, part.level)
        if is_about_exceptions(part.title) and part.level == shallowest:
            yield part


def _is_below(other: Given, section: Given) -> bool:
    title = other.path.rpartition(" > ")[2]
    return is_about_exceptions(title) and other.path == f"{section.path} > {title}"


def _is_beside(other: Given, section: Given) -> bool:
    parent, _, title = other.path.rpartition(" > ")
    return is_about_exceptions(title) and parent == section.path.rpartition(" > ")[0] and other is not section


def _choose_sentence(sentences: Sequence[str], terms: Sequence[str]) -> tuple[str, int]:
    """Return the sentence that shares most with a question, the first of several, and how many of its words."""
    counts = [len({term for _, term in find_terms(sentence, terms)}) for sentence in sentences]
    best = max(counts, default=0)
    return (sentences[counts.index(best)], best) if counts else ("", 0)
