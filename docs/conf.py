"""The documentation site: `python -m sphinx -W docs docs/_build/html` from the root.

Everything that a page needs is written next to it: it opens from a folder without a network.
Formulas become MathML, which browsers draw themselves (decisions.md).
"""

from __future__ import annotations

import re
import sys
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert

import aucert

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import plain_formulas  # noqa: E402
import site_fields  # noqa: E402
import site_links  # noqa: E402
import site_pages  # noqa: E402

site_pages.write(HERE / "_api")
site_pages.write_results(HERE / "_results")

project = "aucert"
author = "the aucert developers"
copyright = author
version = release = aucert.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "tutorials", "release"]
default_role = "code"
highlight_language = "none"
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
# Links to source files, to the README and to CONTRIBUTING lead out of the site.
# Words of a type (`array (n, d)`) are not references.
suppress_warnings = ["myst.xref_missing", "ref.python"]

html_theme = "furo"
html_title = f"aucert {release}"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
# Browsers stretch roots and brackets with a mathematical font only, and not every system has one.
MATH_FONT = files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf"
html_static_path = ["_static", str(MATH_FONT)]
html_css_files = ["site.css"]

autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # a property may stand under Attributes and be described itself
autodoc_default_options = {"member-order": "bysource"}

sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "_tutorials",
    "filename_pattern": r"[/\\]\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "copyfile_regex": "",
    "download_all_examples": False,
    "notebook_images": False,
    "remove_config_comments": True,
    "min_reported_time": 60,
    "show_memory": False,
    "show_signature": False,
    "image_scrapers": ("matplotlib",),
    "write_computation_times": False,
    "only_warn_on_example_error": False,
    "reset_modules": ("matplotlib",),
}


LONG = 24
"""Characters of a formula within a line that may be wider than a phone."""

SIGNS = ("\N{MINUS SIGN}", "+", "\N{PLUS-MINUS SIGN}")
BEFORE_A_SIGN = tuple(
    "=\N{LESS-THAN OR EQUAL TO}\N{GREATER-THAN OR EQUAL TO}\N{ALMOST EQUAL TO}<>,;:([{"
)

MATHML, PRIME = "http://www.w3.org/1998/Math/MathML", "\N{PRIME}"
ElementTree.register_namespace("", MATHML)


def mathml(text: str, display: str) -> str:
    """Return a formula in LaTeX as a MathML element."""
    root = ElementTree.fromstring(convert(text, display=display))
    for element in list(root.iter()):
        if element.text == "|":  # a delimiter, which needs no space
            element.attrib |= {"lspace": "0", "rspace": "0"}
        parts = list(element)
        for before, sign in pairwise(parts):
            if sign.text in SIGNS and before.text in BEFORE_A_SIGN:
                sign.set("form", "prefix")  # a sign, and no difference: it stands close
        if len(parts) in (2, 3) and parts[-1].text == PRIME and "sup" in element.tag:
            _lower_prime(element, parts)
    return ElementTree.tostring(root, encoding="unicode")


def _lower_prime(element: ElementTree.Element, parts: list[ElementTree.Element]) -> None:
    """Write a prime next to its letter: as an exponent, most fonts put it far too high."""
    element.tag = f"{{{MATHML}}}mrow"
    base = parts[0]
    if len(parts) == 3:
        base = ElementTree.Element(f"{{{MATHML}}}msub")
        base.extend(parts[:2])
    prime = ElementTree.Element(f"{{{MATHML}}}mo", {"lspace": "0", "rspace": "0"})
    prime.text = PRIME
    element[:] = [base, prime]


def inline_math(self: Any, node: nodes.math) -> None:
    """Write a formula within a line; a long one can be scrolled where the lines are short."""
    text = node.astext()
    formula = mathml(text, "inline")
    self.body.append(f'<span class="long">{formula}</span>' if len(text) > LONG else formula)
    raise nodes.SkipNode


def block_math(self: Any, node: nodes.math_block) -> None:
    """Write a formula that stands alone."""
    text = node.astext()
    if "\\\\" in text and "\\begin" not in text:
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    self.body.append(f'<div class="formula">{mathml(text, "block")}</div>\n')
    raise nodes.SkipNode


def plain_docstring(
    app: Any, what: str, name: str, obj: object, options: Any, lines: list[str]
) -> None:
    """Turn a docstring, which is plain text, into what the site's parser reads the same way."""
    lines[:] = site_fields.attributes_apart(site_pages.as_markup(lines))


def not_ours(app: Any, what: str, name: str, obj: object, skip: bool, options: Any) -> bool | None:
    """Leave out the methods that scikit-learn adds to every estimator."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def site_source(app: Any, docname: str, source: list[str]) -> None:
    """Lead links to sources to the pages made from them, and set plain formulas as formulas."""
    if docname.startswith("_tutorials/"):
        source[0] = site_links.with_alt_text(source[0])
    elif not docname.startswith("_api/"):
        source[0] = site_links.for_site(source[0], docname)
    if docname in plain_formulas.PAGES:
        source[0] = plain_formulas.typeset(source[0])


def no_false_links(app: Any, tree: nodes.document) -> None:
    """Leave links of types to classes only."""
    site_fields.without_false_links(tree)


def classes_only(app: Any, tree: nodes.document, docname: str) -> None:
    """Leave links of types to classes only, those included that were looked up late."""
    site_fields.links_to_classes_only(tree)


def setup(app: Any) -> None:
    """Register the formulas, the links and the docstrings."""
    app.connect("source-read", site_source)
    app.add_html_math_renderer(
        "mathml", inline_renderers=(inline_math, None), block_renderers=(block_math, None)
    )
    app.connect("autodoc-process-docstring", plain_docstring, priority=100)
    app.connect("autodoc-skip-member", not_ours)
    app.connect("doctree-read", no_false_links)
    app.connect("doctree-resolved", classes_only)
