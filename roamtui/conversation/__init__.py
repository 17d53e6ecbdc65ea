"""The state of a conversation: its transcript, what is open, and the one place where openness changes.

`update` is pure; `session` is the imperative shell around it; `store` keeps conversations on disk.
"""
