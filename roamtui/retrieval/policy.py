"""`RetrievalPolicy`: the numbers that decide how much a reader gets of the sections that search finds."""

from msgspec import Struct


class RetrievalPolicy(Struct, frozen=True, kw_only=True):
    """How many hits, and how much of each. Sizes are in tokens unless a field says otherwise."""

    # What comes with a question to a model
    excerpts_max: int = 6
    """Maximum number of hits with an excerpt: with more, the first ones lose the ends of their clauses."""
    found_max: int = 18
    """Maximum number of hits in all. Those without an excerpt have a line under "also found"."""
    with_named_tokens_max: int = 500
    """Maximum size of the hits that come with the statements that a question names. With 1,300, 2 % more
    first requests hold the evidence of filings, but they are 700 tokens longer."""
    also_found_tokens_max: int = 400
    """Maximum size of the lines under "also found": about twelve."""
    later_tokens_max: int = 2_400
    """Maximum size of all search results that a model gets in one step, after the first."""
    neighbourhood_tokens: int = 200
    """Size of the outline near the hits."""
    map_tokens_with_clear_hit: int = 400
    """Size of the outline at the start if the first question has a clear hit or names a statement. With 250,
    14 of 55 contracts have no chapter in it."""

    # A clear hit, which opens together with the question
    runner_up_share_max: float = 0.8
    """The best hit is clear if the second score is at most this share of the best."""
    covered_share_min: float = 0.75
    """Minimum share of the question's content words in its text. A title or one mention is not enough."""

    # Excerpts
    hits_tokens_max: int = 2_000
    """Maximum size of all excerpts. With 1,300, judges missed the second clause."""
    head_tokens: int = 40
    """Assumed size of the line with the path of a hit, and of a mark that names omitted parts."""
    line_tokens: int = 60
    """Size of the excerpt of a hit if there is only room for its best sentence."""
    named_excerpt_tokens: int = 700
    """Size of the excerpt of a section that the query names, if there is no room for all of it."""

    # A small model
    brief_tokens_max: int = 1_200
    """Maximum size of the excerpts for a small model. Most run where 1,000 tokens take half a minute."""

    # Follow-ups
    follow_up_terms_max: int = 3
    """Maximum content words of a follow-up. A longer question names its subject itself."""
    asking_words_min: int = 3
    """Minimum number of words after "and". "And what else?" has no verb."""
    own_hits_max: int = 3
    """Maximum number of hits for a follow-up alone. Otherwise all might be about the question before it."""

    # Passages without a model
    passages_max: int = 5
    """Maximum number of passages. With seven, 3 % more answers have the evidence, but are a third longer."""
    candidates_max: int = 7
    """Maximum number of passages that words propose, and that meaning adds. Ten find nothing more."""
    statements_max: int = 8
    """Maximum number of sentences of a passage that are compared by meaning: half a second for all."""
    nearest_min: float = 0.13
    """Minimum proof by words that a passage is near the question. Below it are 2 % of the questions about
    their own document, 19 % of those in everyday words, and 76 % of those about another one."""
    doubt_weight: float = 4.0
    """Added to the weight of a question, because half of two words proves less than half of six."""
    synonym_weight: float = 0.5
    """Weight of a synonym. The word itself has 1."""


POLICY = RetrievalPolicy()
