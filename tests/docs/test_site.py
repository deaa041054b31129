"""The documentation site builds without a warning, needs nothing from elsewhere, is drawn whole.

Where a Chromium is installed, it opens every page from the folder and measures what it draws.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LOOK = """<!doctype html><body><script>
const pages = PAGES, found = {};
function measured(page) {
  const text = page.querySelector("article") || page.body, root = page.documentElement;
  const end = text.getBoundingClientRect().right + 2;
  function scrolls(node) {
    for (; node && node !== text; node = node.parentElement)
      if (page.defaultView.getComputedStyle(node).overflowX !== "visible") return true;
    return false;
  }
  const drawn = node => node.checkVisibility() ? node.getBoundingClientRect() : null;
  return {
    over: root.scrollWidth - root.clientWidth,
    formulas: page.querySelectorAll("math").length,
    flat: [...text.querySelectorAll("math")].filter(m => drawn(m) && drawn(m).height < 3).length,
    missing: [...page.images].filter(i => !i.naturalWidth).map(i => i.src),
    wide: [...text.querySelectorAll("table, pre, img, math, svg")]
      .filter(n => drawn(n) && drawn(n).right > end && !scrolls(n))
      .map(n => n.tagName + " " + n.textContent.trim().slice(0, 40)),
  };
}
(async () => {
  for (const page of pages) {
    const frame = document.createElement("iframe");
    Object.assign(frame, {width: 1280, height: 900, src: page});
    await new Promise(done => { frame.onload = done; document.body.appendChild(frame); });
    const images = [...frame.contentDocument.images];
    for (const image of images) image.loading = "eager";
    await Promise.all(images.map(image => image.decode().catch(() => 0)));
    found[page] = measured(frame.contentDocument);
    frame.remove();
  }
  const out = document.createElement("pre");
  Object.assign(out, {id: "found", textContent: JSON.stringify(found)});
  document.body.appendChild(out);
})();
</script>"""
"""A page that opens each of `PAGES` in a frame of 1280 by 900 and writes down what is drawn."""

AT_ONCE = 40
"""Pages that one browser opens: with too many it ends before they are drawn."""

FETCHED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}


class Fetched(HTMLParser):
    """What a browser fetches to show a page, and the formulas in it."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.formulas = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.formulas += tag == "math"
        if tag in FETCHED and values.get("rel") not in ("canonical", "author"):
            self.addresses.append(values.get(FETCHED[tag]) or "")


def looked_at(page: Path) -> Fetched:
    found = Fetched()
    found.feed(page.read_text("utf-8"))
    return found


@pytest.mark.slow
def test_every_page_is_there(site: Path) -> None:
    docs = site.parent / "docs"
    pages = [*docs.glob("*.md"), *(docs / "decisions").glob("*.md")]
    names = {page.relative_to(docs).with_suffix("") for page in pages}
    built = {page.relative_to(site).with_suffix("") for page in site.rglob("*.html")}
    assert names <= built
    assert {Path("_api/exact"), Path("_api/approx"), Path("_api/validation")} <= built


@pytest.mark.slow
def test_nothing_is_fetched_from_elsewhere_and_what_is_fetched_is_there(site: Path) -> None:
    for page in site.rglob("*.html"):
        for address in looked_at(page).addresses:
            assert "://" not in address and not address.startswith("//"), f"{page.name}: {address}"
            path = unquote(address.split("?")[0].split("#")[0])
            assert address.startswith("data:") or (page.parent / path).exists(), address
    for style in site.rglob("*.css"):
        text = style.read_text("utf-8")
        assert re.findall(r"(?:@import|url\()\s*['\"]?https?:", text) == [], style.name


@pytest.mark.slow
def test_tutorials_have_pictures_formulas_and_the_library_s_lines(site: Path) -> None:
    for script in (ROOT / "docs" / "tutorials").glob("0*.py"):
        page = looked_at(site / "_tutorials" / f"{script.stem}.html")
        assert any("sphx_glr" in address for address in page.addresses), script.name
        assert page.formulas > 0, script.name


def drawn(folder: Path, pages: list[str]) -> dict[str, dict[str, Any]]:
    """What a browser draws of each page of a folder."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"needs a browser: none of {', '.join(BROWSERS)} is installed")
    look = folder / "look.html"
    look.write_text(LOOK.replace("PAGES", json.dumps(pages)), encoding="utf-8")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu"]
    command += ["--allow-file-access-from-files", "--window-size=1400,1000"]
    command += ["--virtual-time-budget=600000", "--dump-dom", look.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    look.unlink()
    match = re.search(r'<pre id="found">(.*?)</pre>', run.stdout, re.S)
    assert match, run.stderr[-1000:]
    return json.loads(html.unescape(match[1]))


@pytest.mark.slow
def test_a_browser_draws_every_page_whole(site: Path) -> None:
    pages = sorted(page.relative_to(site).as_posix() for page in site.rglob("*.html"))
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(pages), AT_ONCE):
        found |= drawn(site, pages[start : start + AT_ONCE])
    assert sorted(found) == pages
    wrong = {
        page: seen
        for page, seen in found.items()
        if seen["over"] > 0 or seen["flat"] or seen["missing"] or seen["wide"]
    }
    assert wrong == {}
    tutorials = [page for page in pages if re.match(r"_tutorials/\d\d_", page)]
    assert len(tutorials) == 9 and all(found[page]["formulas"] for page in tutorials)


@pytest.mark.slow
def test_what_is_not_drawn_whole_is_found(tmp_path: Path) -> None:
    (tmp_path / "wide.html").write_text(
        "<article style='width: 600px'><img src='nowhere.png'><math></math>"
        f"<table><tr><td>{'x' * 400}</td></tr></table></article>"
    )
    (tmp_path / "fine.html").write_text(
        "<article><p>text</p><math><mi>x</mi></math>"
        f"<div style='overflow-x: auto'><pre>{'x' * 400}</pre></div></article>"
    )
    found = drawn(tmp_path, ["fine.html", "wide.html"])
    assert found["fine.html"] == {"over": 0, "formulas": 1, "flat": 0, "missing": [], "wide": []}
    seen = found["wide.html"]
    assert seen["over"] > 0 and seen["flat"] == 1 and len(seen["missing"]) == 1
    assert seen["wide"][0].startswith("TABLE x")


@pytest.mark.slow
def test_the_settings_page_has_every_public_estimator_and_command(site: Path) -> None:
    text = (site / "settings.html").read_text("utf-8")
    for name in ("ROCSVM", "SAUCSVM", "solve", "certify", "SHTAUC", "aucert validate"):
        assert f">{name}<" in text, name
