"""The tools that a model has: one file each, independent of each other. A bad argument is an answer, never an error."""

from __future__ import annotations

from collections.abc import Mapping

from roamtui.agent.tools.base import Tool
from roamtui.agent.tools.collapse import CollapseTool
from roamtui.agent.tools.documents import DocumentsTool, list_files
from roamtui.agent.tools.expand import ExpandTool
from roamtui.agent.tools.search import SearchTool
from roamtui.document.library import Library


def make_tools(library: Library, *, has_search: bool) -> Mapping[str, Tool]:
    """Return the tools by name. Only a library of several files has tools for whole documents."""
    has_documents = len(list_files(library)) > 1
    search = (SearchTool(),) if has_search else ()
    documents = (DocumentsTool(),) if has_documents else ()
    tools: tuple[Tool, ...] = (ExpandTool(), CollapseTool(), *search, *documents)
    return {tool.spec.name: tool for tool in tools}
