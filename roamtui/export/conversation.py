"""The formats in which a conversation is exported."""

from collections.abc import Callable, Mapping

from roamtui.conversation.state import ConversationState
from roamtui.export.html import render_html
from roamtui.export.json import render_json
from roamtui.export.markdown import render_markdown

CONVERSATION_RENDERERS: Mapping[str, Callable[[ConversationState, str], str]] = {
    ".md": render_markdown,
    ".json": render_json,
    ".html": render_html,
}
"""By suffix: renders a conversation about a source. A web page includes the text of its library."""
