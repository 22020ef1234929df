"""Photographs what a notebook shows, light above dark, in a real browser: `pictures.py FOLDER`. Look at the pictures.

Needs playwright, Pillow, and a Chromium that CHRYSALIS_CHROMIUM names.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import chrysalis as ch
from PIL import Image
from playwright.sync_api import sync_playwright

WIDTH = 920
GROUND = {"light": "#ffffff", "dark": "#0d1115"}


def shown() -> dict[str, Any]:
    """What `docs/guides/python.md` shows, made from the example hospital."""
    table = ch.example(5000, seed=3)
    knobs: dict[str, Any] = {"quasi": ["age", "sex", "zip_code"], "sensitive": ["disease"], "require": ["k=10", "l=4"]}
    made = ch.publish(table, **knobs, method="anatomy", seed=7)
    question = (
        "SELECT sex, COUNT(*) AS patients, AVG(age) AS mean_age FROM microdata "
        "WHERE disease = 'influenza' AND age < 60 GROUP BY sex"
    )
    runs = [{"method": "generalize"}, {"method": "anatomy"}, {"method": "permute"}]
    return {
        "summary": made,
        "answer": ch.publish(table, **knobs, method="generalize", seed=7).release.query(question),
        "audit": made.release.audit(microdata=table),
        "comparison": ch.compare(table, **knobs, runs=runs, queries=200, seed=7),
    }


def main() -> None:
    out = Path(sys.argv[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ch.ChrysalisWarning)
        pages = {name: thing._repr_html_() for name, thing in shown().items()}
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=os.environ["CHRYSALIS_CHROMIUM"], args=["--no-sandbox"])
        for name, html in pages.items():
            parts = []
            for scheme, ground in GROUND.items():
                page = browser.new_page(viewport={"width": WIDTH, "height": 600}, color_scheme=scheme)
                page.set_content(f'<!doctype html><body style="margin: 0; padding: 16px; background: {ground}">{html}</body>')
                parts.append(Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB"))
                # What is drawn ends before the page does.
                box = page.locator(".chrysalis").bounding_box()
                parts[-1] = parts[-1].crop((0, 0, WIDTH, int(box["y"] + box["height"]) + 16))
                page.close()
            both = Image.new("RGB", (WIDTH, sum(part.height for part in parts)))
            top = 0
            for part in parts:
                both.paste(part, (0, top))
                top += part.height
            both.quantize(64, dither=Image.Dither.NONE).save(out / f"python-{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
