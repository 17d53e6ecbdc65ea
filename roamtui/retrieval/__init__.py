"""Decide what a model or a person gets of ranked sections: which, how much, and in what words.

It takes values and knows no event: the library, what the reader has already, and earlier texts.
"""
