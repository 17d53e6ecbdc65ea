"""The agent's events and the library as text and JSON, for a terminal, a pipe and other programs."""
