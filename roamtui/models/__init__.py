"""Send messages and tools to a model, and stream its reply as events. Only a separate process imports litellm."""
