"""Other formats into Markdown text with the outline kept: HTML, EPUB, DOCX, PDF and reStructuredText."""
