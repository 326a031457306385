"""Install released TensorFlows from the committed locks and use them: `nox -s grid`.

One environment at a time, in a folder of its own that is deleted afterwards: an environment is one
to two gigabytes. `--record` writes what passed into the facts as proven; names choose some.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tfenv import facts, files
from tfenv.errors import TfenvError
from tfenv.facts import schema, table
from tfenv.target import Target, parse
from tfenv.verify import environment, interpreter, subject

# One release per generation of Python, compiler and Keras; two Pythons for the headline release.
GRID: tuple[tuple[str, str], ...] = (
    ("1.4.0-cpu", "3.6"),
    ("1.13.2-cpu", "3.7"),
    ("1.15.5-cpu", "3.7"),
    ("2.0.4-cpu", "3.7"),
    ("2.3.4-cpu", "3.8"),
    ("2.4.4-cpu", "3.8"),
    ("2.6.5-cpu", "3.7"),
    ("2.6.5-cpu", "3.9"),
    ("2.8.4-cpu", "3.10"),
    ("2.10.1-cpu", "3.10"),
    ("2.12.1-cpu", "3.11"),
    ("2.15.1-cpu", "3.11"),
    ("2.16.2-cpu", "3.12"),
    ("2.18.1-cpu", "3.12"),
    ("2.20.0-cpu", "3.13"),
    ("2.21.0-cpu", "3.13"),
)

# Runs in the subject's own Python, 3.6 to 3.13. Each step is what one effective pin protects.
STEPS = r"""
import json, os, sys, tempfile, warnings
warnings.simplefilter("ignore")

def load():
    global tf
    import tensorflow as tf
    assert tf.__version__ == sys.argv[1], tf.__version__

def compute():
    old = getattr(getattr(tf, "compat", None), "v1", tf)
    old = old if hasattr(old, "Session") else tf
    with tf.Graph().as_default():
        product = tf.matmul(tf.constant([[1.0, 2.0]]), tf.constant([[3.0], [4.0]]))
        with old.Session() as session:
            assert session.run(product)[0][0] == 11.0

def recurrent():
    import numpy
    model.append(tf.keras.models.Sequential())
    model[0].add(tf.keras.layers.LSTM(2, input_shape=(3, 4)))
    assert model[0].predict(numpy.zeros((1, 3, 4), "float32")).shape == (1, 2)

def saved():
    path = os.path.join(tempfile.mkdtemp(), "model.h5")
    model[0].save(path)
    assert tf.keras.models.load_model(path).count_params() == model[0].count_params()

def tensorboard():
    import tensorboard.main

model, done = [], {}
for step in (load, compute, recurrent, saved, tensorboard):
    try:
        step()
        done[step.__name__] = ""
    except BaseException as error:
        done[step.__name__] = "%s: %s" % (type(error).__name__, str(error).strip()[:300])
        if step is load:
            break
print("\n" + json.dumps(done))
"""


class Outcome(msgspec.Struct, frozen=True):
    """What one release did in one Python."""

    target: str
    python: str  # 3.7.16
    steps: dict[str, str]  # step -> how it failed; empty: it did not

    @property
    def right(self) -> bool:
        """Whether every step was done."""
        return bool(self.steps) and not any(self.steps.values())


@contextmanager
def own_cache() -> Iterator[Path]:
    """A cache folder for tfenv and uv alike, deleted at the end."""
    before = {name: os.environ.get(name) for name in ("TFENV_CACHE", "UV_CACHE_DIR")}
    with tempfile.TemporaryDirectory(prefix="tfenv-grid-") as folder:
        os.environ |= {"TFENV_CACHE": folder, "UV_CACHE_DIR": f"{folder}/uv"}
        try:
            yield Path(folder)
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def make(target: Target, python: str) -> tuple[Path, str]:
    """The Python of a target's environment, made from the committed lock, and its version."""
    found = interpreter.find([python])
    home, _ = environment.subject_folder(subject.of(target, python), found)
    return interpreter.python_in(home), found.version


def use(python: Path, version: str) -> dict[str, str]:
    """What the steps say in an environment, in a process of their own."""
    done = subprocess.run(
        [str(python), "-I", "-c", STEPS, version],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "2"},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=900,
        check=False,
    )
    last = done.stdout.strip().splitlines()[-1:] or [""]
    try:
        return msgspec.json.decode(last[0], type=dict[str, str])
    except msgspec.MsgspecError:
        return {"load": f"the process ended with {done.returncode}: {done.stderr.strip()[-300:]}"}


def run(name: str, python: str) -> Outcome:
    """Make one environment, use it, delete it."""
    target = parse(name)
    with own_cache():
        try:
            program, version = make(target, python)
        except TfenvError as error:
            return Outcome(name, python, {"install": f"{error.what}: {error.why}"})
        return Outcome(name, version, use(program, target.version))


def proof(outcome: Outcome, today: str) -> schema.Proof:
    """The row that records an outcome."""
    steps = "imported; matrix product in a session, LSTM, HDF5 model, TensorBoard"
    return schema.Proof(
        target=outcome.target,
        level="imported",
        date=today,
        python=outcome.python,
        evidence=f"released wheel installed from the committed lock, {steps}",
        source="bench/grid.py (nox -s grid), Linux x86_64",
    )


def merged(
    rows: Iterable[schema.Proof], outcomes: Iterable[Outcome], today: str
) -> list[schema.Proof]:
    """The rows with what passed added, and what failed taken out."""
    found = {f"{r.target} {r.level} {minor(r.python)}": r for r in rows}
    for outcome in outcomes:
        key = f"{outcome.target} imported {minor(outcome.python)}"
        found.pop(key, None)
        if outcome.right:
            found[key] = proof(outcome, today)
    return list(found.values())


def record(outcomes: list[Outcome]) -> None:
    """Write the outcomes into the facts, and into the catalogue's file."""
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    rows = merged(facts.rows(schema.Proof), outcomes, today)
    path = Path(facts.__file__).with_name("proven.toml")
    files.write_text(path, table.render(table.header("proven"), rows))
    # In a process of its own: this one has read the old rows.
    subprocess.run([sys.executable, "-m", "tfenv.toolchain.catalogue"], check=True)


def minor(python: str) -> str:
    """3.7 of 3.7.16."""
    return ".".join(python.split(".")[:2])


def main() -> int:
    """Run the grid, or some of it; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help="only these, as 2.6.5-cpu or 2.6.5-cpu/3.9")
    parser.add_argument("--record", action="store_true", help="write the outcome into the facts")
    options = parser.parse_args()
    wanted = set(options.targets)
    outcomes = []
    for name, python in GRID:
        if wanted and not wanted & {name, f"{name}/{python}"}:
            continue
        outcome = run(name, python)
        outcomes.append(outcome)
        print(json.dumps(msgspec.to_builtins(outcome)), flush=True)
        if options.record:
            record(outcomes)
    print(f"{sum(o.right for o in outcomes)} of {len(outcomes)} right")
    return 0 if outcomes and all(o.right for o in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
