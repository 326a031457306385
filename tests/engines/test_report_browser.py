"""The HTML report in a real browser: it renders, filters, fits a phone, and has a dark mode."""

from __future__ import annotations

import html as markup
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.test_verify_result import check, report
from tfenv.report import html
from tfenv.verify.result import Check, Report

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOSTILE = "<img src=x onerror=\"document.title='owned'\"> " + "long" * 80
NODES = [
    {"name": "x", "op": "Placeholder", "inputs": []},
    {"name": "y", "op": "_XlaRun", "inputs": ["x"]},
]
# Runs in the page and leaves its findings where --dump-dom shows them.
PROBE = """
<script>
addEventListener("load", function () {
  var doc = document, found = {};
  function shown() { return Array.from(doc.querySelectorAll("#checks tbody tr"))
    .filter(function (r) { return !r.hidden; }).map(function (r) { return r.cells[0].textContent; }); }
  found.title = doc.title;
  found.all = shown();
  doc.querySelector('button[data-status="failed"]').click();
  found.failed = shown();
  doc.querySelector('button[data-status="failed"]').click();
  doc.getElementById("area").value = "xla";
  doc.getElementById("area").dispatchEvent(new Event("change"));
  found.xla = shown();
  doc.getElementById("area").value = "";
  doc.getElementById("text").value = "no DRIVER";
  doc.getElementById("text").dispatchEvent(new Event("input"));
  found.driver = shown();
  found.count = doc.getElementById("shown").textContent;
  found.wide = doc.documentElement.scrollWidth - doc.documentElement.clientWidth;
  found.background = getComputedStyle(doc.body).backgroundColor;
  doc.getElementById("text").value = "";
  doc.querySelector('a[data-area="kernels"]').click();
  found.kernels = shown();
  found.drawings = doc.querySelectorAll("svg").length;
  found.charts = doc.querySelectorAll("ol.bars").length;
  var bound = doc.querySelector("ol.ruled .track");
  found.bar = Math.round(100 * bound.firstElementChild.offsetWidth / bound.offsetWidth);
  found.requests = performance.getEntriesByType("resource").length;
  var pre = doc.createElement("pre");
  pre.id = "found";
  pre.textContent = JSON.stringify(found);
  doc.body.appendChild(pre);
});
</script>
"""


@pytest.fixture
def page() -> str:
    return html.render(sample()).replace("</body>", PROBE + "</body>")


def sample() -> Report:
    bars = Check(
        id="kernels.matmul[one]",
        suite="kernels",
        status="passed",
        data={"error": 12, "bound": 16, "unit": "eps"},
    )
    drawn = Check(
        id="xla.auto", suite="xla", status="passed", data={"before": NODES, "after": NODES}
    )
    return report(
        check("device.gpu", "skipped", "no driver"), check("xla.b", "failed", HOSTILE), bars, drawn
    )


def browse(page: str, folder: Path, *options: str) -> tuple[dict[str, Any], str]:
    """What the probe found, and what the browser wrote to its console."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("Chromium is not on this machine")
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += [f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr"]
    command += [*options, "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=True)
    match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match, done.stdout[-2000:]
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(markup.unescape(match[1])), "\n".join(console)


def test_it_renders_and_filters(page: str, tmp_path: Path) -> None:
    found, console = browse(page, tmp_path)
    assert console == ""
    assert found["title"] == "2.6.5-cpu verified"
    assert found["all"] == ["device.gpu", "xla.b", "kernels.matmul[one]", "xla.auto"]
    assert found["failed"] == ["xla.b"]
    assert found["xla"] == ["xla.b", "xla.auto"]
    assert found["driver"] == ["device.gpu"]
    assert found["count"] == "1 of 4"
    assert found["kernels"] == ["kernels.matmul[one]"]
    assert found["drawings"] == 2
    assert found["charts"] == 3
    # 12 of 16, on a scale that ends at 1.25 of the bound.
    assert found["bar"] == 60
    assert found["requests"] == 0


def test_a_script_error_would_be_seen(page: str, tmp_path: Path) -> None:
    broken = page.replace("<script>", "<script>undefinedFunction();</script><script>", 1)
    _, console = browse(broken, tmp_path)
    assert "undefinedFunction" in console


def test_it_fits_a_phone(page: str, tmp_path: Path) -> None:
    found, _ = browse(page, tmp_path, "--window-size=360,740")
    assert found["wide"] <= 0


def test_it_has_a_dark_mode(page: str, tmp_path: Path) -> None:
    light, _ = browse(page, tmp_path / make(tmp_path, "light"))
    dark, _ = browse(
        page, tmp_path / make(tmp_path, "dark"), "--blink-settings=preferredColorScheme=0"
    )
    assert light["background"] == "rgb(251, 251, 249)"
    assert dark["background"] == "rgb(21, 24, 28)"


def make(folder: Path, name: str) -> str:
    (folder / name).mkdir()
    return name
