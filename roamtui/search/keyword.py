"""`KeywordRanker`: keyword search with BM25 over titles, paths and texts, plus signals that BM25 lacks.

These signals are whole titles, synonyms, the sentence that answers best, and the topics of the conversation.
Queries are untrusted, so FTS5 receives only strings that this module has quoted.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from roamtui.convert.converted import ProgressCallback
from roamtui.document.library import Library
from roamtui.search.base import Hit, IndexLostError, Ranking
from roamtui.search.financial_statements import find_financial_statements
from roamtui.search.index import IndexLocation, SectionIndex, sort_scores, stem_title
from roamtui.search.lexicon import (
    ROOT_LENGTH_MIN,
    STOP_WORDS,
    Language,
    get_implied_words,
    get_synonyms,
    reduce_word,
    stem,
)
from roamtui.search.numbered_titles import find_numbered_sections
from roamtui.search.section_store import SectionStore
from roamtui.search.sentences import RANKED_LENGTH_MAX, make_snippet, rank_sentences
from roamtui.search.terms import (
    TERMS_MAX,
    TermMatcher,
    detect_language,
    extract_phrases,
    extract_query_terms,
    list_similar_words,
    normalise_unicode,
    space_unspaced_scripts,
    tokenise,
)
from roamtui.search.topics import boost_topics, recall_topics

CANDIDATES = 100
"""Minimum number of sections that are scored."""
_TITLE_SHARE = 0.2
"""Bonus if the query contains every word of the title, as a share of the best text score."""
_PATH_SHARE = 0.2
"""The same bonus for every word of the title, of the titles above it, and of the path."""
_SENTENCE_SHARE = 0.2
"""Bonus for a section with a sentence that contains the whole query, as a share of the best score."""
_READ_MAX = 20
"""Maximum number of sections whose sentences are read, best first."""
_SYNONYM_WEIGHT = 0.3
"""Weight of an everyday synonym of a rare query word, relative to that word. If no section contains the word,
its synonyms count as much as the word would, because the text can contain only them."""
_RARE_SECTIONS_MAX = 10
"""If at most this many sections contain a word, its synonyms are searched too."""
_PHRASE_WORDS_MAX = 32


class Query(Struct, frozen=True, kw_only=True):
    """A query, parsed for the index."""

    text: str
    language: Language
    terms: tuple[str, ...]
    """The result of `extract_query_terms`, and corrections of mistyped words."""
    words: tuple[str, ...]
    """Words that may occur in a title: the terms that are words, and the words inside identifiers."""
    expressions: tuple[str, ...]
    """FTS5 expressions for the other terms."""
    phrases: tuple[str, ...] = ()
    """FTS5 expressions for the phrases in quotation marks."""
    has_only_phrases: bool = False
    """Whether the query contains only phrases."""


def parse_query(text: str) -> Query:
    """Parse a query, which may be any text."""
    text = normalise_unicode(text)
    terms = extract_query_terms(text)
    identifiers: list[str] = []
    words: dict[str, None] = {}
    for term in terms:
        parts = tokenise(term)
        if parts == [term]:
            words[term] = None
        else:
            identifiers.append(_quote(term))
            words |= dict.fromkeys(part for part in parts if len(part) > 1 and part not in STOP_WORDS)
    language = detect_language(text)
    phrases = extract_phrases(text)
    return Query(
        text=text,
        language=language,
        terms=terms,
        words=tuple(words)[:TERMS_MAX],  # an identifier may have any number of words
        expressions=tuple(identifiers),
        phrases=tuple(map(_quote, phrases)),
        has_only_phrases=tokenise(text) == tokenise(" ".join(phrases)),
    )


def correct_query(index: SectionIndex, query: Query) -> Query:
    """Replace words that the index lacks by the title words that are most similar."""
    corrections = {
        word: list_similar_words(word, index.title_words) for word in query.words if not index.has_word(word)
    }
    terms = dict.fromkeys(chain(query.terms, *corrections.values()))
    words = dict.fromkeys(chain.from_iterable(corrections.get(word) or (word,) for word in query.words))
    return replace(query, terms=tuple(terms), words=tuple(words))


class KeywordRanker:
    """Ranks the sections of a library by keywords. Its index follows the versions of the library."""

    def __init__(self, location: IndexLocation | None = None) -> None:
        """Store the index of a large library in `location`. Every other index is in memory."""
        self._location = location
        self._store: SectionStore | None = None
        self._index: SectionIndex | None = None

    def update_index(self, library: Library, on_progress: ProgressCallback | None = None) -> SectionIndex:
        """Bring the index up to date with `library`, and return it."""
        while self._index is None or self._index.library is not library:
            location = self._location
            try:
                if self._store is None:
                    path = location.choose_path(library) if location is not None else None
                    self._store = SectionStore(path)
                self._index = SectionIndex(library, self._store, on_progress)
            except IndexLostError as error:
                self._use_memory(error)
        return self._index

    def rank(
        self, library: Library, query: str, limit: int, within: str | None, earlier: Sequence[str]
    ) -> Ranking:
        """Return up to `limit` hits; see `Searcher.search`. They have no snippets, which take longer."""
        try:
            return _rank(self.update_index(library), query, limit, within, earlier)
        except IndexLostError as error:
            self._use_memory(error)
            return _rank(self.update_index(library), query, limit, within, earlier)

    def _use_memory(self, error: IndexLostError) -> None:
        """Keep the index in memory from now on. If it was there already, raise `error`."""
        if self._location is None:
            raise error
        if self._store is not None:
            self._store.close()
        warning = f"The search index on disk cannot be used ({error}), so it is built again."
        self._location.on_warning(warning)
        self._location = self._store = self._index = None


def add_snippets(ranking: Ranking, hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Return hits with their snippets, and say of each whether it has a word of the query."""
    library = ranking.library
    matcher = ranking.matcher
    found_ids = {hit.section_id for hit in ranking.hits}
    described: list[Hit] = []
    for hit in hits:
        node = library.node(hit.section_id)
        text = library.clean_text(node.own_span)
        has_words = hit.section_id in found_ids or bool(matcher.find_terms("\n".join((*node.path, text))))
        described.append(replace(hit, snippet=make_snippet(text, matcher), is_related=not has_words))
    return tuple(described)


def _rank(index: SectionIndex, text: str, limit: int, within: str | None, earlier: Sequence[str]) -> Ranking:
    numbers = range(len(index))
    if within is not None:
        node = index.library.node(within)
        numbers = index.numbering.subtree(index.numbering.number_of(node.document, node.row))
    query = parse_query(text)
    topics = recall_topics(index, text, earlier) if earlier else {}
    scores: dict[int, float] = {}
    statements: list[int] = []
    asked_for: list[int] = []
    if limit >= 1 and query.terms:
        query = correct_query(index, query)
        scores = _score_sections(index, query, max(limit, CANDIDATES), numbers, topics)
        scores = _prefer_phrases(index, query, numbers, scores)
        statements = find_financial_statements(index, text, numbers, scores)
        asked_for = [*find_numbered_sections(index, query.text, numbers), *statements]
    best = max(scores.values(), default=0.0)
    ranks = {number: rank for rank, number in enumerate(dict.fromkeys((*scores, *asked_for)), start=1)}
    # A section that is asked for has the best score, 1.0, and leaves the scores of the others as they are.
    hits = tuple(
        Hit(
            section_id=index.numbering.id_of(number),
            score=1.0 if number in asked_for else scores[number] / best,
            why=f"text rank {ranks[number]}",
            is_asked_for=number in asked_for,
            is_statement=number in statements,
        )
        for number in list(dict.fromkeys((*asked_for, *scores)))[:limit]
    )
    topic_ids = tuple(map(index.numbering.id_of, topics))
    matcher = TermMatcher(query.terms, query.language)
    return Ranking(library=index.library, hits=hits, matcher=matcher, topics=topic_ids)


def _score_sections(
    index: SectionIndex, query: Query, count: int, within: range, topics: Mapping[int, float]
) -> dict[int, float]:
    """Return the matching sections' scores by number, best first. Equal scores are in document order.

    Up to `count` sections are found, and as many in each topic.
    """
    scores = _score_words(index, query, count, within)
    for numbers in map(index.numbering.subtree, topics):
        inside = range(max(numbers.start, within.start), min(numbers.stop, within.stop))
        scores |= _score_words(index, query, count, inside)
    if not scores:
        return {}
    scores = _boost_by_titles(index, scores, query)
    # The words of a follow-up are incomplete, so no sentence needs to contain all of them.
    scores = boost_topics(scores, topics, index) if topics else _boost_by_best_sentence(index, scores, query)
    return dict(sort_scores(scores))


def _prefer_phrases(
    index: SectionIndex, query: Query, within: range, scores: dict[int, float]
) -> dict[int, float]:
    """Put sections with a phrase of the query first. If the query has only phrases, leave out the others."""
    matches = dict(index.rank(" OR ".join(query.phrases), within, CANDIDATES)) if query.phrases else {}
    best = max(matches.values(), default=1.0)
    best_other = max(scores.values(), default=1.0)
    preferred = {
        number: scores.get(number, 0.0) + best_other * (1 + score / best) for number, score in matches.items()
    }
    return dict(sort_scores(preferred if query.has_only_phrases else {**scores, **preferred}))


def _score_words(index: SectionIndex, query: Query, count: int, within: range) -> dict[int, float]:
    by_stem = {stem(word): _quote(word) for word in query.words}
    terms = tuple(dict.fromkeys((*by_stem.values(), *query.expressions)))
    known, missing = _list_synonyms(index, query, within)
    forms = query.words if query.language is Language.GERMAN else ()
    terms += (*_quote_forms((*forms, *missing), query.language), *map(_quote, get_implied_words(query.text)))
    scores: dict[int, float] = defaultdict(float)
    for expressions, weight in ((terms, 1.0), (_quote_forms(known, query.language), _SYNONYM_WEIGHT)):
        for number, score in index.rank(" OR ".join(expressions), within, count):
            scores[number] += weight * score
    return dict(scores)


def _quote_forms(words: Iterable[str], language: Language) -> list[str]:
    """Return FTS5 expressions for words; in German, also for all their forms and compounds."""
    if language is Language.ENGLISH:
        return [_quote(word) for word in words]
    roots = dict.fromkeys(reduce_word(word, language) for word in words)
    return [f"{_quote(root)} *" for root in roots if len(root) >= ROOT_LENGTH_MIN][:TERMS_MAX]


def _list_synonyms(index: SectionIndex, query: Query, within: range) -> tuple[list[str], list[str]]:
    """Return the synonyms of query words that the index has, and of those that it lacks.

    The synonyms of an English word that many sections contain are left out, because they may mean something
    else. German synonyms are formal words, which are safer.
    """
    known: list[str] = []
    missing: list[str] = []
    for word in query.words:
        if synonyms := get_synonyms(word, query.language):
            count = len(index.rank(_quote(word), within, _RARE_SECTIONS_MAX + 1))
            if not count:
                missing += synonyms
            elif count <= _RARE_SECTIONS_MAX or query.language is Language.GERMAN:
                known += synonyms
    return known, missing


def _boost_by_titles(index: SectionIndex, scores: Mapping[int, float], query: Query) -> dict[int, float]:
    best = max(scores.values())

    def compute_share(words: frozenset[str]) -> float:
        """Return the share of `words` that the query has. Numbers that it lacks do not count."""
        expected = frozenset(word for word in words if not word.isdigit() or word in stems)
        return len(expected & stems) / len(expected) if expected else 0.0

    stems = frozenset(map(stem, query.words))
    boosted = {}
    for number, score in scores.items():
        title = stem_title(index.title(number))
        path = index.path_stems(number)
        bonus = _TITLE_SHARE * compute_share(title) + _PATH_SHARE * compute_share(path)
        boosted[number] = score + best * bonus
    return boosted


def _boost_by_best_sentence(
    index: SectionIndex, scores: Mapping[int, float], query: Query
) -> dict[int, float]:
    """Add a bonus to the best scores: a section with many terms in one sentence probably answers better."""
    boosted = dict(scores)
    best = max(scores.values())
    matcher = TermMatcher(query.terms, query.language)
    for number, _ in sort_scores(scores)[:_READ_MAX]:
        for sentence in rank_sentences(index.own_text(number)[:RANKED_LENGTH_MAX], matcher, limit=1):
            boosted[number] += _SENTENCE_SHARE * best * sentence.score
    return boosted


def _quote(text: str) -> str:
    """Return words as one FTS5 string. Words contain no quotation marks, so nothing needs escaping."""
    return f'"{" ".join(tokenise(space_unspaced_scripts(text))[:_PHRASE_WORDS_MAX])}"'
