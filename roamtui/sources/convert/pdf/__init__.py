"""A PDF into Markdown: its outline as its author gave or printed it, its tables, and where each page begins."""
