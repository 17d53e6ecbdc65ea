"""What `recheck` says of mutated copies of real documents.

A copy has one quoted sentence's heading renamed, its paragraph moved to another section, some of its words replaced, or
its paragraph deleted; other quotes of it are left alone and must be the same.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.document.loader import build_library
from roamtui.quotes.claims import Claim
from roamtui.quotes.current_text import ClaimStatus, recheck
from roamtui.quotes.find import find_quote
from roamtui.sources.read import RawText
from tests.real_documents import read_document

PATTERNS = ("books/*.md", "llms/full/*.txt")
EXPECTED = {
    "rename": ClaimStatus.MOVED,
    "move": ClaimStatus.MOVED,
    "reword": ClaimStatus.CHANGED,
    "delete": ClaimStatus.GONE,
    "leave": ClaimStatus.SAME,
}
_SENTENCE = re.compile(r"(?:(?<=\n\n)|(?<=[.!?] ))[A-Z][^\n.!?|<>\[\]#`]{50,240}[.]")
_WORDS_NEW = ("amber", "basket", "candle", "dozen", "ember", "fathom", "gravel", "harbour", "island", "kettle")
_NEAR = 2_000
"""Characters within which another quote may stand in the paragraph that is changed."""


def find_claims(library: Library) -> list[tuple[str, int]]:
    """Return sentences that stand once in a document, each with its offset; at most one for each section."""
    document = library.root
    text = document.text
    paths = Counter(document.columns.paths())
    found: dict[str, tuple[str, int]] = {}
    for sentence in _SENTENCE.finditer(text):
        section_id = library.section_at("", sentence.start())
        if section_id is None or library.node(section_id).kind is not NodeKind.SECTION or section_id in found:
            continue
        is_sole = paths[library.node(section_id).path] == 1 and text.count(sentence.group()) == 1
        if is_sole and library.text_at(library.node(section_id).own_span).startswith("#"):
            found[section_id] = sentence.group(), sentence.start()
    return [*found.values()]


def mutate(library: Library, kind: str, quote: str, start: int, chance: random.Random) -> str:
    """Return the text of a document, changed where a quote stands."""
    text = library.root.text
    section_id = library.section_at("", start) or ""
    span = library.node(section_id).own_span
    first = text.rfind("\n\n", 0, start) + 2
    end = text.find("\n\n", start)
    end = len(text) if end < 0 else end + 2
    if kind == "rename":
        line_end = text.index("\n", span.start)
        return f"{text[: span.start]}{text[span.start : line_end]} and more{text[line_end:]}"
    if kind == "reword":
        words = quote.split(" ")
        for index in chance.sample(range(len(words)), chance.randint(1, max(1, len(words) // 4))):
            words[index] = chance.choice(_WORDS_NEW)
        return text[:start] + " ".join(words) + text[start + len(quote) :]
    rest = text[:first] + text[end:]
    if kind == "delete":
        return rest
    others = [one for one in library.walk() if one != section_id and library.node(one).kind is NodeKind.SECTION]
    target = library.node(chance.choice(others)).own_span.end
    if target > first:
        target -= end - first
    return f"{rest[:target].rstrip()}\n\n{text[first:end].strip()}\n\n{rest[target:]}"


def try_copies(names: Sequence[str], count: int) -> Iterator[tuple[str, ClaimStatus]]:
    """Yield what was done to a quote, and what was said of it."""
    chance = random.Random(1)  # noqa: S311 - the same copies each time
    libraries = {name: _parse(read_document(name), name) for name in names}
    claims = {name: find_claims(library) for name, library in libraries.items()}
    usable = [name for name in names if len(claims[name]) > 10]
    for number in range(count if usable else 0):
        name = usable[number % len(usable)]
        kind = [*EXPECTED][(number // len(usable) + number % len(usable)) % 4]
        library, text = libraries[name], str(libraries[name].root.text)
        quote, start = chance.choice(claims[name])
        while find_quote(quote, text[:start] + text[start + len(quote) :]):  # it stands there with other marks too
            quote, start = chance.choice(claims[name])
        below = {*library.walk(library.section_at("", start))}
        controls = [
            (one, offset, "leave")
            for one, offset in chance.sample(claims[name], 3)
            if abs(offset - start) > _NEAR and library.section_at("", offset) not in below
        ]
        changed = _parse(mutate(library, kind, quote, start, chance), name)
        for one, offset, done in ((quote, start, kind), *controls):
            claim = Claim(quote=one, place="", section_id=library.section_at("", offset) or "")
            yield done, recheck(claim, changed).status


def _parse(text: str, name: str) -> Library:
    return build_library(RawText(text=text, source=name, name=name.rpartition("/")[2]))
