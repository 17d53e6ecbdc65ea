"""What a model is told about each tool, and which tools it gets.

This module imports little, because a client of `roamtui mcp` waits for the list.
"""

from roamtui.models.tool_spec import EXPAND_TOOL, ToolSpec
from roamtui.outline.delivered import WHOLE_TOKENS_MAX
from roamtui.text import format_tokens

IDS_MAX = 20
"""Maximum number of sections that a call opens."""
QUERIES_MAX = 8
"""Maximum number of wordings of a search. Models send up to ten at once."""
QUOTES_MAX = 60
"""Maximum number of quotes per call, so that a client does not wait too long."""

OUTLINE = ToolSpec(
    name="outline",
    description=(
        "Read the outline: the headings, each with the id of a section that expand_sections opens, its "
        "size and a hint of what it holds. Read it before anything else."
    ),
    parameters={"type": "object", "properties": {}},
)
EXPAND = ToolSpec(
    name=EXPAND_TOOL,
    description=(
        f"Read sections, several at once: up to {format_tokens(WHOLE_TOKENS_MAX)} tokens whole, a larger one "
        "as its own text and a list of what is below."
    ),
    parameters={
        "type": "object",
        "properties": {
            "section_ids": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": IDS_MAX,
                "description": "Ids, or what the text calls a section: a title, or the number of a clause.",
            }
        },
        "required": ["section_ids"],
    },
)
COLLAPSE = ToolSpec(
    name="collapse_sections",
    description="Close sections of no further use.",
    parameters={
        "type": "object",
        "properties": {"section_ids": {"type": "array", "items": {"type": "string"}, "minItems": 1}},
        "required": ["section_ids"],
    },
)
SEARCH = ToolSpec(
    name="search_sections",
    description=(
        'Find sections by words or a "phrase": several wordings at once, also only `within` one section, '
        "as for a term in long definitions."
    ),
    parameters={
        "type": "object",
        "properties": {
            "queries": {"type": "array", "items": {"type": "string"}, "maxItems": QUERIES_MAX},
            "within": {"type": "string", "description": "Id of a section."},
        },
        "required": ["queries"],
    },
)
DOCUMENTS = ToolSpec(
    name="list_documents",
    description="List all documents.",
    parameters={
        "type": "object",
        "properties": {"offset": {"type": "integer", "minimum": 0, "default": 0}},
    },
)
QUOTES = ToolSpec(
    name="check_quotes",
    description=(
        "Look up every quotation of a text, such as your answer: words in quotation marks, block "
        "quotes. Each gets a verdict and its place: found; elsewhere (in another section than the one "
        "whose [id] follows it); unreachable (the page cannot be read); not_found, with the nearest words. "
        f"At most {QUOTES_MAX} a call."
    ),
    parameters={
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "document": {
                "type": "string",
                "description": "Path or id of the document that is quoted, if known.",
            },
        },
        "required": ["text"],
    },
)


def list_specs(*, has_search: bool, has_room: bool, has_one_file: bool = False) -> list[ToolSpec]:
    """List the tools of the agent's model. If its window `has_room`, no tool closes sections."""
    specs = [EXPAND]
    specs += [] if has_room else [COLLAPSE]
    specs += [SEARCH] if has_search else []
    specs += [] if has_one_file else [DOCUMENTS]
    return specs


def list_served_specs(*, has_search: bool) -> list[ToolSpec]:
    """List the tools of `roamtui mcp`."""
    return [OUTLINE, *list_specs(has_search=has_search, has_room=True), QUOTES]
