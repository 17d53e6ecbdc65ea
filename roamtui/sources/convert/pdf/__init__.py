"""Convert a PDF to Markdown: its outline (bookmarks, contents or headings), its tables, and the starts of its pages."""
