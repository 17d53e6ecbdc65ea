"""Read paths, URLs and standard input as text. This folder knows nothing about headings."""
