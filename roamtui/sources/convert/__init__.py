"""Convert HTML, EPUB, DOCX, PDF and reStructuredText to Markdown with the same outline."""
