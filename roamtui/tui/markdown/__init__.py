"""Blocks of Markdown as lines of a screen."""
