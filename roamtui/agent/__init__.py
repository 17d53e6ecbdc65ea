"""A question into a stream of frozen events that ends in a cited answer."""
