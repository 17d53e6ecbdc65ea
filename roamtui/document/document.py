"""`Document`: one parsed file or page, as text and columns."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, pairwise

from msgspec import Struct

from roamtui.commonmark import Definitions, parse_link_definitions
from roamtui.markdown.anchors import extract_anchor, make_anchor
from roamtui.text import compute_line_starts, estimate_tokens


class NodeKind(StrEnum):
    """Kind of a node."""

    SECTION = "section"
    """A heading and the text below it."""
    PREAMBLE = "preamble"
    """Text before the first heading; front matter belongs to it."""
    TEXT = "text"
    """A group of paragraphs in a document without headings."""
    LINK = "link"
    """A page that is fetched when it is opened."""
    FILE = "file"
    FOLDER = "folder"


SMALL_SITE_PAGES_MAX = 40
"""Maximum number of pages of a site that is read whole at the first question."""
LOADED_ON_DEMAND = frozenset({NodeKind.FILE, NodeKind.LINK})
"""Kinds of nodes whose document is loaded only when it is needed."""
LISTED = frozenset({NodeKind.FILE, NodeKind.FOLDER})
"""Kinds of the rows of a folder's listing."""
TEXTLESS = LOADED_ON_DEMAND | LISTED
"""Kinds of nodes without a text of their own."""


class NodeRow(Struct, frozen=True):
    """A node as a parser finds it."""

    kind: NodeKind
    level: int
    """The parent is the nearest earlier row with a smaller level. Level 0 has no parent and no children."""
    title: str
    start: int
    """Offset of its first character in the document's text."""
    url: str = ""
    anchor: str = ""
    """The end of its title that names an anchor, such as ` {#oars}`."""


class NodeColumns(Struct, frozen=True, kw_only=True):
    """The rows of a document, stored by column, in document order. Parents come before their children."""

    kinds: tuple[NodeKind, ...]
    levels: bytes
    titles: tuple[str, ...]
    urls: tuple[str, ...]
    anchors: tuple[str, ...]
    starts: array[int]
    """Start offset of each row's own text, which ends where the next starts. The last is the text's end."""
    parents: array[int]
    """Row of the parent of each row, or -1 at the top."""
    ends: array[int]
    """First row after the subtree of each row."""

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def is_listing(self) -> bool:
        """Whether this is the listing of a folder: its first row is a file or a folder."""
        return bool(self.kinds) and self.kinds[0] in LISTED

    def get_shown_title(self, row: int) -> str:
        """Return a title without its anchor."""
        return self.titles[row].removesuffix(self.anchors[row])

    def path(self, row: int) -> tuple[str, ...]:
        """Return the titles from the top down to `row`."""
        titles = [self.titles[row]]
        while (row := self.parents[row]) >= 0:
            titles.append(self.titles[row])
        return tuple(reversed(titles))

    def paths(self) -> Iterator[tuple[str, ...]]:
        """Yield the path of each row, in order."""
        paths: list[tuple[str, ...]] = []
        for row, title in enumerate(self.titles):
            parent = self.parents[row]
            path = (title,) if parent < 0 else (*paths[parent], title)
            paths.append(path)
            yield path

    def list_rows(self) -> list[NodeRow]:
        """Return the rows as a parser finds them."""
        return list(map(NodeRow, self.kinds, self.levels, self.titles, self.starts, self.urls, self.anchors))


def make_columns(rows: Sequence[NodeRow], length: int) -> NodeColumns:
    """Nest `rows` by level. Levels may be skipped."""
    levels = bytes(row.level for row in rows)
    parents = array("l", [-1]) * len(levels)
    ends = array("l", [len(levels)]) * len(levels)
    open_rows: list[int] = []
    for index, level in enumerate(levels):
        while open_rows and (levels[open_rows[-1]] >= level or levels[open_rows[-1]] == 0):
            ends[open_rows.pop()] = index
        if open_rows:
            parents[index] = open_rows[-1]
        open_rows.append(index)
    return NodeColumns(
        kinds=tuple(row.kind for row in rows),
        levels=levels,
        titles=tuple(row.title for row in rows),
        urls=tuple(row.url for row in rows),
        anchors=tuple(row.anchor for row in rows),
        starts=array("Q", [*(row.start for row in rows), length]),
        parents=parents,
        ends=ends,
    )


_MARKED_ID = re.compile(r"\{[^{}#\n]*+#([^\s{}]++)[ }]|\b(?:id|name)=[\"']?([^\"'\s>]++)[\"'\s>]")
_SEPARATOR = "\x1f"


class Document(Struct, frozen=True, kw_only=True, dict=True, eq=False):
    """The text of a file or page, and its nodes as columns. Other values are computed on demand."""

    key: str
    """Key within the source; empty for a single document."""
    title: str
    text: str
    """The text as it is parsed, without byte order mark. The own text of a node is a slice of it. In plain
    text and logs, `parse_source_text` has added spaces."""
    columns: NodeColumns
    url: str | None = None
    notes: tuple[str, ...] = ()
    """One sentence for each replacement or guess made while reading."""
    left_out: tuple[str, ...] = ()
    """Each kind of text that the source has and `text` lacks, in a few words."""
    salt: str = ""
    """Hashed into all ids of this document if another document would have an equal id; usually empty."""
    page_starts: tuple[int, ...] = ()
    """Start offset of each page; empty if the file has no pages."""
    page_labels: tuple[str, ...] = ()
    """The printed number of each page; empty where it equals the page's position. An empty tuple if none
    differs."""
    has_page_titles: bool = False
    """Whether the converter has written a heading at the start of each page, and there are no others."""
    problem: str = ""
    """Why it could not be read, in one sentence. It then has neither text nor nodes."""
    refused_origin: str = ""
    """Origin of the page if nobody has approved it; else empty."""
    is_site: bool = False
    """Whether it lists the pages of a site. The pages of a small site are read like the files of a folder."""

    @cached_property
    def _children(self) -> dict[int, tuple[str, ...]]:
        """Cache of `list_children`, by row. It makes large outlines much faster."""
        return {}

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Id of each row."""
        is_listing = self.columns.is_listing
        return tuple(make_ids(self.key, self.columns.paths(), salt=self.salt, is_listing=is_listing))

    @cached_property
    def rows_by_id(self) -> dict[str, int]:
        """Row of each id."""
        return {node_id: row for row, node_id in enumerate(self.ids)}

    @cached_property
    def ids_by_path(self) -> Mapping[str, str]:
        """Ids of files and folders by their paths, the shortest paths first; none if this is no listing."""
        if not self.columns.is_listing:
            return {}
        listed = zip(map("/".join, self.columns.paths()), self.ids, strict=True)
        return dict(sorted(listed, key=lambda entry: (entry[0].count("/"), entry[0])))

    @cached_property
    def title_row(self) -> int | None:
        """Row of the title: `sole_row` if it has children, else None."""
        row = self.sole_row
        return row if row is not None and self.columns.ends[row] - row > 1 else None

    @property
    def eager_ids(self) -> tuple[str, ...]:
        """Ids of the files of a folder, or the pages of a small site: the first question reads them."""
        kinds = self.columns.kinds
        if self.is_site and kinds.count(NodeKind.LINK) <= SMALL_SITE_PAGES_MAX:
            kind = NodeKind.LINK
        elif self.columns.is_listing:
            kind = NodeKind.FILE
        else:
            return ()
        return tuple(node_id for node_id, each in zip(self.ids, kinds, strict=True) if each is kind)

    @property
    def _has_preamble(self) -> bool:
        return self.columns.kinds[:1] == (NodeKind.PREAMBLE,)

    @cached_property
    def sole_row(self) -> int | None:
        """Row of the only top-level node that is no preamble, if it is a heading of level 1, else None."""
        columns = self.columns
        row = int(self._has_preamble)
        if row == len(columns) or columns.ends[row] < len(columns):
            return None
        return row if columns.kinds[row] is NodeKind.SECTION and columns.levels[row] == 1 else None

    @property
    def lead_row_count(self) -> int:
        """Number of rows before the first section below the title: a preamble and the title."""
        return int(self._has_preamble) if self.sole_row is None else self.sole_row + 1

    @cached_property
    def hidden_ids(self) -> frozenset[str]:
        """Id of a preamble that is only white space. It exists so that the own texts cover the whole text."""
        is_hidden = self._has_preamble and not self.text[: self.columns.starts[1]].strip()
        return frozenset(self.ids[:1]) if is_hidden else frozenset()

    def list_children(self, row: int) -> tuple[str, ...]:
        """Return the ids of the child rows of `row`, or of the top rows for -1."""
        ends = self.columns.ends
        ids = self.ids
        child, end = (0, len(ids)) if row < 0 else (row + 1, ends[row])
        if child == end:
            return ()
        children = self._children.get(row)
        if children is None:
            child_ids: list[str] = []
            while child < end:
                child_ids.append(ids[child])
                child = ends[child]
            children = self._children[row] = tuple(child_ids)
        return children

    @cached_property
    def anchors(self) -> dict[str, int]:
        """Row of each heading by the anchor that it names, as in `{#oars}`, and by its GitHub anchor.

        The GitHub anchor is in lower case, without punctuation, and has hyphens for spaces. A repeated anchor
        gets the next number that no other heading has.
        """
        counts: Counter[str] = Counter()
        rows: dict[str, int] = {}
        for row, anchor in enumerate(self.columns.anchors):
            if named := extract_anchor(anchor):
                rows.setdefault(named.lower(), row)
        for row in range(len(self.columns)):
            slug = anchor = make_anchor(self.columns.get_shown_title(row))
            while anchor in rows:
                counts[slug] += 1
                anchor = f"{slug}-{counts[slug]}"
            rows[anchor] = row
        return rows

    @cached_property
    def marked_offsets(self) -> dict[str, int]:
        """Offset of each id in braces after a heading, and of each id or name of an HTML element."""
        matches = reversed([*_MARKED_ID.finditer(self.text)])
        return {match[match.lastindex or 0]: match.start(match.lastindex or 0) for match in matches}

    @cached_property
    def link_definitions(self) -> Definitions:
        """The link definitions of the text."""
        return parse_link_definitions(self.text, self.columns.starts)

    def page_at(self, offset: int) -> int | None:
        """Return the 1-based page of the character at `offset`, or None if the document has no pages."""
        return max(1, bisect_right(self.page_starts, offset)) if self.page_starts else None

    def get_page_label(self, page: int | None) -> str:
        """Return the printed number of a page; empty if it equals `page` or is not known."""
        return self.page_labels[page - 1] if page is not None and self.page_labels else ""

    @cached_property
    def line_starts(self) -> array[int]:
        """Offset of each line."""
        return compute_line_starts(self.text)

    @cached_property
    def own_tokens(self) -> array[int]:
        """Estimated tokens of each row's own text."""
        return array(
            "Q", (estimate_tokens(self.text[start:end]) for start, end in pairwise(self.columns.starts))
        )

    @cached_property
    def tokens_before(self) -> array[int]:
        """Estimated tokens of all own texts before each row, and the total as the last entry."""
        return array("Q", accumulate(self.own_tokens, initial=0))

    @cached_property
    def content_hash(self) -> str:
        """Digest of the text, which shows whether the document has changed."""
        return hash_text(self.text)

    def precompute(self) -> None:
        """Compute the expensive cached values in the thread that loads, so that nobody waits later."""
        _ = self.rows_by_id, self.tokens_before, self.content_hash


def hash_text(text: str) -> str:
    """Compute a digest of `text`: 32 hex digits, the same on every machine."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def make_node_id(doc: str, path: Sequence[str], ordinal: int, *salt: str) -> str:
    """Make an id for a node of document `doc`. A `salt` changes the id.

    `ordinal` is the number of earlier nodes with the same path.
    """
    joined = _SEPARATOR.join([doc, *path, str(ordinal), *salt])
    return blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def make_ids(
    doc: str, paths: Iterable[Sequence[str]], *, salt: str = "", is_listing: bool = False
) -> list[str]:
    """Make an id for each path of document `doc`, in order. Equal paths get different ordinals.

    In a listing, each file or folder is a document of its own, with its path as key.
    """
    ordinals: dict[tuple[str, ...], int] = {}
    ids: dict[str, None] = {}
    for path in paths:
        key = tuple(path)
        ordinal = ordinals.get(key, 0)
        ordinals[key] = ordinal + 1
        base_salt = (salt,) if salt else ()
        node_doc = "/".join(key) if is_listing else doc
        node_id = make_node_id(node_doc, key, ordinal, *base_salt)
        attempt = 0
        while node_id in ids:
            attempt += 1
            node_id = make_node_id(node_doc, key, ordinal, *base_salt, str(attempt))
        ids[node_id] = None
    return list(ids)
