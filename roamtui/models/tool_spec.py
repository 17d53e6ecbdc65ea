"""What a model is told about a tool. This module imports little: clients of `roamtui mcp` wait for it."""

from collections.abc import Mapping

from msgspec import Struct

EXPAND_TOOL = "expand_sections"
"""The tool that a line such as ``READ: a8a96034, b9e8ef5c`` calls."""


class ToolSpec(Struct, frozen=True, kw_only=True):
    """A tool as it is described to a model."""

    name: str
    description: str
    parameters: Mapping[str, object]
    """JSON schema of the arguments."""

    def make_bare_schema(self) -> dict[str, object]:
        """Return the schema without descriptions and limits, for which each request would pay."""
        properties = self.parameters.get("properties")
        named = properties.items() if isinstance(properties, dict) else ()
        bare = {name: {key: value[key] for key in ("type", "items") if key in value} for name, value in named}
        return {**self.parameters, "properties": bare}
