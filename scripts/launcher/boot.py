"""The systemd unit with which an installation starts at boot."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from .environment import ROOT

PASSED_ON = ("MILLRACE_", "DATABASE_URL", "REDIS_URL", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "SPARK_", "JAVA_HOME", "PATH")
"""Settings of this call that the unit has, too. Units do not inherit the environment."""
NAME = "millrace.service"


def unit(data: Path, environment: Mapping[str, str], python: str = sys.executable) -> str:
    """Text of the unit. It stops as Ctrl-C does, and starts again whatever ends it."""
    settings = {name: value for name, value in sorted(environment.items()) if name.startswith(PASSED_ON)} | {"MILLRACE_DATA": str(data)}
    lines = "\n".join(f"Environment={quoted(f'{name}={value}')}" for name, value in settings.items())
    return f"""[Unit]
Description=Millrace
After=network.target

[Service]
WorkingDirectory={escaped(str(ROOT))}
ExecStart={command(python)} {command(str(ROOT / "scripts" / "up"))}
{lines}
UMask=0077
KillMode=mixed
KillSignal=SIGINT
TimeoutStartSec=infinity
TimeoutStopSec=60
Restart=always
RestartSec=5

[Install]
WantedBy=default.target
"""


def quoted(text: str) -> str:
    """A word of a unit (systemd.syntax(7))."""
    inside = escaped(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inside}"'


def command(text: str) -> str:
    """A word of a command line, where variables would be replaced (systemd.service(5))."""
    return quoted(text).replace("$", "$$")


def escaped(text: str) -> str:
    return text.replace("%", "%%")


def write(data: Path, home: Path | None = None) -> str:
    """Write the unit of the person who calls, and return what they have to do."""
    folder = (home or Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")) / "systemd" / "user"
    text = unit(data, os.environ)
    if not shutil.which("systemctl"):
        command_line = ROOT / "scripts" / "up"
        return f"There is no systemd here. Let whatever starts services run {command_line}, stop it by SIGINT, and restart it if it ends."
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / NAME
    file.touch(mode=0o600)  # settings may hold passwords
    file.write_text(text)
    return (
        f"{file} is written. Start it now and at each boot, also while nobody is signed in:\n\n"
        f"  systemctl --user daemon-reload && systemctl --user enable --now {NAME} && loginctl enable-linger\n\n"
        f"Its log: journalctl --user -u {NAME}. A link to sign in: {ROOT / 'scripts' / 'up'}"
    )
