"""Fetches web pages safely, and caches them. `document` interprets their content."""
