"""Every link leads somewhere, in the clone and on the site."""

from __future__ import annotations

import importlib.util
import re
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest

from loops import each

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
VOID = {"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}


class Page(HTMLParser):
    """The links, anchors and pictures of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.anchors: set[str] = set()
        self.without_alt: list[str] = []
        self._inside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors |= {values[key] or "" for key in ("id", "name") if key in values}
        if tag not in VOID:
            self._inside.append(tag)
        if tag == "a" and values.get("href"):
            self.links.append((values["href"] or "", ""))
        if tag == "img" and "article" in self._inside and not values.get("alt"):
            self.without_alt.append(values.get("src") or "")

    def handle_endtag(self, tag: str) -> None:
        while tag in self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "a" in self._inside and self.links:
            address, text = self.links[-1]
            self.links[-1] = (address, text + data)


def pages(folder: Path) -> dict[str, Page]:
    """Every page of a built site, by its path."""
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
        for address, text in page.links:
            if re.search(r"\.md$", text.strip()):
                found.append(f"{name}: a file's name as text of a link: {text.strip()}")
            if broken(folder, known, name, address):
                found.append(f"{name}: leads nowhere: {address}")
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
    return bool(anchor) and page is not None and anchor not in page.anchors


@pytest.mark.site
@pytest.mark.slow
def test_links_of_the_site_lead_somewhere(site: Path) -> None:
    assert faults(site) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "good.html").write_text(
        "<article id='top'><a href='#top'>up</a><a href='bad.html?x#here'>on</a>"
        "<a href='https://example.org/x'>out</a><img src='x.png' alt='a picture'></article>"
    )
    (tmp_path / "bad.html").write_text(
        "<article id='here'>few<br><a href='none.html'>a</a><a href='good.html#none'>b</a>"
        "<a href='good.html'><code>good.md</code></a><img src='x.png'></article>"
    )
    assert faults(tmp_path) == [
        "bad.html: no alternative text: x.png",
        "bad.html: leads nowhere: none.html",
        "bad.html: leads nowhere: good.html#none",
        "bad.html: a file's name as text of a link: good.md",
    ]


def links_of_the_site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_links", DOCS / "site_links.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@each(
    ("docname", "written", "built"),
    [
        ("start", "[one](tutorials/01_a.py)", "[one](_tutorials/01_a)"),
        ("index", "[all](tutorials)", "[all](_tutorials/index)"),
        ("index", "[API](../exact/__init__.py)", "[API](_api/exact)"),
        ("below/x", "[API](../../approx/__init__.py)", "[API](../_api/approx)"),
        ("below/x", "[a](../notation.md#b)", "[a](../notation.md#b)"),
        ("errata", "[how far](../validation/formal/README.md)",
         "how far (`validation/formal/README.md` in the clone)"),
        ("start", "[out](https://example.org/tutorials)", "[out](https://example.org/tutorials)"),
    ],
)  # fmt: skip
def test_links_to_sources_become_links_to_pages(docname: str, written: str, built: str) -> None:
    assert links_of_the_site().for_site(written, docname) == built
