"""A folder of notes with links between them, and a file outside it."""

from pathlib import Path

_NOTES = {
    "start.md": "# Start\n\n[Rules](rules.md#late-fees), [[Recipes#Rye bread|rye]], [here](#end).\n\n## End\n\nDone.\n",
    "rules.md": "# Rules\n\n## Loans\n\nSee [late](#late-fees).\n\n## Late fees\n\nTwo euros. [Back](start.md)\n",
    "sub/Recipes.md": "# Recipes\n\n## Rye bread\n\n[x](../rules.md#late-fees)\n\n<a id='odd'></a>Odd.\n",
}


def write_notes(folder: Path) -> Path:
    """Write the notes below `folder`, and return their own folder."""
    notes = folder / "notes"
    for name, text in _NOTES.items():
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        (notes / name).write_text(text, "utf-8")
    (folder / "secret.md").write_text("# Secret\n", "utf-8")
    return notes
