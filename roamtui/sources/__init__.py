"""Reads files, folders and standard input as text."""
