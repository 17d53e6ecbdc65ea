"""Convert HTML, EPUB, DOCX, PDF and reStructuredText to Markdown that keeps their outline."""
