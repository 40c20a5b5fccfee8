"""Rights, each including all lower ones. Token scopes have these names, and each role corresponds to one."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal


class Right(IntEnum):
    METRICS = 0  # metrics of the installation, for Prometheus
    READ = 1
    WRITE = 2
    ADMIN = 3  # people, tokens of others, limits

    def __str__(self) -> str:
        return self.name.lower()

    @classmethod
    def of_scope(cls, scope: str) -> Right:
        return cls[scope.upper()]

    @classmethod
    def of_role(cls, role: str) -> Right:
        return OF_ROLES[role]


OF_ROLES = {"viewer": Right.READ, "member": Right.WRITE, "owner": Right.ADMIN}
RoleName = Literal["viewer", "member", "owner"]
Scope = Literal["metrics", "read", "write", "admin"]
SCOPES = [str(right) for right in Right]
