"""The conversation as a person sees it: questions, the model's actions, answers, and sources."""
