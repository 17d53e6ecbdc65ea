"""What a library consists of: each document with its title, outline and summary."""
