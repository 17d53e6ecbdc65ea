"""Turn a library and a budget into the text that the model reads: the outline, and blocks of expanded sections.

The outline never depends on what is open, and everything is reachable by the ids in it.
"""
