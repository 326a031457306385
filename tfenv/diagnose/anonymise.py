"""Take out of a text what names a person, a machine or a secret, before it leaves the machine."""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Callable

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    # secrets first: nothing of them may survive another rule
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{0,8000}?-----END [A-Z ]*PRIVATE KEY-----"), "<key>"),
    (re.compile(r"\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{15,}|xox[abprs]-[\w-]{10,}|sk-[\w-]{20,}|hf_\w{20,}|pypi-[\w-]{20,}|npm_\w{20,}|AKIA[A-Z0-9]{12,}|ASIA[A-Z0-9]{12,}|AIza[\w-]{30,})"), "<token>"),
    (re.compile(r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}"), "<token>"),
    (re.compile(r"(?i)\b(authorization\s*[:=]\s*(?:bearer|basic|token)?\s*)\S+"), r"\1<token>"),
    (re.compile(r"(?i)((?:\b|_)(?:token|passw(?:or)?d|passwd|secret|api[_-]?key|access[_-]?key|client[_-]?secret|auth)\w{0,20}\s*[=:]\s*)(?!\s)('[^']*'|\"[^\"]*\"|[^\s,;]+)"), r"\1<secret>"),
    (re.compile(r"(?i)(--?(?:token|password|passwd|api-key|secret)[ =])\S+"), r"\1<secret>"),
    (re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://)[^/\s:@]+(?::[^/\s@]*)?@"), r"\1<user>@"),
    # people
    (re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}\b"), "user@example.org"),
    (re.compile(r"(/(?:home|Users|data/home|export/home|homes)/)[^/\s:'\"`,;)\]]+"), r"\1user"),
    (re.compile(r"(?i)([A-Z]:[\\/]{1,2}(?:Users|Documents and Settings)[\\/]{1,2})(?:[^\\/:*?\"<>|\n]{1,60}(?=[\\/])|[^\\/\s'\"`:,;)]+)"), r"\1user"),
    (re.compile(r"(?i)(/mnt/[a-z]/Users/)[^/\s'\"`:,;)]+"), r"\1user"),
    (re.compile(r"(_bazel_)[^/\\\s'\"]+"), r"\1user"),
    (re.compile(r"^((?:\([\w.-]+\) )?)[\w.-]{1,40}@[\w.-]{1,64}([:\s][^$#%>\n]{0,120}[$#%])", re.MULTILINE), r"\1user@host\2"),
    (re.compile(r"^\[[\w.-]{1,40}@[\w.-]{1,64} ([^\]\n]{0,120}\][$#])", re.MULTILINE), r"[user@host \1"),
    # machines
    (re.compile(r"(hostname: |for host: |on this host \(|on host )[\w.-]+"), r"\1host"),
    (re.compile(r"\b(?!127\.0\.0\.1\b|0\.0\.0\.0\b|255\.)(?:10|172\.(?:1[6-9]|2\d|3[01])|192\.168|169\.254)(?:\.\d{1,3}){2,3}\b"), "10.0.0.1"),
    (re.compile(r"\b(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}\b"), "00:00:00:00:00:00"),
    (re.compile(r"\b(GPU|MIG)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), r"\1-00000000-0000-0000-0000-000000000000"),
)  # fmt: skip
_URL_HOST = re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://(?:<user>@)?)([\w.-]+)")
_PUBLIC = (
    "github.com", "githubusercontent.com", "gitlab.com", "bazel.build", "googleapis.com", "google.com",
    "tensorflow.org", "nvidia.com", "docker.io", "python.org", "anaconda.org", "anaconda.com", "gnu.org",
    "llvm.org", "kernel.org", "ubuntu.com", "microsoft.com", "example.org", "localhost", "127.0.0.1",
    "tsinghua.edu.cn", "ustc.edu.cn", "aliyun.com", "index",
)  # fmt: skip
_DULL = {
    "root",
    "user",
    "admin",
    "ubuntu",
    "debian",
    "localhost",
    "host",
    "runner",
    "build",
    "test",
}


def clean(text: str) -> str:
    """`text` without names, hosts, addresses and secrets."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    text = _URL_HOST.sub(_host, text)
    for name, word in ((_quietly(getpass.getuser), "user"), (_quietly(socket.gethostname), "host")):
        for part in {name, name.split(".")[0]}:
            if len(part) >= 3 and part.lower() not in _DULL:
                text = re.sub(rf"(?<![\w-]){re.escape(part)}(?![\w-])", word, text)
    return text


def _host(match: re.Match[str]) -> str:
    """Public hosts say where a download came from; others name a company."""
    known = any(match.group(2) == h or match.group(2).endswith(f".{h}") for h in _PUBLIC)
    return match.group(0) if known else f"{match.group(1)}host.example.org"


def _quietly(question: Callable[[], str]) -> str:
    """A container may have neither a user name nor a host name."""
    try:
        return question() or ""
    except (OSError, KeyError, ImportError):
        return ""
