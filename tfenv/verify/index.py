"""Which package index: `--index`, TFENV_INDEX, pip's configuration, else what uv does by itself."""

from __future__ import annotations

import configparser
import os
import sys
from pathlib import Path

from tfenv.lock.resolve import FOREIGN_VARIABLES


def variables(index: str = "") -> dict[str, str]:
    """Environment variables for uv. An address may hold a password, so it never becomes an
    argument that a process list shows."""
    found = dict(os.environ)
    for name in FOREIGN_VARIABLES:
        found.pop(name, None)
    chosen = index or os.environ.get("TFENV_INDEX", "")
    if not chosen and not _uv_has_its_own():
        chosen = os.environ.get("PIP_INDEX_URL", "") or pip_setting("index-url")
    if chosen:
        found["UV_DEFAULT_INDEX"] = chosen
    certificate = os.environ.get("PIP_CERT", "") or pip_setting("cert")
    if certificate and Path(certificate).is_file():
        found.setdefault("SSL_CERT_FILE", certificate)
    return found


def _uv_has_its_own() -> bool:
    return any(os.environ.get(n) for n in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_CONFIG_FILE"))


def pip_setting(key: str) -> str:
    """A value of pip's configuration files; the later file wins, as in pip."""
    value = ""
    for path in pip_files():
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            continue
        for section in ("global", "install"):
            value = parser.get(section, key, fallback="") or value
    return value.strip()


def pip_files() -> list[Path]:
    """pip's configuration files that exist, least specific first (pip's own order)."""
    home = Path.home()
    if sys.platform == "win32":
        files = [
            Path(os.environ.get("PROGRAMDATA", "C:/ProgramData")) / "pip" / "pip.ini",
            home / "pip" / "pip.ini",
            Path(os.environ.get("APPDATA", str(home))) / "pip" / "pip.ini",
        ]
    else:
        system = os.environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")
        user = Path(os.environ.get("XDG_CONFIG_HOME", str(home / ".config")))
        files = [*(Path(folder) / "pip" / "pip.conf" for folder in system if folder)]
        files += [Path("/etc/pip.conf"), home / ".pip" / "pip.conf", user / "pip" / "pip.conf"]
    if special := os.environ.get("PIP_CONFIG_FILE"):
        files.append(Path(special))
    return [path for path in files if path.is_file()]
