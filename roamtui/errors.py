"""The one family of errors that a person may meet. Each message is a plain sentence that says what to do next."""


class RoamtuiError(Exception):
    """Something failed in a way that a person can understand. Shown as its message alone, exit status 1."""

    exit_code = 1


class UsageError(RoamtuiError):
    """The program was asked for something that it does not do. Exit status 2."""

    exit_code = 2


class SourceError(RoamtuiError):
    """A document could not be read or is none."""


class OpeningCancelledError(RoamtuiError):
    """A person stopped the opening of a document."""

    def __init__(self) -> None:
        super().__init__("Opening was stopped.")


class UnknownSectionError(RoamtuiError):
    """An id names no section of the library."""

    def __init__(self, section_id: str) -> None:
        super().__init__(f'There is no section "{section_id}". `roamtui outline SOURCE` lists the ids.')
        self.section_id = section_id


class ModelError(RoamtuiError):
    """A model could not answer. `overflow` says whether the request was too long for it."""

    def __init__(self, message: str, *, overflow: bool = False) -> None:
        super().__init__(message)
        self.overflow = overflow


class StoreError(RoamtuiError):
    """Conversations cannot be read or saved."""


class ConversationConflictError(StoreError):
    """Another program went on with a conversation, so that it cannot be written over."""

    def __init__(self, conversation_id: str) -> None:
        super().__init__(f"Another program went on with the conversation {conversation_id}.")
        self.conversation_id = conversation_id
