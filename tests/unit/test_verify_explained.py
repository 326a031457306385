"""A failed import and an unseen GPU are explained where they are met."""

from __future__ import annotations

from tfenv.diagnose.doctor import Finding
from tfenv.target import parse
from tfenv.verify.explained import explained
from tfenv.verify.result import Check

NO_DRIVER = Finding("no-driver", "error", "no NVIDIA driver is loaded", "install the driver")


def check(name: str, status: str, detail: str) -> Check:
    return Check(id=name, suite="device", status=status, detail=detail)  # type: ignore[arg-type]


def nobody() -> list[Finding]:
    raise AssertionError("the doctor was not needed")


def test_a_failed_import_says_its_cause_and_fix() -> None:
    text = "TypeError: Descriptors cannot not be created directly."
    (found,) = explained([check("device.import", "failed", text)], parse("1.15.5-cpu"), nobody)
    assert found.detail.startswith(text)
    assert "protobuf" in found.detail.removeprefix(text)


def test_what_nobody_knows_stays_as_it_is() -> None:
    given = [check("device.import", "failed", "exit code 3"), check("xla.jit", "failed", "no HLO")]
    assert explained(given, parse("2.6.5-cpu"), nobody) == given


def test_a_gpu_check_carries_what_the_doctor_says() -> None:
    calls = []

    def doctor() -> list[Finding]:
        calls.append(1)
        return [NO_DRIVER]

    given = [
        check("device.gpu_driver", "failed", "no GPU"),
        check("device.gpu", "skipped", "no GPU"),
    ]
    found = explained(given, parse("2.6.5-cuda"), doctor)
    assert all("no-driver" in c.detail and "install the driver" in c.detail for c in found)
    assert len(calls) == 1


def test_passed_checks_and_cpu_targets_need_no_doctor() -> None:
    given = [check("device.gpu", "skipped", "a CPU build")]
    assert explained(given, parse("2.6.5-cpu"), nobody) == given
    given = [check("device.gpu_driver", "passed", "1 GPU")]
    assert explained(given, parse("2.6.5-cuda"), nobody) == given
