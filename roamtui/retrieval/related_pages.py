"""Name the pages of a folder or site whose titles bear on a question: a map made for that question."""

from collections import Counter
from collections.abc import Container, Iterator
from math import log

from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.outline.labels import format_size
from roamtui.outline.structure import get_canonical_id
from roamtui.plain import sanitise_line, shorten
from roamtui.search.terms import TermMatcher
from roamtui.text import estimate_tokens

LEAD = "Pages whose titles bear on it, with sizes in tokens:"
_TITLE_LENGTH_MAX = 60
_TERMS_MIN = 2


def render_related_pages(
    library: Library, matcher: TermMatcher, tokens_max: int, known_ids: Container[str] = ()
) -> str:
    """Return a line for each page with terms in its title, best first, in at most `tokens_max` tokens.

    A title needs two of them, because one says little, and rare ones count more. The name of a function or
    class is no title. The pages `known_ids` are left out. Empty if nothing is left.
    """
    titles = {page_id: title for page_id, title in _list_titles(library) if len(title.split()) > 1}
    terms_by_page = {
        page_id: {term for *_, term in matcher.locate(title)} for page_id, title in titles.items()
    }
    counts = Counter(term for terms in terms_by_page.values() for term in terms)
    worth = {term: log(1 + len(titles) / count) for term, count in counts.items()}
    scores = {
        page_id: sum(worth[term] for term in terms)
        for page_id, terms in terms_by_page.items()
        if len(terms) >= _TERMS_MIN
    }
    lines = [LEAD]
    left = tokens_max - estimate_tokens(LEAD)
    for page_id in sorted(scores, key=lambda page_id: -scores[page_id]):
        section_id = get_canonical_id(library, page_id)
        if section_id in known_ids:
            continue
        title = shorten(sanitise_line(titles[page_id]), _TITLE_LENGTH_MAX)
        line = f"- [{section_id}] {title} ({format_size(library, section_id)})"
        left -= estimate_tokens(line) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join(lines) if len(lines) > 1 else ""


def _list_titles(library: Library) -> Iterator[tuple[str, str]]:
    """Yield the id of each file and link, and its title: that of its text if it is loaded and has one."""
    for document in library.documents:
        columns = document.columns
        if not (columns.has_files or NodeKind.LINK in columns.kinds):
            continue
        for row, kind in enumerate(columns.kinds):
            if kind in (NodeKind.FILE, NodeKind.LINK):
                page = library.grafts.get(document.ids[row])
                yield document.ids[row], (page.title if page is not None else "") or columns.titles[row]
