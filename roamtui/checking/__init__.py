"""Lints a library: rules for documents that are hard to navigate. `headless/` prints the findings."""
