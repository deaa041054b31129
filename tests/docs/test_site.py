"""The documentation site builds without a warning, and needs nothing from elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
MADE = shutil.ignore_patterns("_build", "_api", "_tutorials", "__pycache__")
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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for name in ("sphinx", "myst_parser", "sphinx_gallery", "furo", "latex2mathml", "ziamath"):
        if not _installed(name):
            pytest.skip(f"{name} is not installed: pip install 'aucert[docs]'")
    work = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", work / "docs", ignore=MADE)
    for room in ("exact", "approx", "validation"):
        (work / room).symlink_to(ROOT / room)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "docs", "html"]
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    run = subprocess.run(command, cwd=work, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
    return work / "html"


def _installed(name: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(name) is not None


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


@pytest.mark.slow
def test_the_settings_page_has_every_public_estimator_and_command(site: Path) -> None:
    text = (site / "settings.html").read_text("utf-8")
    for name in ("ROCSVM", "SAUCSVM", "solve", "certify", "SHTAUC", "aucert validate"):
        assert f">{name}<" in text, name
