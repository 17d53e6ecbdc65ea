"""Turn raw text into a `Library`: a tree of nodes with ids, paths and exact ranges.

Nothing here reads files or asks models.
"""
