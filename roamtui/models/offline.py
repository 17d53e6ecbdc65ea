"""`OfflineModel`: a deterministic model without key or network. It finds and quotes; it does not reason.

Like any model it sees only messages and tools. It parses a request for the question, the delivered sections and the
last search results. It opens the best hits of a search and the exceptions below them, or else the sections whose
titles are most like the question, and answers with the best matching passages, each quoted with its section.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from roamtui.conversation.transcript import FOUND_LEAD, QUESTION_START, Message, Role, ToolCall, Usage
from roamtui.models.base import ModelEvent, ModelRequest, ReplyFinished, TextDelta, ToolCallReceived, UsageReported
from roamtui.outline.expansion import strip_ids
from roamtui.outline.labels import WHOLE_TOKENS_MAX
from roamtui.search.lexicon import detect_language, get_synonyms
from roamtui.search.sentences import RankedSentence, best_sentences, get_first_sentence, split_sentences
from roamtui.search.terms import (
    has_pronoun,
    is_continuation,
    is_unspaced,
    list_inflected_forms,
    locate_terms,
    query_terms,
    tokenise,
)
from roamtui.search.titles import list_similar_words
from roamtui.search.units import UnitKind

SECTIONS_MAX = 5
_TOKENS_MAX = 2_800
"""Estimated tokens of section text per question, not counting the first section and small ones."""
_SMALL_TOKENS = 2_000
"""A section up to this size is opened regardless of the budget."""
_BLOCK_TOKENS_MAX = 4_000
"""Opening one section costs at most one page."""
_LABEL = "(The offline model quotes passages; it does not reason. `--model`, or f2 in the app, chooses another.)"
"""Ends its first answer in a conversation."""
_FREE = Usage(cost_usd=0.0)
"""No provider counts tokens here."""
_WINDOW_TOKENS = 128_000
_HITS = 8
_STEPS_MAX = 6
"""Calls per question: search and open, then the same twice more if that opened pages to search in."""

_HEAD = r"^\[(?P<id>[0-9a-f]{8})\] (?P<path>.+) \((?:p\. \d+, )?lines (?P<first>\d+)-(?P<last>\d+)\)$"
_GIVEN = re.compile(
    rf"{_HEAD}(?P<body>(?:\n<<<(?P<nonce>[g-z]{{8}})\n(?:.*\n)*?(?P=nonce)>>>(?:\n\(lines .*\))*|\n\(lines .*\))+)",
    re.MULTILINE,
)
_FENCE = re.compile(r"^<<<([g-z]{8})\n(.*?)\n\1>>>$", re.MULTILINE | re.DOTALL)
_INSIDE = re.compile(
    r"^ {0,3}(?:#{1,6}[ \t]+(?P<atx>.*)|(?P<setext>\S.*)(?= \[[0-9a-f]{8}\][ \t]*\n {0,3}(?:=+|-+)[ \t]*$)) "
    r"\[(?P<id>[0-9a-f]{8})\][ \t]*$",
    re.MULTILINE,
)
"""A heading in a delivered text, followed by its id."""
_HIT = re.compile(
    r"^- \[(?P<id>[0-9a-f]{8})\] (?P<path>.*) \((?:optional, )?"
    r"(?:(?:(?P<own>[\d.]+[kMG]?|list) of )?(?P<all>[\d.]+[kMG]?)|page)[^()\n]*\)(?P<excerpt>(?:\n    .*)*)",
    re.MULTILINE,
)
_HIT_FILE = re.compile(r"^(?!- )(\S.*):$", re.MULTILINE)
"""The file of the hits below."""
_PAGE_HIT = re.compile(r"^- \[([0-9a-f]{8})\] .* \(page[^)\n]*\)$", re.MULTILINE)
_ID = re.compile(r"[0-9a-f]{8}")
_PAGE_TOKENS = 1_000
"""Estimated size of a page that was not fetched yet."""
_NOTHING = "Nothing found."
_NEAREST = re.compile(r"^.* Nearest: (.*)$", re.MULTILINE)
"""Reply to a name that no section has."""
_LISTED = re.compile(r"^ *- \[([0-9a-f]{8})\] (.*)$", re.MULTILINE)
_WITHIN = re.compile(
    r"^\(The question is about \[(?P<id>[0-9a-f]{8})\] (?P<path>.+) and what lies below it:", re.MULTILINE
)
_FOLLOW_UP_TERMS_MAX = 3
_UNITS = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}

_QUOTES_MAX = 3
_FURTHER_SHARE = 0.72
"""A further sentence is quoted if it scores at least this share of the best one."""
_MATCH_MIN = 0.27
"""Minimum match of the best sentence. Of 302 questions on technical documents 3 % fall below it in the right document,
and 59 % in a wrong one of the same collection."""
_START_COVERAGE_MIN = 0.55
"""Minimum share of the question's weight in one section; below it, it searches even if search opened sections."""
_SECTION_SHARE = 0.2
"""Bonus for each sentence of a section that contains all words of the question."""
_SYNONYM_SHARE = 0.5
"""Weight of a synonym of a word that no open section contains; the word itself counts 1."""
_LIGHT = "ask find get give go got happen happens let make need put see take tell use want"
_LIGHT_WORDS = frozenset(_LIGHT.split())
_LIGHT_SHARE = 0.4
"""Weight of an everyday verb; another word counts 1."""
_UNSEEN_PAIR_SHARE = 0.2
"""In scripts without spaces, half of a question's character pairs join the end of one word to the start of the next."""
_PATH_WEIGHT = 0.6
"""Weight of a word in a section's path; in the sentence it counts 1."""
_RANK_LOSS = 0.08
"""Loss of score per search rank."""
_MISTYPED_MIN = 5
"""Minimum letters for typo correction; shorter words are too similar to each other."""
_QUOTE_LENGTH_MAX = 320
_SENTENCES_EACH = 4
_EXCEPTIONS = re.compile(
    r"[\W\d]*(?:exceptions?|exemptions?|exclusions?|restrictions?|ausnahmen?|excepciones)\b", re.IGNORECASE
)
"""A heading that announces exceptions."""


class OfflineModel:
    """Searches, opens the best sections in one batch, and quotes the best passages."""

    name = "offline"
    window_tokens = _WINDOW_TOKENS
    """A real limit, so that budgets apply as for any model."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield one reply: a call while there is something to look for, then an answer, word by word."""
        parsed = await asyncio.to_thread(parse_messages, request.messages)
        tools = {tool.name for tool in request.tools} if request.allow_calls else set[str]()
        if call := _choose_call(parsed, tools):
            name, arguments = call
            text = json.dumps(arguments, ensure_ascii=False)
            yield ToolCallReceived(ToolCall(id=f"offline_{len(request.messages)}", name=name, arguments=text))
            yield UsageReported(_FREE)
            yield ReplyFinished("tool_calls")
            return
        answer = await asyncio.to_thread(_write_answer, parsed)
        if not any(message.role is Role.ASSISTANT and _LABEL in message.text for message in request.messages):
            answer = f"{answer}\n\n{_LABEL}"
        for word in answer.split(" "):
            yield TextDelta(word if word is answer else f"{word} ")
            await asyncio.sleep(0)
        yield UsageReported(_FREE)
        yield ReplyFinished("stop")

    async def close(self) -> None:
        """Nothing to release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredSection:
    """A section whose text is in the messages."""

    section_id: str
    path: str
    text: str
    """As in the source, without the ids that were added for the model."""
    inside: tuple[tuple[int, str, str], ...] = ()
    """Sections inside it: offset in the text, id and title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedHit:
    """A hit of the last search."""

    section_id: str
    path: str
    """Starts with the file name if the hits are grouped by file."""
    tokens: int
    """Estimated tokens of the text that opening it returns."""
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRequest:
    """The content of a request."""

    question: str
    earlier_questions: tuple[str, ...] = ()
    delivered: tuple[DeliveredSection, ...] = ()
    """Sections that can be quoted, limited to `within_id` if that is set."""
    delivered_ids: frozenset[str] = frozenset()
    """Ids whose text was delivered, including those inside other sections."""
    asked_ids: frozenset[str] = frozenset()
    """Ids that this question already asked for."""
    found: tuple[ParsedHit, ...] = ()
    has_searched: bool = False
    nearest_ids: tuple[str, ...] = ()
    """Ids suggested for an unknown name, or by a search without results."""
    listed: tuple[tuple[str, str], ...] = ()
    """Id and title of subsections that expansions listed without their text."""
    steps: tuple[str, ...] = ()
    """Tools that this question called, in order."""
    has_new_page: bool = False
    """Whether the last call opened a page, so that another search may find more."""
    started_ids: frozenset[str] = frozenset()
    """Ids of the sections that search opened with the question."""
    within_id: str | None = None
    """The section that the question is limited to, or None for the whole document."""

    @property
    def is_follow_up(self) -> bool:
        """Whether the question depends on the previous one."""
        is_short = len(query_terms(self.question)) <= _FOLLOW_UP_TERMS_MAX
        is_why = self.question.strip().lower().startswith("why")
        return is_why or is_continuation(self.question) or (is_short and has_pronoun(self.question))


def parse_messages(messages: Sequence[Message]) -> ParsedRequest:
    """Parse the messages of a request."""
    question_indices = [index for index, message in enumerate(messages) if message.role is Role.USER]
    if not question_indices:
        return ParsedRequest(question="")
    preface, questions = "", []
    for index in question_indices:
        preface, mark, question = messages[index].text.rpartition(f"\n\n{QUESTION_START}")
        questions.append(question if mark else messages[index].text)
    later_messages = messages[question_indices[-1] + 1 :]
    calls = [call for message in later_messages for call in message.tool_calls]
    results = {message.tool_call_id: message.text for message in later_messages if message.role is Role.TOOL}
    searches = [results.get(call.id, "") for call in calls if call.name == "search_sections"]
    expansions = [call for call in calls if call.name == "expand_sections"]
    expanded = [results.get(call.id, "") for call in expansions]
    suggestions = [line for text in expanded for line in _NEAREST.findall(text)]
    suggestions += [text for text in searches if text.startswith(_NOTHING)]
    nearest = tuple(_ID.findall(suggestions[0])) if suggestions else ()
    pages = {*nearest, *_PAGE_HIT.findall("\n".join(searches))}
    last_ids = _ID.findall(calls[-1].arguments) if calls and calls[-1].name == "expand_sections" else []
    texts = (message.text for message in messages if message.role in (Role.USER, Role.TOOL))
    delivered = [section for text in texts for section in _parse_delivered_sections(text)]
    inside = (section_id for section in delivered for _, section_id, _ in section.inside)
    _, mark, started = messages[question_indices[-1]].text.rpartition(FOUND_LEAD)
    within = next(reversed([*_WITHIN.finditer(preface)]), None)
    quotable = delivered
    if within:  # the sections at or below its path, or else those that may contain it
        path = within["path"]
        quotable = [section for section in delivered if f"{section.path} > ".startswith(f"{path} > ")]
        quotable = quotable or [section for section in delivered if path.startswith(f"{section.path} > ")]
    return ParsedRequest(
        question=questions[-1],
        earlier_questions=tuple(questions[:-1]),
        within_id=within["id"] if within else None,
        delivered=tuple(quotable),
        delivered_ids=frozenset((*(section.section_id for section in delivered), *inside)),
        started_ids=frozenset(section.section_id for section in _parse_delivered_sections(started))
        if mark
        else frozenset(),
        asked_ids=frozenset(found for call in expansions for found in _ID.findall(call.arguments)),
        found=tuple(_parse_hits(searches[-1])) if searches and not searches[-1].startswith(_NOTHING) else (),
        has_searched=bool(searches),
        nearest_ids=nearest,
        listed=tuple(line for text in expanded for line in _LISTED.findall(_FENCE.sub("", text))),
        steps=tuple(call.name for call in calls),
        has_new_page=not pages.isdisjoint(last_ids),
    )


def _parse_delivered_sections(text: str) -> Iterator[DeliveredSection]:
    for match in _GIVEN.finditer(text):
        body = "\n\n".join(content for _, content in _FENCE.findall(match["body"]))
        if body:
            inside = tuple(
                (len(strip_ids(body[: head.start()])), head["id"], strip_ids(head["atx"] or head["setext"]))
                for head in _INSIDE.finditer(body)
            )
            yield DeliveredSection(section_id=match["id"], path=match["path"], text=strip_ids(body), inside=inside)


def _parse_hits(text: str) -> Iterator[ParsedHit]:
    heads = [(match.start(), match[1]) for match in _HIT_FILE.finditer(text)]
    for match in _HIT.finditer(text):
        file = next((name for start, name in reversed(heads) if start < match.start()), "")
        own, tokens = match["own"], _PAGE_TOKENS
        if match["all"] is not None:
            tokens = _read_count(match["all"])
            if tokens > WHOLE_TOKENS_MAX and own is not None:  # then opening it gives its own text
                tokens = 0 if own == "list" else _read_count(own)
        yield ParsedHit(
            section_id=match["id"],
            path=f"{file} > {match['path']}" if file else match["path"],
            tokens=tokens,
            snippet=" ".join(match["excerpt"].split()),
        )


def _read_count(text: str) -> int:
    return int(float(text.rstrip("kMG")) * _UNITS.get(text[-1], 1))


def _choose_call(parsed: ParsedRequest, tools: set[str]) -> tuple[str, dict[str, object]] | None:
    """Return the next call, or None if it is time to answer."""
    question = parsed.question
    if not question.strip() or len(parsed.steps) >= _STEPS_MAX:
        return None
    if not parsed.has_searched:
        terms = query_terms(question) if parsed.is_follow_up else ()
        texts = (f"{section.path}\n{section.text}" for section in parsed.delivered)
        if terms and any({term for _, term in locate_terms(text, terms)} >= set(terms) for text in texts):
            return None  # an open section already contains every word of the follow-up
        opened = _rank_candidates(parsed) if parsed.started_ids else ()
        if any(candidate.coverage >= _START_COVERAGE_MIN for candidate in opened):
            return None  # the sections that search opened with the question cover enough of it
    if "search_sections" in tools and (not parsed.has_searched or parsed.has_new_page):
        if parsed.earlier_questions and parsed.is_follow_up:
            question = f"{question} {' '.join(query_terms(parsed.earlier_questions[-1]))}"
        return "search_sections", {"query": question, "limit": _HITS}
    if "expand_sections" not in tools:
        return None
    if not parsed.steps or parsed.steps[-1] == "search_sections":
        section_ids = choose_sections(parsed)
    else:  # the exceptions that expansions listed without their text
        closed = parsed.delivered_ids | parsed.asked_ids
        listed = (section_id for section_id, title in parsed.listed if _EXCEPTIONS.match(title))
        section_ids = tuple(dict.fromkeys(section_id for section_id in listed if section_id not in closed))
        section_ids = section_ids[:SECTIONS_MAX]
    section_ids = section_ids or _guess_sections(parsed)
    return ("expand_sections", {"section_ids": list(section_ids)}) if section_ids else None


def choose_sections(parsed: ParsedRequest) -> tuple[str, ...]:
    """Return up to five ids that were neither delivered nor asked for, best first."""
    closed = parsed.delivered_ids | parsed.asked_ids
    if not parsed.found:
        return () if parsed.within_id is None or parsed.within_id in closed else (parsed.within_id,)
    chosen: list[str] = []
    tokens = 0
    for hit in parsed.found[:SECTIONS_MAX]:
        cost = min(_BLOCK_TOKENS_MAX, hit.tokens)
        if hit.section_id in closed or hit.section_id in chosen:
            continue
        if chosen and cost > _SMALL_TOKENS and tokens + cost > _TOKENS_MAX:
            continue
        chosen.append(hit.section_id)
        tokens += cost
    return tuple(chosen)


def _guess_sections(parsed: ParsedRequest) -> tuple[str, ...]:
    """Guess what to open, once per question: before any search by its words, then the suggested ids."""
    if parsed.found or parsed.within_id is not None or not query_terms(parsed.question):
        return ()
    if any(candidate.score >= _MATCH_MIN for candidate in _rank_candidates(parsed)):
        return ()
    if not parsed.nearest_ids and not parsed.has_searched:
        return (parsed.question.strip(),)
    return () if parsed.asked_ids.intersection(parsed.nearest_ids) else parsed.nearest_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    section: DeliveredSection
    quote: str
    score: float
    """How much of the question it contains; about 1 for all of it."""
    coverage: float
    """Share of the question's weight in its section."""


def _write_answer(parsed: ParsedRequest) -> str:
    """Answer with one to three passages and their exceptions, or say that nothing was found."""
    terms = query_terms(parsed.question)
    if not terms:
        return "Please ask a question about the document, in words that it may contain."
    candidates = _rank_candidates(parsed)
    if not candidates or candidates[0].score < _MATCH_MIN:
        looked = ", ".join(f"“{term}”" for term in terms[:6])
        reply = f"Not found: no section that was opened answers this. Looked for {looked}."
        ideas = [f"\n- What does the document say about {hit.path.split(' > ')[-1]}?" for hit in parsed.found[:2]]
        return f"{reply}\n\nYou could ask instead:{''.join(ideas)}" if ideas else reply
    best = candidates[0]
    chosen = [best]
    for candidate in candidates[1:]:
        if len(chosen) == _QUOTES_MAX or candidate.score < _FURTHER_SHARE * best.score:
            break
        if all(candidate.quote != other.quote for other in chosen):
            chosen.append(candidate)
    quotes = [candidate.quote for candidate in chosen]
    lines: list[str] = []
    for candidate in chosen:
        lead = "Another one" if lines else "The passage that fits best"
        lines.append(_write_line(lead, candidate.section, candidate.quote))
        if exception := _find_exception(candidate, parsed.delivered, terms, quotes):
            part, sentence = exception
            quotes.append(sentence)
            lines.append(_write_line("But see", part.section, sentence, part.path[-1]))
    return "\n\n".join(lines)


def _write_line(lead: str, section: DeliveredSection, quote: str, title: str = "") -> str:
    """Quote words of the source, in quotation marks that they do not contain, with the innermost section."""
    start = section.text.find(quote)
    above = [(section_id, inner) for offset, section_id, inner in section.inside if offset <= start]
    section_id, found_title = above[-1] if above else (section.section_id, section.path.rpartition(" > ")[2].strip())
    title = title or found_title
    under = f", under {title}" if title and not title.startswith("(") else ""
    words = re.sub(r"\s+", " ", quote).strip()
    if len(words) > _QUOTE_LENGTH_MAX:
        words = words[:_QUOTE_LENGTH_MAX].rsplit(" ", 1)[0]
    quoted = f'"{words}"' if '"' not in words else f"“{words}”"
    return f"{lead}{under}: {quoted} [{section_id}]."


def _rank_candidates(parsed: ParsedRequest) -> list[_Candidate]:
    """Rank sentences of the delivered sections for the question, best first."""
    terms, sections = query_terms(parsed.question), parsed.delivered
    if not parsed.is_follow_up and (parsed.found or parsed.started_ids):  # a follow-up may need any open section
        wanted = {hit.section_id for hit in parsed.found} | parsed.asked_ids | parsed.started_ids
        sections = tuple(section for section in sections if section.section_id in wanted) or sections
    ranks = {hit.section_id: rank for rank, hit in enumerate(parsed.found)}
    texts = [f"{section.path}\n{section.text}" for section in sections]
    forms = list_inflected_forms("\n".join(texts), terms, detect_language(tokenise(parsed.question)))
    weights = _weigh_terms(terms, parsed, forms)
    total = sum(weights.values())
    # Synonyms of terms that no text contains, and corrections of typos, count for their terms.
    present = {term for text in texts for _, term in locate_terms(text, terms, forms)}
    missing = [term for term in terms if term not in present]
    term_by_synonym = {synonym: term for term in missing for synonym in get_synonyms((term,))}
    words = sorted({word for text in texts for word in tokenise(text)}) if missing else []
    mistyped = (term for term in missing if len(term) >= _MISTYPED_MIN and term.isalpha())
    term_by_synonym |= {word: term for term in mistyped for word in list_similar_words(term, words)}
    term_by_synonym = {synonym: term for synonym, term in term_by_synonym.items() if synonym not in terms}
    weights |= {synonym: _SYNONYM_SHARE * weights[term] for synonym, term in term_by_synonym.items()}
    terms = tuple(weights)
    candidates = []
    for section in sections:
        in_path = {term for _, term in locate_terms(section.path, terms, forms)}
        in_section = in_path | {term for _, term in locate_terms(section.text, terms, forms)}
        coverage = sum({term_by_synonym.get(term, term): weights[term] for term in in_section}.values()) / total
        loss = 1 / (1 + _RANK_LOSS * ranks.get(section.section_id, len(ranks)))
        best = best_sentences(section.text, terms, limit=_SENTENCES_EACH, idf=weights, forms=forms)
        if not best and (opening := get_first_sentence(section.text)):
            best = (RankedSentence(opening.start, opening.end, 0.0),)
        for sentence in best:
            quote = section.text[sentence.start : sentence.end]
            in_quote = {term for _, term in locate_terms(quote, terms, forms)}
            path_gain = _PATH_WEIGHT * sum(weights[term] for term in in_path - in_quote) / total
            score = (sentence.score + path_gain + _SECTION_SHARE * coverage) * loss
            candidates.append(_Candidate(section=section, quote=quote, score=score, coverage=coverage))
    return sorted(candidates, key=lambda candidate: -candidate.score)


def _weigh_terms(terms: Sequence[str], parsed: ParsedRequest, forms: Mapping[str, str]) -> dict[str, float]:
    """Weigh each term: the rarer in the available texts, the heavier; less for words that say little."""
    texts = [section.text for section in parsed.delivered] + [hit.snippet for hit in parsed.found]
    counts = dict.fromkeys(terms, 0)
    for text in texts:
        for term in {term for _, term in locate_terms(text, terms, forms)}:
            counts[term] += 1
    weights = {}
    for term, count in counts.items():
        share = _UNSEEN_PAIR_SHARE if not count and is_unspaced(term) else 1.0
        share = _LIGHT_SHARE if term in _LIGHT_WORDS else share
        weights[term] = math.log(1 + (len(texts) + 1) / (count + 1)) * share
    return weights


@dataclass(frozen=True, slots=True)
class _HeadingPart:
    """The sentences under one heading."""

    section: DeliveredSection
    path: tuple[str, ...]
    """Path of the heading."""
    sentences: list[str] = field(default_factory=list)


def _find_exception(
    candidate: _Candidate, delivered: Sequence[DeliveredSection], terms: Sequence[str], quoted: Sequence[str]
) -> tuple[_HeadingPart, str] | None:
    """Find what limits a passage: a sentence under a heading about exceptions, below or next to the passage's own."""
    section = candidate.section
    own = tuple(section.path.split(" > "))
    here = next((part.path for part in _split_at_headings(section) if candidate.quote in part.sentences), own)
    others = (other for other in delivered if other is section or _EXCEPTIONS.match(other.path.split(" > ")[-1]))
    nearby = [
        part
        for part in chain.from_iterable(map(_split_at_headings, others))
        if part.path[:-1] in (here, here[:-1]) and part.path != here and _EXCEPTIONS.match(part.path[-1])
    ]
    for part in sorted(nearby, key=lambda part: -len(part.path)):
        shared = [len({term for _, term in locate_terms(sentence, terms)}) for sentence in part.sentences]
        most = max(shared, default=0)
        if shared and (most or len(part.path) > len(here)):
            sentence = part.sentences[shared.index(most)]
            return (part, sentence) if sentence not in quoted else None
    return None


def _split_at_headings(section: DeliveredSection) -> Iterable[_HeadingPart]:
    *above, own = section.path.split(" > ")
    text, parts = section.text, [_HeadingPart(section, (*above, own))]
    levels: list[tuple[int, str]] = []
    for sentence in split_sentences(text):
        words = text[sentence.start : sentence.end]
        if sentence.kind is UnitKind.HEADING:
            line = text[text.rfind("\n", 0, sentence.start) + 1 : sentence.end].lstrip()
            level = len(line) - len(line.lstrip("#")) or 2
            levels = [*(one for one in levels if one[0] < level), (level, words.strip("# "))]
            parts.append(_HeadingPart(section, (*above, *(title for _, title in levels))))
        elif sentence.kind is not UnitKind.TABLE_HEAD:
            parts[-1].sentences.append(words)
    return parts
