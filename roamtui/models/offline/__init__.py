"""The embedded model: no key, no network, deterministic. It finds and quotes; it does not reason.

Like any model it sees only messages and tools: it searches with `search_sections`, opens sections in batches and
answers in quoted sentences.
"""
