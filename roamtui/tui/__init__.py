"""The screen and a person's keys: shows the core's events and state, sends commands, decides nothing."""
