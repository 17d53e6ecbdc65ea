"""Markdown as blocks, and blocks laid out as lines of styled words: the one layout for screens and terminals."""
