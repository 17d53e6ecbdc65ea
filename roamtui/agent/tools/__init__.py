"""The tools of the model, each in its own file. A tool answers a bad argument with an explanation, never an error."""

from __future__ import annotations

from collections.abc import Mapping

from roamtui.agent.tools import collapse, documents, expand, search
from roamtui.agent.tools.base import Tool
from roamtui.document.library import Library


def make_tools(library: Library, *, has_search: bool) -> Mapping[str, Tool]:
    """List the tools for a library, by name. Only a library with several files needs a list of documents."""
    tools = [expand.TOOL, collapse.TOOL]
    tools += [search.TOOL] if has_search else []
    tools += [documents.TOOL] if len(documents.list_file_ids(library)) > 1 else []
    return {tool.name: tool for tool in tools}
