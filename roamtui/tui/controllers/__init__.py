"""What a person does in the main screen, apart from its widgets: asking, reading, finding, notes and reloading."""
