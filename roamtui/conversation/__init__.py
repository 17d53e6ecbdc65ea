"""The state of a conversation: its transcript, what is open, and the one place where openness changes."""
