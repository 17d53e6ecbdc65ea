"""Reads a path, a URL or standard input as raw text, with its origin. This folder knows nothing about headings."""
