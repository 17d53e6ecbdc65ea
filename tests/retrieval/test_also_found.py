"""Further places that mention a question's words: one line each, which can be quoted."""

from roamtui.retrieval import policy
from roamtui.retrieval.hit_list import render_hits
from roamtui.retrieval.question_search import ModelView
from roamtui.search.base import Hit
from roamtui.text import estimate_tokens
from tests.search.libraries import id_of, make_library

_PARTS = range(policy.HITS_MAX)
_EXCERPTS = 4
_TEXT = "".join(
    f"## Part {part}\n\n{'Nothing of note is said here, ' * 30}and herons of part {part} eat fish there.\n\n"
    for part in _PARTS
)
LIBRARY = make_library(f"# Birds\n\n{_TEXT}")
HITS = [
    Hit(section_id=id_of(LIBRARY, f"Part {part}"), score=1.0 if part < _EXCERPTS else 0.3, why="") for part in _PARTS
]


def test_words_that_several_sections_have_take_one_line() -> None:
    herons = "Herons eat fish here.\n\n"
    library = make_library("# Birds\n\n" + "".join(f"## Part {part}\n\n{herons}" for part in _PARTS))
    hits = [Hit(section_id=id_of(library, f"Part {part}"), score=0.5**part, why="") for part in _PARTS]
    listed = render_hits(ModelView(library=library, room_tokens=64_000), hits, "herons", tokens_max=60)
    assert listed.text.partition("Also found")[2].count("Herons eat fish here.") == 1


def test_hits_without_an_excerpt_have_a_line_with_words_around_the_match_that_can_be_quoted() -> None:
    listed = render_hits(ModelView(library=LIBRARY, room_tokens=64_000), HITS, "herons fish")
    shown, _, also_found = listed.text.partition("Also found")
    assert shown.count("- [") == _EXCERPTS
    lines = also_found.splitlines()[1:]
    assert len(lines) == len(listed.also_found) >= 10
    assert estimate_tokens(also_found) <= policy.ALSO_FOUND_TOKENS_MAX
    quotable = [LIBRARY.text_at(span) for span in listed.excerpts]
    for section_id, line in zip(listed.also_found, lines, strict=True):
        words = f"herons of {LIBRARY.node(section_id).title.lower()} eat"
        assert line.startswith(f"- [{section_id}] ")
        assert words in line
        assert any(words in quote for quote in quotable)
