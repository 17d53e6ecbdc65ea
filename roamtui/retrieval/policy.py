"""Numbers that decide how many hits a reader gets, and how much of each. Sizes are in tokens."""

# What is sent to a model with a question
EXCERPT_TOKENS_MIN = 150
"""A hit has an excerpt if its share of the room is at least this, in proportion to the cubes of the scores.
Where six hits had one, 6 in 100 fewer first requests held the evidence of questions about Vespa and Ray that
did not choose this number, and those about contracts had a fifth more tokens of hits."""
HITS_MAX = 18
"""Maximum number of hits in all. Those without an excerpt have a line under "also found"."""
BESIDE_STATEMENTS_TOKENS_MAX = 500
"""Maximum size of the other hits if a question asks for financial statements. With 1,300, 2 % more first
requests hold the evidence of filings, but they are 700 tokens longer."""
ALSO_FOUND_TOKENS_MAX = 400
"""Maximum size of the lines under "also found": about twelve."""
NEIGHBOURHOOD_TOKENS = 200
"""Size of the outline near the hits."""
OUTLINE_TOKENS_WITH_CLEAR_HIT = 400
"""Size of the outline at the start if the first question has a clear hit or names a section. With 250,
14 of 55 contracts have no chapter in it."""

# A clear hit, which opens together with the question
RUNNER_UP_SHARE_MAX = 0.8
"""The best hit is clear if the second score is at most this share of the best."""
COVERED_SHARE_MIN = 0.75
"""Minimum share of the question's content words in its text. A title or one mention is not enough."""

# Excerpts
HITS_TOKENS_MAX = 2_000
"""Maximum size of all excerpts. With 1,300, judges missed the second clause."""
LATER_HITS_TOKENS_MAX = 1_200
"""Maximum size of all excerpts of the searches that a model makes in one step. With 2,000, 36
questions cost 5 % more, and 19 others 1 %; with 1,200, 1 % of what their answers quoted is left out."""
HEAD_TOKENS = 40
"""Assumed size of the line with the path of a hit, and of a mark that names omitted parts."""
SENTENCE_EXCERPT_TOKENS = 60
"""Size of the excerpt of a hit if there is only room for its best sentence."""
ASKED_FOR_EXCERPT_TOKENS = 700
"""Size of the excerpt of a section that the query asks for, if there is no room for all of it."""

# A small model
BRIEF_TOKENS_MAX = 1_200
"""Maximum size of the excerpts for a small model. Most run on computers that read 1,000 tokens in 30 s."""

# Follow-ups
FOLLOW_UP_TERMS_MAX = 3
"""Maximum content words of a follow-up. A longer question names its subject itself."""
ASKING_WORDS_MIN = 3
"""Minimum number of words after "and". "And what else?" has no verb."""

# Passages without a model
PASSAGES_MAX = 5
"""Maximum number of passages. With seven, 3 % more answers have the evidence, but are a third longer."""
CANDIDATES_MAX = 7
"""Maximum number of passages that words propose, and of those that meaning adds. Ten find nothing more."""
SENTENCES_MAX = 8
"""Maximum number of sentences of a passage that are compared by meaning: half a second for all."""
SHOWN_TOKENS_MAX = 120
"""Maximum size of the part of a paragraph that is shown. With 60, it left out the answer to one of 30
questions more, and exceptions such as "never"."""
KEY_SENTENCE_WIDTH_MAX = 640
"""Maximum width of a sentence that is shown whole, in cells: eight lines, like the longest whole list."""
NEAREST_MIN = 0.13
"""Minimum `word_confidence` of passages that are near the question. Below it are 2 % of the questions about
their own document, 19 % of those in everyday words, and 76 % of those about another one."""
DOUBT_WEIGHT = 4.0
"""Added to the weight of a question, because half of two words proves less than half of six."""
INDIRECT_WEIGHT = 0.5
"""Weight of a synonym, and of a word that only the question before a follow-up has. The word itself has 1."""
