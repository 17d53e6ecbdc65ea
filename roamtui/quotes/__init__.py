"""Quotes of an answer: where they are, and whether the text that was read has their words."""
