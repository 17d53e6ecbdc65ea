"""Finds sections: a library and a query in, ranked sections out. Nothing here opens sections or asks models."""
