"""Messages and tools into a stream of model events. Only this layer knows litellm, and only in its helper process."""
