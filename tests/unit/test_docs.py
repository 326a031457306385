"""The pages that are made from the code are committed as the code makes them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def test_the_reference_is_what_the_code_says(checkout: Path) -> None:
    done = subprocess.run(
        [sys.executable, checkout / "docs" / "build.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_links_between_pages_lead_somewhere(checkout: Path) -> None:
    pages = [*checkout.glob("*.md"), *(checkout / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
