"""Tables of accounts, one file per subject."""

from .invitations import Invitation
from .log import LogEntry
from .tokens import ApiToken, SignInToken, hashed

__all__ = ["ApiToken", "Invitation", "LogEntry", "SignInToken", "hashed"]
