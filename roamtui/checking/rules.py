"""The rules of `roamtui check`, one function each, and the score that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from roamtui.checking import link_lists, questions, structure, texts
from roamtui.checking.facts import Facts, Finding
from roamtui.document.plain import plain_line
from roamtui.errors import UsageError


@dataclass(frozen=True, slots=True)
class Rule:
    """What is looked for, and what is done about it."""

    code: str
    """Its letter names the part of the score."""
    name: str
    find: Callable[[Facts], Iterable[Finding]]
    count: Callable[[Facts], int]
    """How many places it looks at."""
    fix: str


def _count_sections(facts: Facts) -> int:
    return len(facts.sections) or 1


def _count_links(facts: Facts) -> int:
    return len(link_lists.list_links(facts))


def _count_questions(facts: Facts) -> int:
    return len(facts.questions)


PARTS = {"S": "structure", "H": "headings", "T": "texts", "L": "links", "X": "llms.txt", "Q": "questions"}
RULES = (
    Rule("S01", "long-section", structure.find_long, _count_sections, "Divide it: a heading for each topic."),
    Rule("S02", "empty-section", structure.find_empty, _count_sections, "Say something there, or take it out."),
    Rule("S03", "skipped-level", structure.find_skipped, _count_sections, "Use the next level."),
    Rule("S04", "left-out", structure.find_left_out, _count_sections, "Group them below headings of their own."),
    Rule("H01", "number-alone", structure.find_numbers, _count_sections, "Add what it is about."),
    Rule("H02", "repeated-title", structure.find_repeated, _count_sections, "Add what each is about."),
    Rule("T01", "leaning-start", texts.find_unsaid, _count_sections, "Begin with what the section is about."),
    Rule("T02", "duplicate", texts.find_duplicates, lambda facts: len(facts.passages), "Keep one, and link to it."),
    Rule("T03", "nameless-columns", texts.find_nameless_columns, lambda facts: len(facts.tables), "Name the columns."),
    Rule("T04", "undescribed-image", texts.find_undescribed, lambda facts: len(facts.images), "Say what it shows."),
    Rule("L01", "dead-link", texts.find_dead_links, lambda facts: len(facts.links), "Mend it or take it out."),
    Rule("X01", "undescribed-link", link_lists.find_undescribed_links, _count_links, "Say what stands on each page."),
    Rule("X02", "no-markdown", link_lists.find_web_pages, _count_links, "Link to Markdown, or serve it as page.md."),
    Rule("X03", "failing-page", link_lists.find_failing_pages, _count_links, "Mend the link or the page."),
    Rule(
        "X04", "no-optional", link_lists.find_missing_optional, _count_links, "Put what few need below “## Optional”."
    ),
    Rule("Q01", "unfound", questions.find_unfound, _count_questions, "Use the question's words there."),
    Rule("Q02", "unnamed", questions.find_unnamed, _count_questions, "Say it in a heading further up."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the rules found."""

    findings: tuple[tuple[Rule, Finding], ...]
    """In the order of the text."""
    parts: dict[str, int]
    """Of each part that there is something of, from 0 to 100: what its rules looked at and did not object to."""

    @property
    def score(self) -> int:
        """Mean of the parts."""
        return round(sum(self.parts.values()) / len(self.parts)) if self.parts else 100


def choose_rules(selected: Sequence[str], ignored: Sequence[str]) -> tuple[Rule, ...]:
    """Return the rules whose codes or names begin with what was selected, all without, and not with what is ignored.

    Raises:
        UsageError: No rule begins like that.
    """

    def expand(words: Iterable[str]) -> Iterator[Rule]:
        for word in (one.strip() for words_ in words for one in words_.split(",")):
            found = [rule for rule in RULES if rule.code.startswith(word.upper()) or rule.name == word]
            if not word or not found:
                raise UsageError(f'no rule begins with "{plain_line(word)}". docs/check.md lists them.')
            yield from found

    chosen, left = set(expand(selected)) or set(RULES), set(expand(ignored))
    return tuple(rule for rule in RULES if rule in chosen - left)


def check(facts: Facts, rules: Sequence[Rule] = RULES) -> Report:
    """Return what rules find, and a score."""
    findings: list[tuple[Rule, Finding]] = []
    shares: dict[str, list[float]] = {}
    for rule in rules:
        found = [*rule.find(facts)]
        findings += ((rule, finding) for finding in found)
        places = rule.count(facts)
        if places:
            share = min(1.0, sum(finding.count for finding in found) / places)
            shares.setdefault(PARTS[rule.code[0]], []).append(1 - share)
    order = {id(document): number for number, document in enumerate(facts.library.documents)}
    findings.sort(key=lambda pair: (order[id(pair[1].place.document)], pair[1].place.offset, pair[0].code))
    parts = {name: int(100 * sum(kept) / len(kept)) for name, kept in shares.items()}
    return Report(findings=tuple(findings), parts=parts)
