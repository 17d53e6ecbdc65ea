"""Turns a question into a stream of immutable events that ends in an answer with citations."""
