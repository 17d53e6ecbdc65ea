"""Send messages and tools to a model, and stream its reply as events. Only the process of this folder knows litellm."""
