"""How easy a document is to roam: rules over a library. What is printed of them is `headless/`'s affair."""
