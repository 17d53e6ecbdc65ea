"""Send messages and tools to a model, and stream its reply. Only a separate process imports litellm."""
