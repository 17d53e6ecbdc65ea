"""Pages of the web: which addresses may be fetched, and safe, cached fetching of them.

What a page says is `document`'s matter.
"""
