"""Real servers for Bazel: BuildGrid as a cache and with workers, nginx with WebDAV."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tfenv.fetch.cache import Cache
from tfenv.verify.environment import uv_program

_BUILDGRID = """
server: [!channel {{address: "127.0.0.1:{port}", insecure-mode: true}}]
authorization: {{method: none}}
instances:
  - name: ''
    storages: [!disk-storage &cas {{path: {folder}/cas}}]
    caches: [!lru-action-cache &ac {{storage: *cas, max-cached-refs: 1000, allow-updates: true}}]
    services: [!action-cache {{cache: *ac}}, !cas {{storage: *cas}}, !bytestream {{storage: *cas}}]
"""
# Every action that waits for its worker holds a thread of the server.
_EXECUTION = """
thread-pool-size: 300
server: [!channel {{address: "127.0.0.1:{port}", insecure-mode: true}}]
authorization: {{method: none}}
instances:
  - name: ''
    storages: [!disk-storage &cas {{path: {folder}/cas}}]
    caches: [!lru-action-cache &ac {{storage: *cas, max-cached-refs: 1000, allow-updates: true}}]
    connections: [!sql-connection &sql {{connection-string: "{database}", pool-size: 30}}]
    schedulers:
      - !sql-scheduler &scheduler
        {{storage: *cas, sql: *sql, action-cache: *ac, poll-interval: 0.1, job-assignment-interval: 0.1}}
    services:
      - !action-cache {{cache: *ac}}
      - !cas {{storage: *cas}}
      - !bytestream {{storage: *cas}}
      - !execution {{scheduler: *scheduler}}
      - !bots {{scheduler: *scheduler}}
"""
_NGINX = """
{user}
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  client_max_body_size 0;
  server {{
    listen 127.0.0.1:{port};
    location / {{
      root {folder}/cache;
      dav_methods PUT;
      create_full_put_path on;
    }}
  }}
}}
"""
_START_SECONDS = 60.0
_PACKAGE = "buildgrid[database]"


@contextlib.contextmanager
def buildgrid(folder: Path) -> Iterator[str]:
    """BuildGrid as an action cache and content-addressable store; gives its address."""
    program = _buildgrid_program()
    port = _free_port()
    config = folder / "buildgrid.yml"
    (folder / "cas").mkdir()
    config.write_text(_BUILDGRID.format(port=port, folder=folder))
    with _running([str(program), "server", "start", str(config)], folder, port):
        yield f"grpc://127.0.0.1:{port}"


@contextlib.contextmanager
def execution(folder: Path, workers: int = 2) -> Iterator[str]:
    """BuildGrid with a scheduler, and workers that run actions; gives its address."""
    program = _buildgrid_program()
    port = _free_port()
    (folder / "cas").mkdir()
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(_postgres())
        migrate = [str(program), "migrate", "apply", database]
        done = subprocess.run(migrate, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        config = folder / "buildgrid.yml"
        config.write_text(_EXECUTION.format(port=port, folder=folder, database=database))
        stack.enter_context(_running([str(program), "server", "start", str(config)], folder, port))
        script = str(Path(__file__).with_name("remote_worker.py"))
        for number in range(workers):
            home = folder / f"worker-{number}"
            home.mkdir()
            words = [str(program.with_name("python")), script, f"127.0.0.1:{port}", str(home)]
            stack.enter_context(_process(words, home))
        yield f"grpc://127.0.0.1:{port}"


@contextlib.contextmanager
def _postgres() -> Iterator[str]:
    """An empty PostgreSQL, which BuildGrid's scheduler needs; gives its address."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    tools = found[-1].parent
    # It refuses to run as root; then it runs as nobody, who cannot reach the test's folder.
    other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    before = other if os.getuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="postgres-") as name:
        if before:
            os.chown(name, 65534, 65534)
        made = [*before, str(tools / "initdb"), "-D", f"{name}/data", "-U", "bgd", "-A", "trust"]
        done = subprocess.run(made, cwd=name, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        port = _free_port()
        words = [*before, str(tools / "postgres"), "-D", f"{name}/data", "-k", name]
        words += ["-p", str(port), "-h", "127.0.0.1"]
        with _running(words, Path(name), port):
            yield f"postgresql+psycopg2://bgd@127.0.0.1:{port}/postgres"


def _buildgrid_program() -> Path:
    home = Cache().root / "tests" / "buildgrid-database"
    program = home / "bin" / "bgd"
    if not program.exists():
        uv = uv_program()
        commands = [
            [uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(home)],
            [uv, "pip", "install", "--quiet", "--python", str(home / "bin/python"), _PACKAGE],
        ]
        for words in commands:
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                pytest.skip(f"BuildGrid cannot be installed: {done.stderr.strip()[-200:]}")
    return program


@contextlib.contextmanager
def nginx(folder: Path) -> Iterator[str]:
    """nginx as Bazel's documented simple HTTP cache; gives its address."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        pytest.skip("nginx is not installed")
    port = _free_port()
    (folder / "cache").mkdir()
    config = folder / "nginx.conf"
    # Started by root, nginx would work as a user who cannot reach the test's folder.
    user = f"user {getpass.getuser()};" if os.getuid() == 0 else ""
    config.write_text(_NGINX.format(port=port, folder=folder, user=user))
    with _running([program, "-c", str(config), "-p", str(folder)], folder, port):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def _running(words: Sequence[str], folder: Path, port: int) -> Iterator[None]:
    """A server, once it answers."""
    with _process(words, folder) as process:
        _wait_for(port, process, folder / "server.log")
        yield


@contextlib.contextmanager
def _process(words: Sequence[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    pytest.fail(f"the server did not start: {log.read_text()[-500:]}")


def _free_port() -> int:
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port: int = chosen.getsockname()[1]
        return port
