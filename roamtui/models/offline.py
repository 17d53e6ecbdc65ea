"""`OfflineModel`: no key, no network, deterministic. It finds and quotes; it does not reason.

Like any model it sees only messages and tools. It reads a request as a person would: the question, what was given, what
the last search found. It opens the best hits of a search and what limits them, else what has a title most like the
question, and answers with the passages that share most with it, quoted, each with its section.
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
"""Estimated tokens of section text for one question, the first section and small ones apart."""
_SMALL_TOKENS = 2_000
"""A section of at most this much is opened whatever the others cost."""
_BLOCK_TOKENS_MAX = 4_000
"""What opening one section costs at most: a page."""
_LABEL = "(The offline model finds and quotes; it does not reason. `--model`, or f2 in the app, chooses another.)"
"""Stands below its first answer of a conversation."""
_FREE = Usage(cost_usd=0.0)
"""Tokens mean nothing where no provider counts them."""
_WINDOW_TOKENS = 128_000
_HITS = 8
_STEPS_MAX = 6
"""Calls for one question: search and open, then twice again where that opened pages to search in."""

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
"""A heading of a delivered text, with the id behind it."""
_HIT = re.compile(
    r"^- \[(?P<id>[0-9a-f]{8})\] (?P<path>.*) \((?:optional, )?"
    r"(?:(?:(?P<own>[\d.]+[kMG]?|list) of )?(?P<all>[\d.]+[kMG]?)|page)[^()\n]*\)(?P<excerpt>(?:\n    .*)*)",
    re.MULTILINE,
)
_HIT_FILE = re.compile(r"^(?!- )(\S.*):$", re.MULTILINE)
"""The file that the hits below it stand in."""
_PAGE_HIT = re.compile(r"^- \[([0-9a-f]{8})\] .* \(page[^)\n]*\)$", re.MULTILINE)
_ID = re.compile(r"[0-9a-f]{8}")
_PAGE_TOKENS = 1_000
"""What a page is taken for that was not fetched yet."""
_NOTHING = "Nothing found."
_NEAREST = re.compile(r"^.* Nearest: (.*)$", re.MULTILINE)
"""What is told of a name that no section has."""
_LISTED = re.compile(r"^ *- \[([0-9a-f]{8})\] (.*)$", re.MULTILINE)
_WITHIN = re.compile(
    r"^\(The question is about \[(?P<id>[0-9a-f]{8})\] (?P<path>.+) and what lies below it:", re.MULTILINE
)
_FOLLOW_UP_TERMS_MAX = 3
_UNITS = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}

_QUOTES_MAX = 3
_FURTHER_SHARE = 0.72
"""A further sentence is quoted where it scores at least this share of the best one."""
_MATCH_MIN = 0.27
"""Match of the best sentence below which nothing was found: of 302 questions on technical documents 3 % fall below it
in the right document, 59 % in a wrong one of the same collection."""
_START_COVERAGE_MIN = 0.55
"""Share of the question's weight in one section below which it searches on, although search has opened sections."""
_SECTION_SHARE = 0.2
"""What a section that holds all words of the question adds to each of its sentences."""
_SYNONYM_SHARE = 0.5
"""What another word counts that means the same as one that no open section holds, where that one would be 1."""
_LIGHT = "ask find get give go got happen happens let make need put see take tell use want"
_LIGHT_WORDS = frozenset(_LIGHT.split())
_LIGHT_SHARE = 0.4
"""What an everyday verb counts, where another word is 1."""
_UNSEEN_PAIR_SHARE = 0.2
"""Where words stand without spaces, half of the pairs of a question are the end of one and the start of the next."""
_PATH_WEIGHT = 0.6
"""What a word in a section's path is worth, where one in the sentence is worth 1."""
_RANK_LOSS = 0.08
"""What each rank of the search costs a sentence."""
_MISTYPED_MIN = 5
"""Letters; shorter words are too like each other."""
_QUOTE_LENGTH_MAX = 320
_SENTENCES_EACH = 4
_EXCEPTIONS = re.compile(
    r"[\W\d]*(?:exceptions?|exemptions?|exclusions?|restrictions?|ausnahmen?|excepciones)\b", re.IGNORECASE
)
"""The title of a heading that announces them."""


class OfflineModel:
    """Searches, opens the best sections in one batch, and quotes the passages that fit best."""

    name = "offline"
    window_tokens = _WINDOW_TOKENS
    """It reads at most this much, so that budgets hold as for any model."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield one reply: calls while there is something to look for, then an answer, word by word."""
        reading = await asyncio.to_thread(parse_messages, request.messages)
        tools = {tool.name for tool in request.tools} if request.allow_calls else set[str]()
        call = _choose_call(reading, tools)
        if call is not None:
            name, arguments = call
            text = json.dumps(arguments, ensure_ascii=False)
            yield ToolCallReceived(ToolCall(id=f"offline_{len(request.messages)}", name=name, arguments=text))
            yield UsageReported(_FREE)
            yield ReplyFinished("tool_calls")
            return
        answer = await asyncio.to_thread(_write_answer, reading)
        if not any(message.role is Role.ASSISTANT and _LABEL in message.text for message in request.messages):
            answer = f"{answer}\n\n{_LABEL}"
        for word in answer.split(" "):
            yield TextDelta(word if word is answer else f"{word} ")
            await asyncio.sleep(0)
        yield UsageReported(_FREE)
        yield ReplyFinished("stop")

    async def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredSection:
    """A section whose text stands in the messages."""

    section_id: str
    path: str
    text: str
    """As in the source: without the ids that were added for the model."""
    inside: tuple[tuple[int, str, str], ...] = ()
    """Sections inside it: where in the text each begins, its id and its title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedHit:
    """A hit of the last search."""

    section_id: str
    path: str
    """With the name of its file, where hits stand below one."""
    tokens: int
    """Of what opening it gives, about."""
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRequest:
    """What a request says."""

    question: str
    earlier_questions: tuple[str, ...] = ()
    given: tuple[DeliveredSection, ...] = ()
    """What can be quoted: of that section alone, where there is one."""
    given_ids: frozenset[str] = frozenset()
    """Ids whose text was given, also inside others."""
    asked_ids: frozenset[str] = frozenset()
    """Ids that this question asked for already."""
    found: tuple[ParsedHit, ...] = ()
    has_searched: bool = False
    nearest_ids: tuple[str, ...] = ()
    """Ids that were told in place of what this question asked for by name, or of what a search did not find."""
    listed: tuple[tuple[str, str], ...] = ()
    """Id and title of subsections that this question's expansions named without their text."""
    steps: tuple[str, ...] = ()
    """Names of the tools that this question called, in order."""
    has_new_page: bool = False
    """Whether the last call opened a page, below which search may find more now."""
    started_ids: frozenset[str] = frozenset()
    """Ids of the sections that search opened with this question."""
    within_id: str | None = None
    """The section that the question is about, None for the whole document."""

    @property
    def is_follow_up(self) -> bool:
        """Whether the question leans on the one before it."""
        is_short = len(query_terms(self.question)) <= _FOLLOW_UP_TERMS_MAX
        is_why = self.question.strip().lower().startswith("why")
        return is_why or is_continuation(self.question) or (is_short and has_pronoun(self.question))


def parse_messages(messages: Sequence[Message]) -> ParsedRequest:
    """Return what the messages of a request say."""
    asked = [index for index, message in enumerate(messages) if message.role is Role.USER]
    if not asked:
        return ParsedRequest(question="")
    preface, questions = "", []
    for index in asked:
        preface, mark, question = messages[index].text.rpartition(f"\n\n{QUESTION_START}")
        questions.append(question if mark else messages[index].text)
    since = messages[asked[-1] + 1 :]
    calls = [call for message in since for call in message.tool_calls]
    results = {message.tool_call_id: message.text for message in since if message.role is Role.TOOL}
    searches = [results.get(call.id, "") for call in calls if call.name == "search_sections"]
    expansions = [call for call in calls if call.name == "expand_sections"]
    expanded = [results.get(call.id, "") for call in expansions]
    told = [line for text in expanded for line in _NEAREST.findall(text)]
    told += [text for text in searches if text.startswith(_NOTHING)]
    nearest = tuple(_ID.findall(told[0])) if told else ()
    pages = {*nearest, *_PAGE_HIT.findall("\n".join(searches))}
    last_ids = _ID.findall(calls[-1].arguments) if calls and calls[-1].name == "expand_sections" else []
    texts = (message.text for message in messages if message.role in (Role.USER, Role.TOOL))
    given = [section for text in texts for section in _parse_delivered_sections(text)]
    inside = (section_id for section in given for _, section_id, _ in section.inside)
    _, mark, started = messages[asked[-1]].text.rpartition(FOUND_LEAD)
    within = next(reversed([*_WITHIN.finditer(preface)]), None)
    return ParsedRequest(
        question=questions[-1],
        earlier_questions=tuple(questions[:-1]),
        within_id=within["id"] if within else None,
        given=tuple(_keep_within(given, within["path"]) if within else given),
        given_ids=frozenset((*(section.section_id for section in given), *inside)),
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


def _keep_within(given: Sequence[DeliveredSection], path: str) -> list[DeliveredSection]:
    """Return the sections at a path or below it, else those that may hold it."""
    inside = [section for section in given if f"{section.path} > ".startswith(f"{path} > ")]
    return inside or [section for section in given if path.startswith(f"{section.path} > ")]


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


def _choose_call(reading: ParsedRequest, tools: set[str]) -> tuple[str, dict[str, object]] | None:
    """Return the next call, None where it is time to answer."""
    question = reading.question
    if not question.strip() or len(reading.steps) >= _STEPS_MAX:
        return None
    if not reading.has_searched and (_is_covered(reading) or _is_answered_by_start(reading)):
        return None
    if "search_sections" in tools and (not reading.has_searched or reading.has_new_page):
        if reading.earlier_questions and reading.is_follow_up:
            question = f"{question} {' '.join(query_terms(reading.earlier_questions[-1]))}"
        return "search_sections", {"query": question, "limit": _HITS}
    if "expand_sections" not in tools:
        return None
    is_first = not reading.steps or reading.steps[-1] == "search_sections"
    section_ids = choose_sections(reading) if is_first else _choose_exceptions(reading)
    section_ids = section_ids or _guess_sections(reading)
    return ("expand_sections", {"section_ids": list(section_ids)}) if section_ids else None


def _is_covered(reading: ParsedRequest) -> bool:
    """Return whether a section that is open already holds every word of a follow-up."""
    terms = query_terms(reading.question) if reading.is_follow_up else ()
    return bool(terms) and any(
        {term for _, term in locate_terms(f"{section.path}\n{section.text}", terms)} >= set(terms)
        for section in reading.given
    )


def _is_answered_by_start(reading: ParsedRequest) -> bool:
    """Return whether what search opened with the question holds enough of it to answer from that alone."""
    candidates = _rank_candidates(reading) if reading.started_ids else ()
    return max((candidate.coverage for candidate in candidates), default=0.0) >= _START_COVERAGE_MIN


def choose_sections(reading: ParsedRequest) -> tuple[str, ...]:
    """Return up to five ids that were neither given nor asked for, the most promising first."""
    closed = reading.given_ids | reading.asked_ids
    if not reading.found:
        return () if reading.within_id is None or reading.within_id in closed else (reading.within_id,)
    chosen: list[str] = []
    tokens = 0
    for hit in reading.found[:SECTIONS_MAX]:
        cost = min(_BLOCK_TOKENS_MAX, hit.tokens)
        if hit.section_id in closed or hit.section_id in chosen:
            continue
        if chosen and cost > _SMALL_TOKENS and tokens + cost > _TOKENS_MAX:
            continue
        chosen.append(hit.section_id)
        tokens += cost
    return tuple(chosen)


def _choose_exceptions(reading: ParsedRequest) -> tuple[str, ...]:
    """Return ids of exceptions that the sections opened for this question name without their text."""
    closed = reading.given_ids | reading.asked_ids
    listed = (section_id for section_id, title in reading.listed if _EXCEPTIONS.match(title))
    return tuple(dict.fromkeys(section_id for section_id in listed if section_id not in closed))[:SECTIONS_MAX]


def _guess_sections(reading: ParsedRequest) -> tuple[str, ...]:
    """Return what to open at a venture, once for a question: without a search what its words name, else the nearest."""
    if reading.found or reading.within_id is not None or not query_terms(reading.question):
        return ()
    if _has_match(_rank_candidates(reading)):
        return ()
    if not reading.nearest_ids and not reading.has_searched:
        return (reading.question.strip(),)
    return () if reading.asked_ids.intersection(reading.nearest_ids) else reading.nearest_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    section: DeliveredSection
    quote: str
    score: float
    """How much of the question it holds; about 1 where that is all."""
    coverage: float
    """Share of the question's weight that its section holds."""


def _write_answer(reading: ParsedRequest) -> str:
    """Return one to three passages for the question of a request, with what limits them, or that nothing was found."""
    terms = query_terms(reading.question)
    if not terms:
        return "Please ask a question about the document, in words that it may contain."
    candidates = _rank_candidates(reading)
    if not _has_match(candidates):
        return _format_not_found(reading, terms)
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
        if limit := _find_exception(candidate, reading.given, terms, quotes):
            part, sentence = limit
            quotes.append(sentence)
            lines.append(_write_line("But see", part.section, sentence, part.path[-1]))
    return "\n\n".join(lines)


def _write_line(lead: str, section: DeliveredSection, quote: str, title: str = "") -> str:
    """Return words of the source between quotation marks that they do not contain, with the innermost section."""
    start = section.text.find(quote)
    held = [(section_id, inner) for offset, section_id, inner in section.inside if offset <= start]
    section_id, found_title = held[-1] if held else (section.section_id, section.path.rpartition(" > ")[2].strip())
    title = title or found_title
    under = f", under {title}" if title and not title.startswith("(") else ""
    words = re.sub(r"\s+", " ", quote).strip()
    if len(words) > _QUOTE_LENGTH_MAX:
        words = words[:_QUOTE_LENGTH_MAX].rsplit(" ", 1)[0]
    quoted = f'"{words}"' if '"' not in words else f"“{words}”"
    return f"{lead}{under}: {quoted} [{section_id}]."


def _format_not_found(reading: ParsedRequest, terms: Sequence[str]) -> str:
    looked = ", ".join(f"“{term}”" for term in terms[:6])
    told = f"Not found: no section that was opened answers this. Looked for {looked}."
    ideas = [f"\n- What does the document say about {hit.path.split(' > ')[-1]}?" for hit in reading.found[:2]]
    return f"{told}\n\nYou could ask instead:{''.join(ideas)}" if ideas else told


def _has_match(candidates: Sequence[_Candidate]) -> bool:
    return bool(candidates) and candidates[0].score >= _MATCH_MIN


def _rank_candidates(reading: ParsedRequest) -> list[_Candidate]:
    """Return sentences of what is open for the question, the best first."""
    terms, sections = query_terms(reading.question), _choose_given(reading)
    ranks = {hit.section_id: rank for rank, hit in enumerate(reading.found)}
    texts = [f"{section.path}\n{section.text}" for section in sections]
    forms = list_inflected_forms("\n".join(texts), terms, detect_language(tokenise(reading.question)))
    weights = _weigh_terms(terms, reading, forms)
    total = sum(weights.values())
    meant = _list_synonyms(terms, texts, forms)
    weights |= {synonym: _SYNONYM_SHARE * weights[term] for synonym, term in meant.items()}
    terms = tuple(weights)
    candidates = []
    for section in sections:
        in_path = {term for _, term in locate_terms(section.path, terms, forms)}
        in_section = in_path | {term for _, term in locate_terms(section.text, terms, forms)}
        coverage = sum({meant.get(term, term): weights[term] for term in in_section}.values()) / total
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


def _choose_given(reading: ParsedRequest) -> tuple[DeliveredSection, ...]:
    """Return the sections to answer from: those found for this question; all that is open for a follow-up."""
    if reading.is_follow_up or not (reading.found or reading.started_ids):
        return reading.given
    wanted = {hit.section_id for hit in reading.found} | reading.asked_ids | reading.started_ids
    return tuple(section for section in reading.given if section.section_id in wanted) or reading.given


def _weigh_terms(terms: Sequence[str], reading: ParsedRequest, forms: Mapping[str, str]) -> dict[str, float]:
    """Return a weight for each term: the rarer among the texts at hand, the heavier; less for what says little."""
    texts = [section.text for section in reading.given] + [hit.snippet for hit in reading.found]
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


def _list_synonyms(terms: Sequence[str], texts: Sequence[str], forms: Mapping[str, str]) -> dict[str, str]:
    """Return words that mean the same as terms that no text holds, or that were mistyped, each with its term."""
    held = {term for text in texts for _, term in locate_terms(text, terms, forms)}
    missing = [term for term in terms if term not in held]
    meant = {synonym: term for term in missing for synonym in get_synonyms((term,))}
    words = sorted({word for text in texts for word in tokenise(text)}) if missing else []
    mistyped = (term for term in missing if len(term) >= _MISTYPED_MIN and term.isalpha())
    meant |= {word: term for term in mistyped for word in list_similar_words(term, words)}
    return {synonym: term for synonym, term in meant.items() if synonym not in terms}


@dataclass(frozen=True, slots=True)
class _HeadingPart:
    """What stands under one heading."""

    section: DeliveredSection
    path: tuple[str, ...]
    """Of the heading."""
    sentences: list[str] = field(default_factory=list)


def _find_exception(
    candidate: _Candidate, given: Sequence[DeliveredSection], terms: Sequence[str], told: Sequence[str]
) -> tuple[_HeadingPart, str] | None:
    """Return what limits a passage, a sentence under a heading about exceptions below or beside its own."""
    section = candidate.section
    own = tuple(section.path.split(" > "))
    here = next((part.path for part in _list_parts(section) if candidate.quote in part.sentences), own)
    others = (other for other in given if other is section or _EXCEPTIONS.match(other.path.split(" > ")[-1]))
    near = [
        part
        for part in chain.from_iterable(map(_list_parts, others))
        if part.path[:-1] in (here, here[:-1]) and part.path != here and _EXCEPTIONS.match(part.path[-1])
    ]
    for part in sorted(near, key=lambda part: -len(part.path)):
        shared = [len({term for _, term in locate_terms(sentence, terms)}) for sentence in part.sentences]
        most = max(shared, default=0)
        if shared and (most or len(part.path) > len(here)):
            sentence = part.sentences[shared.index(most)]
            return (part, sentence) if sentence not in told else None
    return None


def _list_parts(section: DeliveredSection) -> Iterable[_HeadingPart]:
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
