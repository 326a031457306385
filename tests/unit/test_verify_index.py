"""The package index: the option, TFENV_INDEX, pip's configuration, else uv's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfenv.verify import index


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without any setting; returns the place of their pip.conf."""
    for name in ("PIP_INDEX_URL", "PIP_CERT", "PIP_CONFIG_FILE", "UV_DEFAULT_INDEX"):
        monkeypatch.delenv(name, raising=False)
    for name in ("UV_INDEX_URL", "UV_CONFIG_FILE", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "pip.conf"
    path.write_text("", encoding="utf-8")
    monkeypatch.setattr(index, "pip_files", lambda: [path])
    return path


def test_nothing_set_leaves_it_to_uv(config: Path) -> None:
    assert "UV_DEFAULT_INDEX" not in index.variables()


def test_the_option_wins(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFENV_INDEX", "https://b.example/simple")
    monkeypatch.setenv("PIP_INDEX_URL", "https://c.example/simple")
    chosen = index.variables("https://a.example/simple")["UV_DEFAULT_INDEX"]
    assert chosen == "https://a.example/simple"
    assert index.variables()["UV_DEFAULT_INDEX"] == "https://b.example/simple"
    monkeypatch.delenv("TFENV_INDEX")
    assert index.variables()["UV_DEFAULT_INDEX"] == "https://c.example/simple"


def test_pips_file(config: Path) -> None:
    config.write_text("[global]\nindex-url = https://m.example/simple\n", encoding="utf-8")
    assert index.variables()["UV_DEFAULT_INDEX"] == "https://m.example/simple"


def test_uvs_own_setting_stays(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text("[global]\nindex-url = https://m.example/simple\n", encoding="utf-8")
    monkeypatch.setenv("UV_INDEX_URL", "https://u.example/simple")
    assert "UV_DEFAULT_INDEX" not in index.variables()


def test_a_broken_file_is_no_setting(config: Path) -> None:
    config.write_text("index-url = before any section\n", encoding="utf-8")
    assert "UV_DEFAULT_INDEX" not in index.variables()


def test_pips_certificate(config: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_text("", encoding="utf-8")
    config.write_text(f"[global]\ncert = {bundle}\n", encoding="utf-8")
    assert index.variables()["SSL_CERT_FILE"] == str(bundle)


def test_a_users_constraints_do_not_reach_the_lock(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_CONSTRAINT", "/some/constraints.txt")
    assert "UV_CONSTRAINT" not in index.variables()
