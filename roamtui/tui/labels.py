"""Words for the screen: the path of a node, tokens and their cost, a failure."""

from __future__ import annotations

from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.models.base import replace_flags
from roamtui.outline.labels import PATH_STEP, format_node_title
from roamtui.plain import sanitise_line


def format_full_path(library: Library, section_id: str) -> str:
    """Return the path of a node, or a placeholder if the library no longer has it."""
    if section_id not in library:
        return f"unknown section {sanitise_line(section_id)}"
    ancestors = format_ancestors(library, section_id)
    title = format_node_title(library.node(section_id))
    return f"{ancestors}{PATH_STEP}{title}" if ancestors else title


def format_ancestors(library: Library, section_id: str | None) -> str:
    """Return the path of a node's ancestors without the document's own title, which the header shows."""
    ancestors = () if section_id is None else library.node(section_id).ancestors
    return PATH_STEP.join(
        format_node_title(library.node(node_id)) for node_id in ancestors if node_id != library.title_id
    )


def format_error(error: BaseException | None) -> str:
    """Return a failure in one sentence. The message of a `RoamtuiError` is a sentence already."""
    if isinstance(error, RoamtuiError):
        return adapt_flags(str(error))
    kind = type(error).__name__
    return f"Internal error ({kind}: {error}). The conversation is intact; ask again."


def adapt_flags(words: str) -> str:
    """Name a key in place of the flags in a model's error, because a running app has no flags."""
    return replace_flags(words, model="f2", server="the server's URL (f2)")
