"""Convert a PDF to Markdown: outline (bookmarks, contents or headings), tables, and page starts."""
