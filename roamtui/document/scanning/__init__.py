"""Finding headings quickly: a scan for lines that could matter, and markdown-it-py's own rules where they disagree."""
