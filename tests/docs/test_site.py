"""The site builds without a warning, needs nothing from elsewhere, its links lead somewhere.

Where a Chromium is installed, it opens every page from the folder, on a desk and on a phone, and
measures what it draws.
"""

import html
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from pages import Page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("[0-9]*.py"))


def pages(folder: Path) -> dict[str, Page]:
    return {
        path.relative_to(folder).as_posix(): Page(path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.parts
    }


def faults(folder: Path) -> list[str]:
    """What is wrong with the links and the pictures of a built site."""
    known, found = pages(folder), []
    for name, page in known.items():
        found += [f"{name}: no alternative text: {image}" for image in page.without_alt]
        lost = [address for address in page.links if broken(folder, known, name, address)]
        found += [f"{name}: leads nowhere: {address}" for address in lost]
    return found


def broken(folder: Path, known: dict[str, Page], name: str, address: str) -> bool:
    """Whether an internal link leads to no file, or to no anchor of its page."""
    if re.match(r"[a-z]+:", address):
        return False
    path, _, anchor = unquote(address).partition("#")
    target = (folder / name).parent / path.split("?")[0] if path else folder / name
    if not target.exists():
        return True
    page = known.get(target.resolve().relative_to(folder.resolve()).as_posix())
    return bool(anchor) and page is not None and anchor not in page.ids


@pytest.mark.site
@pytest.mark.slow
def test_links_of_the_site_lead_somewhere(site: Path) -> None:
    assert faults(site) == []


@pytest.mark.site
@pytest.mark.slow
def test_nothing_is_fetched_from_elsewhere_and_what_is_fetched_is_there(site: Path) -> None:
    for page in site.rglob("*.html"):
        for address in Page(page.read_text("utf-8")).fetched:
            assert "://" not in address and not address.startswith("//"), f"{page.name}: {address}"
            path = unquote(address.split("?")[0].split("#")[0])
            assert address.startswith("data:") or (page.parent / path).exists(), address
    for style in site.rglob("*.css"):
        text = style.read_text("utf-8")
        assert re.findall(r"(?:@import|url\()\s*['\"]?https?:", text) == [], style.name


@pytest.mark.release
def test_tutorials_have_pictures_formulas_and_the_library_s_lines(whole_site: Path) -> None:
    for script in TUTORIALS:
        page = Page((whole_site / "_tutorials" / f"{script.stem}.html").read_text("utf-8"))
        assert any("sphx_glr" in address for address in page.fetched), script.name
        assert "math" in page.tags, script.name


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# A page that opens each of `PAGES` in a frame of `WIDTH` by 900 and writes down what is drawn.
LOOK = """<!doctype html><body><script>
const pages = PAGES, found = {};
function measured(page) {
  const text = page.querySelector("article") || page.body, root = page.documentElement;
  const end = text.getBoundingClientRect().right + 2;
  function scrolls(node) {
    for (; node && node !== text; node = node.parentElement)
      if (style(node).overflowX !== "visible") return true;
    return false;
  }
  const drawn = node => node.checkVisibility() ? node.getBoundingClientRect() : null;
  const style = node => page.defaultView.getComputedStyle(node);
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
    Object.assign(frame, {width: WIDTH, height: 900, src: page});
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
AT_ONCE = 12  # pages that one browser opens: with too many it ends before they are drawn


def drawn(folder: Path, pages: list[str], width: int) -> dict[str, dict[str, Any]]:
    """What a browser draws of each page of a folder, in a frame so wide."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"needs a browser: none of {', '.join(BROWSERS)} is installed")
    look = folder / "look.html"
    text = LOOK.replace("PAGES", json.dumps(pages)).replace("WIDTH", str(width))
    look.write_text(text, encoding="utf-8")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu"]
    command += ["--allow-file-access-from-files", "--window-size=1400,1000"]
    command += ["--no-first-run", "--disable-background-networking", "--disable-sync"]
    command += ["--virtual-time-budget=600000", "--dump-dom"]
    for _ in range(5 if len(pages) == 1 else 1):  # now and then it ends before a page is drawn
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own:  # not another one's
            run = subprocess.run(
                [*command, f"--user-data-dir={own}", look.as_uri()],
                capture_output=True,
                text=True,
                timeout=300,
            )
        match = re.search(r'<pre id="found">(.*?)</pre>', run.stdout, re.S)
        if match is not None:
            break
    look.unlink()
    if match is None and len(pages) > 1:
        half = len(pages) // 2
        return drawn(folder, pages[:half], width) | drawn(folder, pages[half:], width)
    assert match, run.stderr[-1000:]
    return json.loads(html.unescape(match[1]))


@pytest.mark.release
@pytest.mark.parametrize("width", [1300, 375], ids=["desk", "phone"])
def test_a_browser_draws_every_page_whole(whole_site: Path, width: int) -> None:
    pages = sorted(page.relative_to(whole_site).as_posix() for page in whole_site.rglob("*.html"))
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(pages), AT_ONCE):
        found |= drawn(whole_site, pages[start : start + AT_ONCE], width)
    assert sorted(found) == pages
    faults = ("over", "flat", "missing", "wide")
    wrong = {
        page: {name: seen[name] for name in faults if seen[name]}
        for page, seen in found.items()
        if any(seen[name] for name in faults)
    }
    assert wrong == {}
    scripts = {f"_tutorials/{script.stem}.html" for script in TUTORIALS}
    assert scripts <= set(pages) and all(found[page]["formulas"] for page in scripts)


MADE = shutil.ignore_patterns("_build", "_api", "_tutorials", "_results", "__pycache__")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site without the tutorials' pictures."""
    return _built(tmp_path_factory.mktemp("site"), "-D", "plot_gallery=0")


@pytest.fixture(scope="session")
def whole_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _built(tmp_path_factory.mktemp("whole-site"))


def _built(work: Path, *options: str) -> Path:
    for name in ("sphinx", "myst_parser", "sphinx_gallery", "furo", "latex2mathml", "ziamath"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: pip install 'aucert[docs]'")
    shutil.copytree(ROOT / "docs", work / "docs", ignore=MADE)
    for room in ("exact", "approx", "validation"):
        (work / room).symlink_to(ROOT / room)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", *options, "docs", "html"]
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    run = subprocess.run(command, cwd=work, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
    return work / "html"
