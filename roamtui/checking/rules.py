"""The rules of `roamtui check`: a function for each rule, and the score of a document."""

from __future__ import annotations

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from roamtui.checking.facts import Diagnostic, DocumentFacts, SourceLocation
from roamtui.document.library import Library
from roamtui.document.link_targets import DeadLink, resolve_link
from roamtui.document.node import NodeKind
from roamtui.document.plain import sanitise_line, shorten, strip_anchor
from roamtui.document.web_loader import is_text_url
from roamtui.errors import UsageError
from roamtui.evaluation.question_set import (
    HITS_MAX,
    EvalQuestion,
    GoldError,
    SearchedQuestion,
    resolve_golds,
    search_question,
)
from roamtui.outline.labels import OPTIONAL, has_own_text
from roamtui.outline.render import render_outline
from roamtui.outline.structure import list_outline_children
from roamtui.search.base import Searcher
from roamtui.search.units import UnitKind, find_units

LONG_TOKENS = 2_000
"""Maximum tokens below one heading: about three pages of a book."""
OUTLINE_TOKENS = 2_500
"""Size of the outline in which sections should be found."""
_PROSE_SHARE_MIN = 0.5
"""Minimum share of a text's length that must be in paragraphs for the text to count as prose."""
_OMITTED_AT_TOP_MIN, _OMITTED_ELSEWHERE_MIN = 20, 60
"""A node is reported if the outline omits at least this many of its children, and more than half of them.

The first number is for the top of the outline, the second for all other nodes.
"""
_REPEATED_MIN = 10
"""Minimum number of sections that share a reported title."""
_EMPTY_ON_PURPOSE = re.compile(
    r"[(\[](?:weggefallen|aufgehoben|repealed|reserved|deleted|removed|deprecated|omitted)[)\]]|\breserved\.?$", re.I
)
"""A heading, or the start of a text, that says why the section is empty."""
_OUTLINE_ID = re.compile(r"\[([0-9a-f]{8})\]")
_LIST_TITLE = re.compile(
    r"\b(?:glossary|definitions?|defined terms|interpretation|references|bibliography|index)\b", re.I
)
"""Titles of long lists of short entries, which nobody reads in full."""
_NUMBER_TITLE = re.compile(
    r"(?:(?i:art|article|artikel|section|sec|chapter|part|step|appendix|annex|exhibit|schedule|teil|kapitel|abschnitt"
    r"|item|figure|table|§+)[.:]?[ ]*(?<=[ .:§]))?"
    r"(?:\d+|X{0,3}(?:IX|IV|V?I{0,3})|[A-Z])(?<!\A)(?:[.-](?:\d+|[A-Za-z]))*[.:)]*"
)
"""A title that is only a number or a letter, perhaps after a word such as “Section”."""
_VERSION_TITLE = re.compile(r"\W*v?\d+\.\d+(?:\.\w+)*\W*|.*\b(?:19|20)\d\d\b.*|.*\bv?\d+\.\d+\.\d+\b.*", re.IGNORECASE)
"""A release or a date: people look these up, so such a title is a name, not only a number."""
_REFERS_BACK = re.compile(
    r"(?:however|also|additionally|furthermore|moreover|otherwise|instead|therefore|thus|likewise|similarly|besides"
    r"|consequently|nevertheless|alternatively|in addition|on the other hand|for the same reason"
    r"|as (?:mentioned|described|noted|said|shown|seen|stated|discussed|explained)(?: above| before| earlier)?),",
    re.IGNORECASE,
)
"""First words that refer to the text before."""
_SENTENCE_END = (".", "!", "?", ":", ")", ";", '"', "”", "。")
_LETTER_SHARE_MIN = 0.9
"""A passage with a smaller share of letters and spaces counts as code."""
_DUPLICATE_WORDS_MIN = 40
"""Minimum number of words of a repeated passage that is reported."""
_EXCERPT_LENGTH = 60
_ANCHOR_LENGTH_MIN = 8
"""Minimum length of an anchor that may match the end of a link's anchor, because some tools prepend text."""
_TEXT_SUFFIXES = (".md", ".mdx", ".markdown", ".txt", ".rst", ".html")
_ANCHOR = re.compile(r"""(?:\b(?:id|name)\s*=\s*["']?|\{:?\s*#|^\()([^\s"'>})]+)""", re.MULTILINE)
"""An anchor in the source: an HTML `id` or `name`, an attribute such as `{#id}`, or a MyST target such as `(id)=`."""
_NON_ALNUM = re.compile(r"[\W_]+")
_LONG_LIST_LINKS = 50
"""In a list with at least this many links, some should be marked as optional."""
_LINK_OR_URL = re.compile(r"!?\[[^\[\]\n]*\]\([^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)*+\)|<?https?://\S+")
_WORD = re.compile(r"[^\W\d_]{2,}")


def check_long_sections(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield sections whose own text is too long for one heading. Tables and code do not count."""
    for document in facts.library.documents:
        if document.page_starts:
            continue  # as in `check_empty_sections`
        kinds, starts = document.columns.kinds, document.columns.starts
        tokens = document.tokens_before[-1]
        if NodeKind.TEXT in kinds and tokens > LONG_TOKENS and _is_prose(str(document.text)):
            yield Diagnostic(SourceLocation(document, 0, 0), f"{tokens:,} tokens have no heading at all")
        for row, tokens in enumerate(document.own_tokens):
            is_long = kinds[row] in (NodeKind.SECTION, NodeKind.PREAMBLE) and tokens > LONG_TOKENS
            is_list = _LIST_TITLE.search(document.columns.titles[row]) is not None
            if is_long and not is_list and _is_prose(document.text[starts[row] : starts[row + 1]]):
                yield Diagnostic(
                    SourceLocation(document, row, starts[row]), f"{tokens:,} tokens have no heading of their own"
                )


def _is_prose(text: str) -> bool:
    # Prose is read in full, unlike tables, lists, code or data.
    units = [(unit.end - unit.start, unit.kind) for unit in find_units(text)]
    prose = sum(size for size, kind in units if kind is UnitKind.PROSE)
    return prose >= _PROSE_SHARE_MIN * sum(size for size, _ in units) and not text.lstrip().startswith(("{", "["))


def check_empty_sections(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield headings with nothing below them."""
    for location in facts.sections:
        columns = location.document.columns
        if location.document.page_starts:
            continue  # headings of a PDF are inferred from its layout, so the fault may be ours
        is_leaf = columns.ends[location.row] == location.row + 1 and location.section_id not in facts.library.grafts
        is_explained = _EMPTY_ON_PURPOSE.search(location.title) or "](" in facts.library.own_text(location.section_id)
        if is_leaf and not is_explained and not has_own_text(facts.library, location.section_id):
            yield Diagnostic(location, f"there is nothing below {location.quoted_title}")


def check_skipped_levels(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield headings that are more than one level deeper than their parent, only the first below each parent."""
    reported: set[tuple[int, int]] = set()
    for location in facts.sections:
        columns = location.document.columns
        parent = columns.parents[location.row]
        level, above = columns.levels[location.row], columns.levels[parent] if parent >= 0 else 0
        key = (id(location.document), parent)
        is_skipped = (
            columns.kinds[parent] is NodeKind.SECTION and level > above + 1 and not location.document.page_starts
        )
        source = location.document.text[location.offset : location.offset + 7].lstrip(" ")
        source_level = len(source) - len(
            source.lstrip("#")
        )  # a page inside a document may have had its headings demoted
        if parent >= 0 and is_skipped and key not in reported and source_level in (0, level):
            reported.add(key)
            message = f"{location.quoted_title} is at level {level}, but the heading above it is at level {above}"
            yield Diagnostic(location, message)


def check_left_out(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield nodes with so many children that the outline cannot list them."""
    library = facts.library
    outlined = list_outlined_ids(library)
    top_ids = {library.root_id, library.title_id()}
    for parent in (library.root_id, *library.walk()) if facts.sections else ():
        children = list_outline_children(library, parent) if parent in top_ids or parent in outlined else ()
        omitted = sum(node_id not in outlined for node_id in children)
        if omitted >= (_OMITTED_AT_TOP_MIN if parent in top_ids else _OMITTED_ELSEWHERE_MIN) and 2 * omitted > len(
            children
        ):
            document, row = library.locate(parent) if parent in library else (library.root, 0)
            location = SourceLocation(document, row, document.columns.starts[row])
            message = (
                f"an outline of {OUTLINE_TOKENS:,} tokens omits {omitted} of {len(children)} parts at the same level"
            )
            yield Diagnostic(location, message, count=omitted)


def list_outlined_ids(library: Library) -> set[str]:
    """Return the ids that the outline lists."""
    return set(_OUTLINE_ID.findall(render_outline(library, budget_tokens=OUTLINE_TOKENS)))


def check_number_titles(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield headings that are only numbers, once per parent."""
    groups: dict[tuple[int, int], list[SourceLocation]] = defaultdict(list)
    for location in facts.sections:
        title = sanitise_line(location.title)
        is_void = _EMPTY_ON_PURPOSE.search(facts.library.own_text(location.section_id, length_max=60))
        is_name = not _NUMBER_TITLE.fullmatch(title) or _VERSION_TITLE.fullmatch(title)
        if not is_name and not is_void and not location.document.page_starts:
            groups[id(location.document), location.document.columns.parents[location.row]].append(location)
    for locations in groups.values():
        message = f"{locations[0].quoted_title} is only a number"
        if len(locations) > 1:
            message = f"{locations[0].quoted_title} and {len(locations) - 1} more next to it are only numbers"
        yield Diagnostic(locations[0], message, count=len(locations))


def check_repeated_titles(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield titles that many sections of a document share. Parts of releases are skipped: they are always alike."""
    groups: dict[tuple[int, str], list[SourceLocation]] = defaultdict(list)
    for location in facts.sections:
        columns = location.document.columns
        parent = columns.parents[location.row]
        if parent < 0 or not _VERSION_TITLE.fullmatch(columns.titles[parent]):
            title = strip_anchor(sanitise_line(location.title)).casefold()
            groups[id(location.document), title].append(location)
    for (_, title), locations in groups.items():
        if title and len(locations) >= _REPEATED_MIN and not _NUMBER_TITLE.fullmatch(title):
            message = f"{locations[0].quoted_title} is the title of {len(locations)} sections"
            yield Diagnostic(locations[0], message, count=len(locations))


def check_leaning_starts(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield sections whose first words refer to the previous section."""
    for passage in facts.passages:
        is_checked = passage.is_first and not passage.location.document.page_starts
        start = _REFERS_BACK.match(passage.text) if is_checked else None
        if start is not None and passage.location.title:
            yield Diagnostic(
                passage.location, f"{passage.location.quoted_title} begins with “{sanitise_line(start.group())}”"
            )


def check_duplicates(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield long passages that occur again. Consecutive passages are one finding."""
    number_by_text: dict[str, int] = {}
    copies: dict[int, list[int]] = defaultdict(list)
    previous = (-2, -2)
    for number, passage in enumerate(facts.passages):
        text = passage.text
        if len(text.split()) < _DUPLICATE_WORDS_MIN or not text.endswith(_SENTENCE_END):
            continue
        if sum(character.isalnum() or character.isspace() for character in text) < _LETTER_SHARE_MIN * len(text):
            continue
        origin = number_by_text.setdefault(passage.text, number)
        if origin == number:
            continue
        if previous != (number - 1, origin - 1):
            copies[origin].append(number)
        previous = (number, origin)
    for origin, numbers in copies.items():
        passage, copy = facts.passages[origin], facts.passages[numbers[0]]
        more = f" and {len(numbers) - 1} more times" if len(numbers) > 1 else ""
        words = shorten(sanitise_line(passage.text), _EXCERPT_LENGTH)
        key = copy.location.document.key
        line = copy.location.document.text[: copy.location.offset].count("\n") + 1
        position = f"{key} line {line}" if key else f"line {line}"
        message = f"“{words}” also appears under {copy.location.quoted_title}, {position}{more}"
        yield Diagnostic(passage.location, message, count=len(numbers))


def check_nameless_columns(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield tables without column names."""
    for location, has_names in facts.tables:
        if not has_names:
            yield Diagnostic(location, f"the columns of a table under {location.quoted_title} have no names")


def check_undescribed_images(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield images without a description."""
    for location, is_described in facts.images:
        if not is_described:
            yield Diagnostic(location, f"an image under {location.quoted_title} has no description")


def check_dead_links(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield links to headings and files that do not exist in the source."""
    library = facts.library
    anchors: dict[int, frozenset[str]] = {}
    for document in library.documents:  # anchors of headings, HTML and attributes, reduced to letters and digits
        names = (*document.anchors, *(match.group(1) for match in _ANCHOR.finditer(str(document.text))))
        anchors[id(document)] = frozenset(_NON_ALNUM.sub("", name).casefold() for name in names)
    for location, href in facts.links:
        target = resolve_link(href, library, location.section_id)
        if isinstance(target, DeadLink) and _should_exist(href, location, library, anchors[id(location.document)]):
            yield Diagnostic(
                location,
                f"a link under {location.quoted_title} leads nowhere: {shorten(sanitise_line(href), _EXCERPT_LENGTH)}",
            )


def _should_exist(href: str, location: SourceLocation, library: Library, anchors: frozenset[str]) -> bool:
    # Whether the target of a dead link would be inside the source.
    parts = urlsplit(href.strip())
    if parts.scheme or parts.netloc or parts.path.startswith("/") or parts.fragment.startswith("sec-"):
        return False  # another site, a path of the published site, or an anchor that a tool generates
    if not parts.path:
        anchor = _NON_ALNUM.sub("", unquote(parts.fragment)).casefold()
        return (
            bool(anchor)
            and anchor not in anchors
            and not anchor.endswith(tuple(name for name in anchors if len(name) >= _ANCHOR_LENGTH_MIN))
        )
    if not library.root.columns.has_files or not os.path.isdir(library.source):  # noqa: PTH112 - never raises
        return False
    path = posixpath.normpath(posixpath.join(posixpath.dirname(location.document.key), unquote(parts.path)))
    suffix = posixpath.splitext(parts.path)[1].lower()
    # A bare word does not name a file, because it may be a label of another tool.
    is_named = suffix in _TEXT_SUFFIXES or (not suffix and "/" in parts.path)
    if path.startswith("..") or not is_named:
        return False
    return not Path(library.source, path).exists()


def check_undescribed_links(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield lists that do not describe some of their links, at the first such link."""
    groups: dict[tuple[int, int], list[tuple[SourceLocation, bool]]] = defaultdict(list)
    for location in facts.listed_links:
        document, columns = location.document, location.document.columns
        item = document.text[location.offset : columns.starts[location.row + 1]]
        is_bare = bool(item) and not _WORD.search(_LINK_OR_URL.sub("", item))
        groups[id(document), columns.parents[location.row]].append((location, is_bare))
    for links in groups.values():
        if bare := [location for location, is_bare in links if is_bare]:
            first = bare[0].quoted_title
            message = f"{len(bare)} of {len(links)} links do not describe their pages; the first is {first}"
            yield Diagnostic(bare[0], message, count=len(bare))


def check_missing_optional(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield a long list of links if none of them is marked as optional."""
    root = facts.library.root
    count = root.columns.kinds.count(NodeKind.LINK)
    if count >= _LONG_LIST_LINKS and OPTIONAL not in (title.casefold() for title in root.columns.titles):
        yield Diagnostic(SourceLocation(root, 0, 0), f"none of {count} links is marked as optional")


def check_failing_pages(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield links whose pages could not be fetched."""
    for location in facts.listed_links:
        if problem := facts.library.problem_of(location.section_id):
            yield Diagnostic(location, f"could not fetch the page of {location.quoted_title}: {sanitise_line(problem)}")


def check_html_pages(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield links whose pages are HTML without a Markdown version."""
    for location in facts.listed_links:
        page = facts.library.loaded_document(location.section_id)
        if page is not None and page.is_html and not is_text_url(page.url or ""):
            yield Diagnostic(location, f"{location.quoted_title} leads to an HTML page")


def search_questions(
    library: Library, questions: Sequence[EvalQuestion], searcher: Searcher
) -> tuple[tuple[tuple[SourceLocation, SearchedQuestion], ...], tuple[str, ...]]:
    """Search a library for questions. Return each with its first gold section, and a sentence per unusable one.

    Args:
        library: All its files must be loaded.
        questions: As for `roamtui eval`. Questions about other documents are skipped, and earlier turns are ignored.
        searcher: Searches the library.
    """
    has_files = library.root.columns.has_files
    name = library.source.rpartition("/")[2]
    documents = {document.key: document for document in library.documents} if has_files else {}
    searched: list[tuple[SourceLocation, SearchedQuestion]] = []
    problems: list[str] = []
    for question in questions:
        if not has_files and question.doc.rpartition("/")[2] == name:
            documents = {question.doc: library.root}
        if question.doc not in documents:
            continue
        try:
            golds = resolve_golds(question, documents)
        except GoldError as error:
            problems.append(f"Question {question.id} is skipped: {sanitise_line(str(error))}.")
            continue
        document = documents[question.doc]
        row = min(document.rows_by_id[node_id] for node_id in golds.strict & document.rows_by_id.keys())
        location = SourceLocation(document, row, document.columns.starts[row])
        searched.append((location, search_question(replace(question, history=()), golds, searcher)))
    return tuple(searched), tuple(problems)


def check_unfound_questions(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield questions whose sections search does not find."""
    for location, searched in facts.questions:
        if searched.golds.strict.isdisjoint(searched.hit_ids):
            section = _format_question(location, searched)
            yield Diagnostic(location, f"search does not find {section} among its first {HITS_MAX}")


def check_unnamed_questions(facts: DocumentFacts) -> Iterator[Diagnostic]:
    """Yield questions if the outline lists neither their section nor any section above it."""
    library = facts.library
    outlined = list_outlined_ids(library) - {library.title_id()} if facts.questions else set()
    for location, searched in facts.questions:
        if outlined.isdisjoint((*library.ancestors(location.section_id), location.section_id)):
            section = _format_question(location, searched)
            yield Diagnostic(location, f"an outline of {OUTLINE_TOKENS:,} tokens names nothing that leads to {section}")


def _format_question(location: SourceLocation, searched: SearchedQuestion) -> str:
    return f"{location.quoted_title} for “{shorten(sanitise_line(searched.question.question), 80)}”"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with its check and its advice."""

    code: str
    """Its letter is a key of `PARTS`."""
    name: str
    check: Callable[[DocumentFacts], Iterable[Diagnostic]]
    count: Callable[[DocumentFacts], int]
    """Number of places that the rule checks."""
    advice: str


def _count_sections(facts: DocumentFacts) -> int:
    return len(facts.sections) or 1


def _count_listed_links(facts: DocumentFacts) -> int:
    return len(facts.listed_links)


PARTS = {"S": "structure", "H": "headings", "T": "texts", "L": "links", "X": "llms.txt", "Q": "questions"}
RULES = (
    Rule("S01", "long-section", check_long_sections, _count_sections, "Split it: one heading per topic."),
    Rule("S02", "empty-section", check_empty_sections, _count_sections, "Add content or remove the heading."),
    Rule("S03", "skipped-level", check_skipped_levels, _count_sections, "Use the next level."),
    Rule("S04", "left-out", check_left_out, _count_sections, "Group them under new headings."),
    Rule("H01", "number-alone", check_number_titles, _count_sections, "Add what it is about."),
    Rule("H02", "repeated-title", check_repeated_titles, _count_sections, "Add what each is about."),
    Rule("T01", "leaning-start", check_leaning_starts, _count_sections, "Start with the topic of the section."),
    Rule("T02", "duplicate", check_duplicates, lambda facts: len(facts.passages), "Keep one, and link to it."),
    Rule("T03", "nameless-columns", check_nameless_columns, lambda facts: len(facts.tables), "Name the columns."),
    Rule("T04", "undescribed-image", check_undescribed_images, lambda facts: len(facts.images), "Say what it shows."),
    Rule("L01", "dead-link", check_dead_links, lambda facts: len(facts.links), "Fix or remove it."),
    Rule("X01", "undescribed-link", check_undescribed_links, _count_listed_links, "Describe the content of each page."),
    Rule("X02", "no-markdown", check_html_pages, _count_listed_links, "Link to Markdown, or serve it as page.md."),
    Rule("X03", "failing-page", check_failing_pages, _count_listed_links, "Fix the link or the page."),
    Rule(
        "X04",
        "no-optional",
        check_missing_optional,
        _count_listed_links,
        "Move rarely needed links under “## Optional”.",
    ),
    Rule(
        "Q01", "unfound", check_unfound_questions, lambda facts: len(facts.questions), "Use the question's words there."
    ),
    Rule(
        "Q02", "unnamed", check_unnamed_questions, lambda facts: len(facts.questions), "Say it in a heading further up."
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The findings and the score."""

    findings: tuple[tuple[Rule, Diagnostic], ...]
    """In document order."""
    parts: dict[str, int]
    """Score of each part that applies, from 0 to 100: the share of places without findings, averaged over its rules."""

    @property
    def score(self) -> int:
        """Mean of the parts' scores."""
        return round(sum(self.parts.values()) / len(self.parts)) if self.parts else 100


def choose_rules(selected: Sequence[str], ignored: Sequence[str]) -> tuple[Rule, ...]:
    """Select rules by prefixes of their codes or by their names; all if `selected` is empty. Drop those in `ignored`.

    Raises:
        UsageError: A word matches no rule.
    """

    def expand(words: Iterable[str]) -> Iterator[Rule]:
        for word in (word.strip() for argument in words for word in argument.split(",")):
            matching = [rule for rule in RULES if rule.code.startswith(word.upper()) or rule.name == word]
            if not word or not matching:
                raise UsageError(f'no rule matches "{sanitise_line(word)}". docs/check.md lists them.')
            yield from matching

    chosen = (set(expand(selected)) or set(RULES)) - set(expand(ignored))
    return tuple(rule for rule in RULES if rule in chosen)


def check(facts: DocumentFacts, rules: Sequence[Rule] = RULES) -> CheckReport:
    """Apply rules and compute the score."""
    findings: list[tuple[Rule, Diagnostic]] = []
    shares_without: dict[str, list[float]] = {}
    for rule in rules:
        diagnostics = [*rule.check(facts)]
        findings += ((rule, diagnostic) for diagnostic in diagnostics)
        if checked := rule.count(facts):
            share = min(1.0, sum(diagnostic.count for diagnostic in diagnostics) / checked)
            shares_without.setdefault(PARTS[rule.code[0]], []).append(1 - share)
    order = {id(document): number for number, document in enumerate(facts.library.documents)}
    findings.sort(key=lambda pair: (order[id(pair[1].location.document)], pair[1].location.offset, pair[0].code))
    parts = {name: int(100 * sum(shares) / len(shares)) for name, shares in shares_without.items()}
    return CheckReport(findings=tuple(findings), parts=parts)
