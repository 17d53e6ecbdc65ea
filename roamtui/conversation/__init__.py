"""A conversation: its events, the state that follows from them, and its log on disk."""
