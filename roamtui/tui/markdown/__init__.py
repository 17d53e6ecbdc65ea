"""Markdown blocks laid out as lines of a screen."""
