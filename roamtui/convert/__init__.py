"""Convert PDF, HTML, EPUB, Office files and other formats to Markdown that keeps their outline."""
