"""A second factor at sign-in with a password: codes of an authenticator app (TOTP, RFC 6238), and recovery codes, with django-allauth.

Each person chooses. A sign-in link needs no code: it is the way back for who has lost their device.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import qrcode
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret, validate_totp_code
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.core.cache import cache
from django.db import transaction

TRIES, TRIES_S = 5, 300
"""Wrong codes of a person in so many seconds. A code has six digits, and the password is known to whoever tries."""


class TooManyTries(Exception):
    """The message says when to try again."""


class Adapter(DefaultMFAAdapter):
    """Secrets are stored encrypted, so that who reads the database cannot make codes. The key is not in the database."""

    def is_mfa_enabled(self, user: Any, types: Any = None) -> bool:
        """django-allauth would ask for a code on a page of its own after sign-on, where the provider has its own second factor."""
        return False

    def encrypt(self, text: str) -> str:
        return _fernet().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _fernet().decrypt(encrypted_text.encode()).decode()


def _fernet() -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(f"second factor {settings.SECRET_KEY}".encode()).digest()))


def is_active(user: Any) -> bool:
    return Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).exists()


def check(user: Any, code: str) -> bool:
    """Return whether a code of the app, or a recovery code, is right. Each is taken once. Raises TooManyTries."""
    tries = f"second-factor:{user.pk}"
    cache.add(tries, 0, TRIES_S)
    if cache.incr(tries) > TRIES:
        raise TooManyTries(f"too many wrong codes; try again in {TRIES_S // 60} minutes")
    code = "".join(code.split())
    kinds = {Authenticator.Type.TOTP: TOTP, Authenticator.Type.RECOVERY_CODES: RecoveryCodes}
    try:
        right = any(kinds[one.type](one).validate_code(code) for one in Authenticator.objects.filter(user=user, type__in=kinds))
    except InvalidToken:  # a backup was restored where the secret key is another one
        return False
    if right:
        cache.delete(tries)
    return right


def codes_left(user: Any) -> int:
    found = Authenticator.objects.filter(user=user, type=Authenticator.Type.RECOVERY_CODES).first()
    try:
        return len(RecoveryCodes(found).get_unused_codes()) if found else 0
    except InvalidToken:
        return 0


def new_secret(user: Any) -> tuple[str, str]:
    """Return a secret that is not stored yet, and the address that an app reads."""
    secret = generate_totp_secret()
    return secret, Adapter().build_totp_url(user, secret)


def rows_of_code(address: str) -> list[str]:
    """The QR code of an address: rows of 0 and 1."""
    code = qrcode.QRCode(border=2)
    code.add_data(address)
    return ["".join("1" if dark else "0" for dark in row) for row in code.get_matrix()]


@transaction.atomic
def activate(user: Any, secret: str, code: str) -> list[str] | None:
    """Store a secret once a code shows that the app has it. Returns the recovery codes; None if the code is wrong."""
    if not validate_totp_code(secret, "".join(code.split())):
        return None
    deactivate(user)
    TOTP.activate(user, secret)
    return RecoveryCodes.activate(user).generate_codes()


def deactivate(user: Any) -> None:
    Authenticator.objects.filter(user=user).delete()
