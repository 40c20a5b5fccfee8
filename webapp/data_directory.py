"""Permissions of the data directory: only its owner may read it, and a group if the operator shares it with one.

The directory holds the secret key, and the results of all labs. Standard library only: scripts/up uses this before anything is installed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

OURS = re.compile(r"millrace\.sqlite3.*|secret_key|datasets|runs|uploads|analysis|corpora|models|redis(\.sock|\.log)?|logs|port|up\.lock")
"""Files of an installation in its data directory."""
BESIDES = re.compile(r"tests|kernels|.*\.tar\.gz|\..*|lost\+found")
"""Other files that may be there without the directory belonging to something else: test reports, compiled code, backups."""


def keep_private(directory: Path) -> str:
    """Close the data directory to other users, and set this process's umask so that new files are closed, too.

    Creates the directory if needed. The umask is 077. If the directory has the set-group-ID bit, its group keeps its rights on the
    directory: the umask is 027 for the mode 2750, and 007 for 2770. In a directory that contains other files, only Millrace's files are
    closed.

    Returns one line that says what was open until now, or an empty string. Raises OSError if the directory cannot be created or read.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = directory.stat().st_mode
    denied = 0o077 & ~(mode & 0o070 if mode & stat.S_ISGID else 0)
    os.umask(denied)
    names = os.listdir(directory)
    of_others = [name for name in names if not (OURS.fullmatch(name) or BESIDES.fullmatch(name))]
    outcomes = [] if of_others or mode & stat.S_ISVTX else [close(str(directory), denied)]
    for name in filter(OURS.fullmatch, names):
        path = str(directory / name)
        if is_open(path, denied):
            outcomes += [close(each, denied) for each in below(path)]
    return sentence(directory, outcomes.count(True), outcomes.count(False), denied)


def below(path: str) -> Iterator[str]:
    """Yield all files and folders, deepest first: if this is interrupted, the next start finds the path itself still open."""
    for place, folders, files in os.walk(path, topdown=False):
        yield from (os.path.join(place, name) for name in (*files, *folders))
    yield path


def is_open(path: str, denied: int) -> bool:
    """Return whether a path grants denied rights. Links do not count: their modes do not apply to their targets."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:  # removed in the meantime
        return False
    return bool(mode & denied) and not stat.S_ISLNK(mode)


def close(path: str, denied: int) -> bool | None:
    """Remove the denied rights. Returns None if there were none, False if they cannot be removed."""
    if not is_open(path, denied):
        return None
    try:
        os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) & ~denied)
    except FileNotFoundError:
        return None
    except OSError:
        return False
    return not is_open(path, denied)  # some file systems ignore modes


def sentence(directory: Path, closed: int, still_open: int, denied: int) -> str:
    """Describe what was closed, and what could not be."""
    whom = "other users of this machine" if denied == 0o077 else "users outside its group"
    parts = []
    if closed:
        parts.append(f"closed {closed} files and folders to {whom} (docs/lab.md says how to share them with a group)")
    if still_open:
        parts.append(
            f"{still_open} files and folders are open to {whom} and cannot be closed: they belong to another user, or the file system "
            f"does not support modes; as their owner, run: chmod -R {'go' if denied == 0o077 else 'o'}-rwx {directory}"
        )
    return f"data directory {directory}: {'; '.join(parts)}" if parts else ""
