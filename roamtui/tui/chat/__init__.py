"""The conversation as a person sees it: questions, the model's steps, answers, and sources."""
