"""Stands before the real package on the path of tests, so that they search without its model."""
