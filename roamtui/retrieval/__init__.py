"""Decide what a model or a person gets of ranked sections: which, how much, and in what words.

Its functions take values, and no events: the library, what the reader has already, and earlier texts.
"""
