"""The Python of the guides and of the README runs."""

from __future__ import annotations

import re
from pathlib import Path

import chrysalis as ch
import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = ["README.md", "crates/chrysalis-python/README.md", "docs/guides/python.md", "docs/guides/coming-from.md"]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("ignore::chrysalis.ChrysalisWarning")
def test_the_blocks_of_a_page_run_in_order(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.S | re.M)
    assert blocks, f"{page} has no Python"
    # The table that pages speak of.
    df = ch.example(3000, seed=1).to_pandas()
    df.to_csv(tmp_path / "patients.csv", index=False)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"df": df, "__name__": "page"}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
