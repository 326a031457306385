"""The same failures in other clothes: colours, prefixes, encodings, noise, and hostile lines."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import tomli

from tfenv.diagnose import lines
from tfenv.diagnose.explain import explain_text, scanner
from tfenv.diagnose.scan import CHUNK
from tfenv.diagnose.signatures import library
from tfenv.diagnose.template import compile_template

DATA = Path(__file__).parents[1] / "data" / "logs"


def _logs() -> list[tuple[str, str]]:
    found = []
    for path in sorted(DATA.glob("variants-*.toml")):
        rows = tomli.loads(path.read_text("utf-8"))["log"]
        found += [(row["expect"], row["text"].lstrip("\n")) for row in rows]
    return found


LOGS = _logs()


def _each_line(change: Callable[[str], str]) -> Callable[[str], bytes]:
    return lambda text: "".join(change(line) + "\n" for line in text.splitlines()).encode()


def _colour(line: str) -> str:
    """GCC's colours: around `error:` and inside quotation marks."""
    line = re.sub(
        r"(fatal error:|error:|ERROR:)", "\x1b[01;31m\x1b[K\\1\x1b[m\x1b[K", line, count=1
    )
    return re.sub(r"(['‘])([^'’]+)(['’])", "\\1\x1b[01m\x1b[K\\2\x1b[m\x1b[K\\3", line)


CLOTHES: dict[str, Callable[[str], bytes]] = {
    "colours": _each_line(_colour),
    "colours without their escape": lambda text: CLOTHES["colours"](text).replace(b"\x1b", b""),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "GitHub Actions": _each_line(lambda line: f"2024-05-01T10:00:00.1234567Z {line}"),
    "BuildKit": _each_line(lambda line: f"#12 345.678 {line}"),
    "compose": _each_line(lambda line: f"builder-1  | {line}"),
    "Jenkins": _each_line(lambda line: f"[2024-05-01T10:00:00.123Z] {line}"),
    "Kubernetes": _each_line(lambda line: f"2024-05-01T10:00:00.123456789Z stderr F {line}"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 without a mark": lambda text: ("log of a tool\n" * 100 + text).encode("utf-16-le"),
    "progress before it": _each_line(lambda line: f"[1 / 2] 3 actions\r{line}"),
    "typographic quotes": _each_line(
        lambda line: re.sub(r"'([^']*)'", "‘\\1’", re.sub(r"`([^'`]*)'", "‘\\1’", line))
    ),
    "Chinese Windows": lambda text: text.encode("gb18030"),
}


@pytest.mark.parametrize("clothes", CLOTHES)
def test_every_variant_in_other_clothes(clothes: str) -> None:
    wrong = []
    for expected, text in LOGS:
        answer = explain_text(CLOTHES[clothes](text))
        if answer.root_cause != expected:
            wrong.append((expected, answer.root_cause, text[:200]))
    assert not wrong


def _noise(count: int, seed: int = 1) -> str:
    source = random.Random(seed)
    kinds = (
        "INFO: From Compiling tensorflow/core/kernels/op_{n}.cc:",
        "./tensorflow/core/lib/gtl/inlined_vector.h:{n}:12: warning: variable 'unused' set but not used [-Wunused-but-set-variable]",
        "[{n} / 24,301] Compiling tensorflow/core/kernels/error_{n}.cc; {m}s local ... (16 actions, 15 running)",
        "external/com_google_absl/absl/status/status.h:{n}:7: note: in expansion of macro 'ABSL_FATAL'",
        "   {n} |   n &= ~(failed({m}) - 1);",
        "      |          ^~~~~~~~~~~~~~~~~~~~~~",
        "SUBCOMMAND: # //tensorflow/core:lib_{n} [action 'Compiling x_{m}.cc']",
    )
    return "".join(
        source.choice(kinds).format(n=source.randint(1, 99999), m=source.randint(1, 99)) + "\n"
        for _ in range(count)
    )


def test_a_cause_is_found_in_noise_on_both_sides() -> None:
    noise = _noise(3000)
    for expected, text in LOGS[::4]:
        answer = explain_text(noise + text + noise)
        assert answer.root_cause == expected
        assert answer.evidence is not None
        assert answer.evidence.line > 3000
        assert (noise + text).splitlines()[answer.evidence.line - 1].strip()


def test_a_cause_is_found_in_a_hundred_thousand_lines() -> None:
    noise = _noise(50_000)
    answer = explain_text(
        noise + "nvcc fatal   : Unsupported gpu architecture 'compute_86'\n" + noise
    )
    assert answer.root_cause == "nvcc-arch-too-new"
    assert answer.evidence is not None
    assert answer.evidence.line == 50_001


@pytest.mark.parametrize("place", [CHUNK - 30, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 5])
def test_a_line_across_the_border_of_a_chunk(place: int) -> None:
    line = "nvcc fatal   : Unsupported gpu architecture 'compute_86'\n"
    filler = ("x" * 79 + "\n") * (place // 80 + 1)
    text = filler[: place - 1] + "\n" + line + "x\n"
    answer = explain_text(text)
    assert answer.root_cause == "nvcc-arch-too-new"
    assert answer.evidence is not None
    assert answer.evidence.line == text[: text.index("nvcc")].count("\n") + 1


def test_a_message_inside_a_very_long_line() -> None:
    long = (
        "x" * 900_000 + " nvcc fatal   : Unsupported gpu architecture 'compute_86' " + "y" * 900_000
    )
    assert explain_text(long).root_cause == "nvcc-arch-too-new"


def test_both_search_engines_find_the_same() -> None:
    re2 = pytest.importorskip("re2")
    assert re2
    import io

    for _, text in LOGS:
        plain = scanner("find").scan(io.BytesIO(text.encode()))
        quick = scanner("re2").scan(io.BytesIO(text.encode()))
        assert plain.signatures == quick.signatures
        assert plain.clues == quick.clues


def test_no_template_is_slow_on_hostile_lines() -> None:
    """Every literal repeated over a line, and lines of one character: bounded work per line.

    The limit is no timing of a feature but a guard against exponential matching, which would
    need hours.
    """
    started = time.process_time()
    templates = [compile_template(m) for s in library().signature for m in s.match]
    for template in templates:
        hostile = (template.literals[0] + " '") * (
            lines.MAX_LINE // (len(template.literals[0]) + 2)
        )
        template.match(lines.message(hostile))
        template.match(lines.message("a" * lines.MAX_LINE + template.literals[0]))
    assert time.process_time() - started < 60


@pytest.mark.parametrize(
    "text",
    [
        "error: ",
        "'",
        "ERROR: (",
        "[1/1] ",
        "2024-01-01T00:00:00Z ",
        "\x1b[0m",
        "undefined symbol: _ZN",
    ],
)
def test_adversarial_megabytes_end(text: str) -> None:
    explain_text((text * (1_000_000 // len(text)) + "\n") * 2)
