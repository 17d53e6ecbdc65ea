"""The formats in which a conversation is exported."""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from roamtui.conversation.library_sync import explain_missing, is_source_missing
from roamtui.conversation.state import ConversationState, fold_events
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.export.html import render_html
from roamtui.export.json import render_json
from roamtui.export.markdown import render_markdown
from roamtui.quotes.current_text import update_citations

CONVERSATION_RENDERERS: Mapping[str, Callable[[ConversationState, str], str]] = {
    ".md": render_markdown,
    ".json": render_json,
    ".html": render_html,
}
"""By suffix: renders a conversation about a source. A web page includes the text of its library."""


def reopen_document(
    state: ConversationState,
    source: str,
    open_source: Callable[[str, ConversationState], Library],
    advice: str = "add --in SOURCE",
) -> tuple[ConversationState, str]:
    """Look up the quotes of a saved conversation again in its document, which is at `source` now.

    Return the conversation, and a clause that says so if some quotes keep their signs, because not all text
    can be read. `advice` says what to do if the document is gone. Raise `RoamtuiError` if a document that was
    moved cannot be opened.
    """
    try:
        library = open_source(source, state)
    except RoamtuiError as error:
        if source != state.source:
            raise
        problem = explain_missing(source, advice) if is_source_missing(source) else str(error)
    else:
        state = replace(state, library=library)
        state = fold_events(state, *update_citations(state))
        problem = next((document.problem for document in library.documents if document.problem), "")
    note = "where the text cannot be read, quotes keep the signs of the day of their answer."
    return state, problem and f"{note} {problem}"
