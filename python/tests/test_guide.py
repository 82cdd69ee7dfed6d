"""What the guide and the README of the package show, runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["guide/python.md", "python/README.md"])
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    names: dict = {}
    # a block with … needs what only its reader has
    tried = [exec(compile(block, page, "exec"), names) for block in blocks if "…" not in block]
    assert len(tried) >= 1 and "sim" in names
