"""Measures search and agent on questions whose sections are known. It scores and describes; front ends write."""
