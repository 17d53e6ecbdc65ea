"""The agent's events and the library as text and JSON, for terminals, pipes and other programs."""
