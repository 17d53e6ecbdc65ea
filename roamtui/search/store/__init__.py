"""Where the words of sections are kept for searching: SQLite's FTS5, in memory or in a file beside the cache."""
