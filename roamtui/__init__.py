"""roamtui: ask questions of well-organised documents.

Layers, each importing only those above it: sources, document, outline, search, conversation, models, agent,
headless and tui, cli. ARCHITECTURE.md draws the picture.
"""

__version__ = "0.2.0"
