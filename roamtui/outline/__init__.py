"""Turn a library and a budget into what the model reads: the outline, and expanded sections.

The outline never depends on what is open. Its ids lead to every section.
"""
