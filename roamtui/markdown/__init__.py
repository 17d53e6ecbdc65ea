"""Markdown as blocks, and blocks as lines of styled words: one layout for screens and terminals."""
