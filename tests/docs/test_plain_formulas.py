"""Formulas in backticks of two pages are set as formulas; names and code stay as they are."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from loops import each

DOCS = Path(__file__).resolve().parents[2] / "docs"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("plain_formulas", DOCS / "plain_formulas.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PLAIN = loaded()


@each(
    ("plain", "expected"),
    [
        ("lam/2 |f|^2", r"\lambda /2 \vert f\vert ^{2}"),
        ("f^", r"\hat{f}"),
        ("f~_B", r"\tilde{f}_{B}"),
        ("n+ n-", "n^{+} n^{-}"),
        ("n+1", "n+1"),
        ("k*/k", "k^{*}/k"),
        ("n^(3/2)", "n^{3/2}"),
        ("sqrt(log(4/delta) / (2B))", r"\sqrt{\log (4/\delta ) / (2B)}"),
        ("w_tau_k", r"w_{\tau _{k}}"),
        ("theta~_B' E", r"\tilde{\theta }_{B}^{\prime } E"),
        ("n x n", r"n \times n"),
        ("K = x x'", r"K = x x^{\prime }"),
        ("<u, v> <= 1", r"\langle u, v\rangle \le 1"),
        ("100,000", "100{,}000"),
        ("xbar_+", r"\bar{x}_{+}"),
    ],
)
def test_plain_formulas_become_latex(plain: str, expected: str) -> None:
    assert PLAIN.latex(plain) == expected


@each(
    "plain",
    ["ScalingUp", "eq. (4)", "claim:eq-17-as-printed", "aucert.exact", "tests/a.py", "some words",
     "swap(w_l, w_i)", "f(", "x_", "^"],
)  # fmt: skip
def test_what_is_no_formula_stays_as_it_is(plain: str) -> None:
    assert PLAIN.latex(plain) is None
    assert PLAIN.typeset(f"a `{plain}` b") == f"a `{plain}` b"


@each("page", PLAIN.PAGES)
def test_every_span_is_read_and_can_be_drawn(page: str) -> None:
    convert = pytest.importorskip("latex2mathml.converter").convert
    spans = PLAIN.SPAN.findall((DOCS / f"{page}.md").read_text("utf-8"))
    formulas = [span for span in spans if not PLAIN.NOT_A_FORMULA.match(" ".join(span.split()))]
    made = {span: PLAIN.latex(" ".join(span.replace("\\|", "|").split())) for span in formulas}
    assert [span for span, text in made.items() if text is None] == []
    assert all(convert(text) for text in made.values())
