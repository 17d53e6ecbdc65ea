"""What the app shows where no document was named: a box to name one, and documents to choose from."""
