"""The project's tasks. `./noxw -l` lists them.

Sessions share two virtual environments, so that hundreds of targets are not hundreds of
environments: `.nox/tfenv` runs tfenv for the target sessions, `.nox/dev` has everything that
working on tfenv needs. Both are made from hash-pinned requirements and remade when these change.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import nox

nox.needs_version = ">=2024.10.9"
nox.options.sessions = ["lint", "types", "tests"]
nox.options.error_on_missing_interpreters = True

ROOT = Path(__file__).resolve().parent
NOX = ROOT / ".nox"
REQUIREMENTS = ROOT / "requirements"
TARGETS = ROOT / "tfenv" / "locks" / "targets.txt"
BIN = "Scripts" if os.name == "nt" else "bin"
EXE = ".exe" if os.name == "nt" else ""


def load_noxw() -> ModuleType:
    """The wrapper's functions; it is a Python file without a suffix."""
    loader = importlib.machinery.SourceFileLoader("noxw", str(ROOT / "noxw"))
    spec = importlib.util.spec_from_loader("noxw", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


NOXW = load_noxw()


# --- working on tfenv -----------------------------------------------------------------------


@nox.session(venv_backend="none")
def tests(session: nox.Session) -> None:
    """Run the tests twice: on the checkout, and on the wheel built from it."""
    python = environment(session, "dev", "dev.txt")
    arguments = session.posargs or ["-n", "auto", "-m", "not slow and not evidence"]
    session.run(python, "-m", "pytest", *arguments, external=True)
    if not session.posargs:
        test_wheel(session, python)


@nox.session(venv_backend="none")
def slow(session: nox.Session) -> None:
    """Run the tests that real engines and real wheels make slow."""
    python = environment(session, "dev", "dev.txt")
    wanted = ("-m", "slow and not evidence")
    session.run(python, "-m", "pytest", *wanted, *session.posargs, external=True)


@nox.session(venv_backend="none")
def engines(session: nox.Session) -> None:
    """Run the engines' tests that take minutes each and are left out of CI."""
    python = environment(session, "dev", "dev.txt")
    session.run(python, "-m", "pytest", "-m", "evidence", *session.posargs, external=True)


@nox.session(venv_backend="none")
def lint(session: nox.Session) -> None:
    """Check style, formatting, import order and what no file may contain."""
    python = environment(session, "dev", "dev.txt")
    ruff = str(Path(python).with_name(f"ruff{EXE}"))
    session.run(ruff, "check", external=True)
    session.run(ruff, "format", "--check", external=True)
    session.run(str(Path(python).with_name(f"lint-imports{EXE}")), "--no-cache", external=True)
    session.run(python, "-m", "pytest", "-q", "tests/unit/test_hygiene.py", external=True)


@nox.session(venv_backend="none")
def types(session: nox.Session) -> None:
    """Check types strictly, tests and this file included."""
    python = environment(session, "dev", "dev.txt")
    session.run(python, "-m", "mypy", *session.posargs, external=True)


@nox.session(venv_backend="none")
def requirements(session: nox.Session) -> None:
    """Compile requirements/*.txt anew; `-- --upgrade` takes newer versions."""
    uv = str(Path(environment(session, "tfenv", "core.txt")).with_name(f"uv{EXE}"))
    compiled: dict[str, list[str]] = {
        # The largest first: the others hold to its versions, so that all agree.
        "dev.txt": ["pyproject.toml", "--all-extras", "--group", "dev"],
        "all-extras.txt": ["pyproject.toml", "--all-extras"],
        "core.txt": ["pyproject.toml"],
        "build.txt": ["--group", "build"],
        "nox.txt": ["--group", "nox"],
    }
    for name, arguments in compiled.items():
        command = [uv, "pip", "compile", "--quiet", "--universal", "--generate-hashes"]
        command += ["--no-emit-index-url", "--python-version", "3.10"]
        command += ["--custom-compile-command", "./noxw -s requirements"]
        command += [*arguments, "-o", f"requirements/{name}"]
        command += session.posargs if name == "dev.txt" else ["-c", "requirements/dev.txt"]
        session.run(*command, external=True)


def script_session(name: str, script: str, meaning: str) -> None:
    """Add a session that runs one Python script of the repository."""

    def run(session: nox.Session) -> None:
        python = environment(session, "dev", "dev.txt")
        session.run(python, script, *session.posargs, external=True)

    run.__doc__ = meaning
    nox.session(name=name, venv_backend="none")(run)


for _name, _script, _meaning in (
    ("docs", "docs/build.py", "Write the reference pages and build the documentation."),
    ("bench", "bench/run.py", "Measure tfenv beside its peers."),
    ("grid", "bench/grid.py", "Install released wheels from the locks and use them."),
    ("bench-explain", "bench/explain.py", "Time `explain` on large logs beside ripgrep."),
    ("bench-audit", "bench/audit.py", "Time inspect and audit beside their peers."),
    ("bench-fetch", "bench/fetch.py", "Time fetch beside curl."),
    ("exam", "bench/mutations.py", "Break a released wheel in many ways: each is caught."),
    ("evidence", "bench/evidence.py", "Verify released wheels in full and keep the reports."),
    ("fuzz", "bench/fuzz.py", "Feed hostile input to every reader, for a bounded time."),
):
    if (ROOT / _script).exists():
        script_session(_name, _script, _meaning)


# --- targets --------------------------------------------------------------------------------


def runs_here(target: str) -> bool:
    """Whether this system can build and verify a target, judged by the platform in its name."""
    parts = target.split("-")
    system = next((part for part in parts if part in {"macos", "windows"}), "linux")
    arm = "arm64" in parts
    here = {"linux": "linux", "darwin": "macos", "win32": "windows"}.get(sys.platform)
    # Apple's arm64 runs x86_64 programs as well.
    arm_here = platform.machine().lower() in {"arm64", "aarch64"}
    return system == here and (arm == arm_here or (system == "macos" and not arm))


def target_session(command: str, target: str) -> None:
    """Add the session `<command>-<target>`; what tfenv says and returns is the result."""

    def run(session: nox.Session) -> None:
        if command == "verify":
            python = environment(session, "tfenv", "core.txt")
        else:  # a build reads Bazel's externals with the optional Starlark interpreter
            python = environment(session, "tfenv-build", "all-extras.txt")
        tfenv = str(Path(python).with_name(f"tfenv{EXE}"))
        session.run(tfenv, *operands(command, target), *session.posargs, external=True)

    run.__doc__ = {
        "build": f"Build {target} from source.",
        "verify": f"Verify the wheel of {target}.",
        "audit": f"Build {target} twice in varied surroundings and compare the two wheels.",
    }[command]
    nox.session(name=f"{command}-{target}", venv_backend="none")(run)


def operands(command: str, target: str) -> list[str]:
    """The command line that a target session hands to tfenv."""
    if command == "audit":
        return ["audit", "--twice", target, "--released"]
    return [command, target]


for _target in TARGETS.read_text(encoding="utf-8").split():
    if runs_here(_target):
        for _command in ("build", "verify", "audit"):
            target_session(_command, _target)


# --- environments ---------------------------------------------------------------------------


def environment(session: nox.Session, name: str, *files: str) -> str:
    """The Python of the shared environment `.nox/<name>`, with tfenv installed editable.

    Remade when the requirements, pyproject.toml or the Python change.
    """
    home = NOX / name
    python = home / BIN / f"python{EXE}"
    inputs = [*(REQUIREMENTS / file for file in ("build.txt", *files)), ROOT / "pyproject.toml"]
    state = hashlib.sha256(b"\0".join(path.read_bytes() for path in inputs))
    state.update(f"{sys.version} {sys.base_prefix} {ROOT}".encode())
    NOX.mkdir(exist_ok=True)
    # Two terminals may ask for the same environment at once: one makes it, the other waits.
    with NOXW.locked(NOX / f"{name}.lock"):
        make_environment(session, home, files, state.hexdigest())
    return str(python)


def make_environment(session: nox.Session, home: Path, files: tuple[str, ...], state: str) -> None:
    """Make an environment, unless the one that is there was made from the same state."""
    python, marker = home / BIN / f"python{EXE}", home / "complete"
    if python.exists() and marker.exists() and marker.read_text("utf-8") == state:
        return
    session.log(f"making {home.relative_to(ROOT)} (once, until its requirements change)")
    shutil.rmtree(home, ignore_errors=True)
    # virtualenv comes with nox and carries its own pip: no ensurepip is needed.
    session.run(sys.executable, "-m", "virtualenv", "--quiet", str(home), external=True)
    for file in ("build.txt", *files):
        install(session, python, "--require-hashes", "-r", str(REQUIREMENTS / file))
    install(session, python, "--no-index", "--no-build-isolation", "-e", str(ROOT))
    marker.write_text(state, encoding="utf-8")


def install(session: nox.Session, python: Path, *arguments: str) -> None:
    """Run pip; the requirements are complete, so nothing is resolved."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    session.run(*command, "--no-deps", *arguments, external=True, env={"PIP_USER": "0"})


def test_wheel(session: nox.Session, python: str) -> None:
    """Build the wheel, install it, and run the tests in a copy of the checkout without tfenv/.

    The environment borrows its dependencies from `.nox/dev`, whose editable tfenv stays out of
    sight: a path file does not read the path files of the folder it adds.
    """
    home = NOX / "wheel"
    shutil.rmtree(home, ignore_errors=True)
    session.run(python, "-m", "build", "--no-isolation", "-o", str(home / "dist"), external=True)
    (wheel,) = (home / "dist").glob("*.whl")
    installed = home / "venv"
    session.run(sys.executable, "-m", "virtualenv", "--quiet", str(installed), external=True)
    installed_python = installed / BIN / f"python{EXE}"
    install(session, installed_python, "--no-index", str(wheel))
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    (Path(output(installed_python, ask)) / "dev.pth").write_text(
        output(Path(python), ask) + "\n", encoding="utf-8"
    )
    copy = home / "checkout"
    copy_checkout(copy)
    with session.chdir(copy):
        session.run(
            str(installed_python),
            *("-m", "pytest", "-n", "auto", "-m", "not slow and not evidence", "tests/unit"),
            external=True,
            env={"TFENV_TEST_INSTALLED": "1"},
        )


def copy_checkout(copy: Path) -> None:
    """All that git knows or would take, but for the package: the wheel has to stand alone."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    for name in listed.stdout.decode().split("\0"):
        source = ROOT / name
        if name and not name.startswith("tfenv/") and source.is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy / name)


def output(python: Path, code: str) -> str:
    """What a line of Python prints in another environment."""
    done = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()
