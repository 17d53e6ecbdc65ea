"""Measures search and agent on questions with known sections. Front ends write the results."""
