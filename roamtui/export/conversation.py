"""The formats in which a conversation is exported."""

from collections.abc import Callable, Mapping

from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.export.html import render_html
from roamtui.export.json import render_json
from roamtui.export.markdown import render_markdown

CONVERSATION_RENDERERS: Mapping[str, Callable[[ConversationState, str, Callable[[], Library]], str]] = {
    ".md": lambda state, source, _: render_markdown(state, source),
    ".json": lambda state, source, _: render_json(state, source),
    ".html": lambda state, source, open_library: render_html(state, source, open_library()),
}
"""By suffix: renders a conversation about a source. The third argument opens it, only for a web page."""
