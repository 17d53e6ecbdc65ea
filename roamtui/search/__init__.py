"""Find and rank the sections of a library for a query. Nothing here opens sections or asks models."""
