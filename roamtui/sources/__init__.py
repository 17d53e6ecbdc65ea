"""A path, an address or standard input into raw text with its origin. Knows nothing of headings."""
