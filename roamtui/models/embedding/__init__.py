"""Embedders: texts into vectors, by a provider through litellm or by a model on this machine."""
