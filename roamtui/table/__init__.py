"""Tables: many questions about many documents, with a proven value in each cell."""
