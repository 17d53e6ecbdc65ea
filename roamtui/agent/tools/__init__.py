"""The tools of the model, each in its own file. A tool answers a bad argument with an explanation, never an error."""

from __future__ import annotations

from collections.abc import Mapping

from roamtui.agent.tools.base import Tool
from roamtui.agent.tools.collapse import CollapseTool
from roamtui.agent.tools.documents import DocumentsTool, list_file_ids
from roamtui.agent.tools.expand import ExpandTool
from roamtui.agent.tools.search import SearchTool
from roamtui.document.library import Library


def make_tools(library: Library, *, has_search: bool) -> Mapping[str, Tool]:
    """Make the tools for a library, by name. Only a library with several files needs a list of documents."""
    tools: list[Tool] = [ExpandTool(), CollapseTool()]
    if has_search:
        tools.append(SearchTool())
    if len(list_file_ids(library)) > 1:
        tools.append(DocumentsTool())
    return {tool.spec.name: tool for tool in tools}
