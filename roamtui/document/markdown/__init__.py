"""Markdown as blocks, the one form in which it is read."""
