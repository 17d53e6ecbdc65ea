"""Renders conversations and notes as files: one module for each format."""
