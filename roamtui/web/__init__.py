"""Fetch web pages safely and cache them. `document` interprets their content."""
