"""Test vectors of the checker's arithmetic: inputs and what `check_proof.py` makes of them.

A test evaluates `check_proof.bounds` on the inputs in `vectors.json` and compares; here they become
a Coq file in which the definitions of `Checker.v` are evaluated on the same inputs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from .sources import FOLDER, LIBRARY

Case = dict[str, Any]


def vectors() -> list[Case]:
    """Return the cases of `vectors.json`: `given`, and `found` by exact/proof/check_proof.py."""
    return json.loads((FOLDER / "vectors.json").read_text(encoding="utf-8"))


def coq_text(cases: Iterable[Case] | None = None) -> str:
    """Return a Coq file that compiles exactly if `Checker.v` gives what the cases say."""
    lines = [
        "From Coq Require Import ZArith QArith List.",
        f"From {LIBRARY} Require Import CheckerSums Checker.",
        "Import ListNotations.",
        "Open Scope Z_scope.",
    ]
    for number, case in enumerate(vectors() if cases is None else cases):
        for name, statement in _statements(case["given"], case["found"]):
            lines.append(f"Example case_{number}_{name} : {statement}.")
            lines.append("Proof. vm_compute. reflexivity. Qed.")
    return "\n".join(lines)


def _statements(given: Case, found: Case) -> Iterator[tuple[str, str]]:
    """Yield a name and an equation for each quantity of one case."""
    pos, neg = (_entries(given, wanted) for wanted in (True, False))
    q, lam = given["q"], _fraction(given["lam"])
    u, v = _whole(found["u"]), _whole(found["v"])
    w, pull = (f"[{'; '.join(map(_fraction, given[name]))}]" for name in ("w", "pull"))
    if "bins" in given:
        kind = f"{q} {given['bins']} {given['half']} {pos} {neg}"
        yield "u", f"weights_u {kind} = {u}"
        yield "v", f"weights_v {kind} = {v}"
        cap, flow = f"(cap_of {given['half']})", f"(mass {pos} {u})"
    else:
        cap = str(given["cap"])
        flow = f"(marginals_flow {pos} {neg} {u} {v} {cap})"
    yield "missing", f"missing {pos} {neg} {u} {v} {flow} = {found['missing']}"
    upper = f"upper {q} {pos} {neg} {_fraction(given['slip'])} {lam} {w}"
    yield "upper", f"Qeq_bool ({upper}) {_fraction(found['upper'])} = true"
    lower = f"lower {cap} {flow} {pos} {neg} {_fraction(given['scale'])} {lam} {pull}"
    yield "lower", f"Qeq_bool ({lower}) {_fraction(found['lower'])} = true"


def _entries(given: Case, wanted: bool) -> str:
    """The scores and weights of one class."""
    rows = zip(given["scores"], given["weight"], given["positive"], strict=True)
    return f"[{'; '.join(f'({s}, {r})' for s, r, positive in rows if positive == wanted)}]"


def _whole(numbers: Iterable[int]) -> str:
    return f"[{'; '.join(map(str, numbers))}]"


def _fraction(text: str) -> str:
    x = Fraction(text)
    return f"({x.numerator} # {x.denominator})"
