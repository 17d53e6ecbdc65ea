"""Parse Markdown into blocks, the only form in which other modules read it."""
