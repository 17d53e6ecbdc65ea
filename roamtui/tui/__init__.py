"""The screen and a person's keys: shows events and state of the core, sends it commands, and decides nothing."""
