"""Decide what a model or a person gets of the sections that search ranks: which, how much of each, and in what words.

It takes values and knows no event: the library, what the reader has already, and earlier texts.
"""
