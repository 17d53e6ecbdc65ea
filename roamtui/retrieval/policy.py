"""`RetrievalPolicy`: all that can be changed about what a reader gets of the sections that search finds."""

from msgspec import Struct


class RetrievalPolicy(Struct, frozen=True, kw_only=True):
    """How many hits, and how much of each. Sizes are in tokens unless a field says otherwise."""

    # What comes with a question to a model
    excerpts_max: int = 6
    """Maximum number of hits with an excerpt: with more, the first ones lose the ends of their clauses."""
    found_max: int = 18
    """Maximum number of hits in all. Those without an excerpt have a line under "also found"."""
    beside_named_tokens_max: int = 500
    """Maximum size of the hits besides the statements that a question names. With 1,300, 2 % more first
    requests hold the evidence of filings, but they are 700 tokens longer."""
    also_found_tokens_max: int = 400
    """Maximum size of the lines under "also found": about twelve."""
    later_tokens_max: int = 2_400
    """Maximum size of all search results that a model gets in one step, after the first."""
    neighbourhood_tokens: int = 200
    """Size of the outline near the hits."""
    map_tokens_beside_clear: int = 400
    """Size of the outline at the start if the first question has a clear hit. With 250, 14 of 55 contracts
    have no chapter in it."""

    # A clear hit, which opens together with the question
    runner_up_share_max: float = 0.8
    """The best hit is clear if the second score is at most this share of the best."""
    covered_share_min: float = 0.75
    """Minimum share of the question's content words in its text. A title or one mention is not enough."""

    # Excerpts
    hits_tokens_max: int = 2_000
    """Maximum size of all excerpts but the named ones. With 1,300, judges missed the second clause."""
    head_tokens: int = 40
    """Assumed size of the line with the path of a hit, and of a mark that names what is left out."""
    line_tokens: int = 60
    """Size of the excerpt of a hit if the rest has no room: its best sentence."""
    named_excerpt_tokens: int = 700
    """Size of the excerpt of a section that the query names."""
    named_whole_tokens: int = 2_000
    """Size up to which such a section is shown whole."""

    # Follow-ups
    follow_up_terms_max: int = 3
    """Maximum content words of a follow-up. A longer question names its subject itself."""
    asking_words_min: int = 3
    """Minimum number of words after "and". "And what else?" has no verb."""
    own_hits_max: int = 3
    """Maximum number of hits for a follow-up alone. Otherwise all might be about the question before it."""

    # Passages without a model
    passage_sections_max: int = 5
    """Maximum number of sections that passages come from."""
    section_passages_max: int = 3
    """Maximum number of passages of a section."""
    chapter_sections_max: int = 2
    """Maximum number of sections of a chapter. The others of five come from elsewhere."""
    nearest_passages_max: int = 3
    """Maximum number of passages below "not found"."""
    answer_tokens_max: int = 1_100
    """Maximum size of all passages, with the paragraphs around them."""
    card_tokens: int = 400
    """A shorter passage comes with the paragraphs around it, up to this size."""
    passage_score_share_min: float = 0.25
    """A further section, or passage of a section, has at least this share of the best score."""
    evidence_min: float = 0.35
    """Minimum share of the question's subject in a passage that is an answer. It refuses 5 % of 282
    answerable questions, and 90 % of 242 about a document of another set."""
    similar_evidence_min: float = 0.74
    """The same for the sum of evidence and similarity, if the hits were compared by meaning. It refuses 2 %
    of 342 answerable questions, and 96 % of 342 about a document of another set."""
    nearest_evidence_min: float = 0.25
    """The same as `evidence_min` for a passage that is shown as one of the nearest below "not found"."""
    cell_score_min: float = 0.42
    """Minimum score for a cell of a table, which has no room for a doubtful passage. Of 544 cells of 16
    contracts, it leaves 54 % of those without a clause empty, and 34 % of the others."""
    english_doubt: float = 4.0
    """Added to the weight of an English question, because half of two words is weaker evidence than half of
    six. Fewer forms of words are known in other languages."""
    question_weight_max: float = 16.0
    """Maximum weight of a question. Of a long story, a passage needs only a part of the terms."""
    score_evidence_max: float = 0.4
    """Maximum evidence that the score of the best passage adds."""
    name_weight: float = 2.0
    """Factor on the weight of a name or identifier as evidence."""
    answer_bonus: float = 0.1
    """Added to the score of a sentence that has what is asked for, such as a number for "how many"."""
    long_sentence: int = 500
    """Number of characters from which a sentence is long."""
    long_factor: float = 0.8
    """Factor on the score of a long sentence, which holds many words of any question."""
    passage_bonus: float = 0.5
    """Added to the score of the best sentence if its passage has all words."""
    path_bonus: float = 0.6
    """Added to the score of the best sentence if the path of its section has all words."""
    rank_loss: float = 0.4
    """Loss of a section for each better hit of the search. The best has 2. A financial statement that the
    question names has 1 more, so that it comes first."""
    synonym_weight: float = 0.5
    """Weight of a synonym. The word itself has 1."""
    unseen_pair_weight: float = 0.2
    """Factor on the weight of a pair of characters, in a script without spaces, that no section contains.
    About half of the pairs join two words, so their absence means little."""


DEFAULT_POLICY = RetrievalPolicy()
