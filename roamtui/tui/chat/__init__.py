"""The conversation as a person sees it: questions, what the model does, answers, and their sources."""
