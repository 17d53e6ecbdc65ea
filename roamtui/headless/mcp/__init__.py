"""`roamtui mcp`: the agent's tools for any program that speaks the Model Context Protocol, by the official SDK."""
