"""What each claim states and last came to, one TOML a paper, joined with what judges it.

The claim `sauc-eq-3-as-printed` is an entry of sauc.toml, below its place, and a function
`sauc_eq_3_as_printed` of one of `MODULES`, or the function and the arguments of `judge`, or one
that `enter` is given. The guide `how-it-is-built` explains the keys of an entry. What a place
states itself holds for all of its claims. `kind` is "suite" in aucert.toml, else, if not given,
"theorem" with a quotation and "corrected" without.

    aucert validate --out OUT
    python -m aucert.validation.claims.recorded OUT/claims.json DATE

records a run anew. A verdict that differs from the recorded one is a change, for better or worse.
"""

import json
import sys
import textwrap
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ...exact.errors import InputError
from .claim import FILED, REGISTRY, Claim, Run, Verdict

FOLDER = Path(__file__).parent
MODULES = ("scaling_up", "theorem_4", "sauc", "sht", "nonlinear", "instrument")
FILES = dict(zip(FILED, ("scaling_up", "sauc", "sht", "nonlinear", "aucert"), strict=True))
SHARED = ("statement", "formula", "turned_by", "kind", "regime", "arithmetic")  # of a place
NOT_OF_A_CLAIM = ("judge", "printed_form", "repaired_form")


@cache
def statements() -> dict[str, dict[str, Any]]:
    """Return the entries of all papers by claim, each with its `paper` and its `kind`."""
    found: dict[str, dict[str, Any]] = {}
    for paper, name in FILES.items():
        places = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
        for place, entries in places.items():
            shared = {key: entries.pop(key) for key in [*entries] if key in SHARED}
            for claim, entry in entries.items():
                if claim in found:
                    raise InputError(f"two claims are called {claim!r}")
                own = "theorem" if "quote" in entry else "corrected"
                kind = "suite" if paper == "aucert" else own
                found[claim] = {"paper": paper, "place": place, "kind": kind, **shared, **entry}
    return found


@cache
def record() -> dict[str, Any]:
    """Return date, version, profile and the named verdicts of the last recorded run."""
    return tomllib.loads((FOLDER / "recorded.toml").read_text(encoding="utf-8"))


def usual_verdict(name: str) -> Verdict:
    """Return the verdict of a claim that the record does not name."""
    if name not in statements():
        return Verdict.UNDECIDED
    return Verdict.FAILS if "severity" in statements()[name] else Verdict.HOLDS


def recorded_verdict(name: str) -> Verdict:
    named = (verdict for verdict, names in record()["verdicts"].items() if name in names)
    return Verdict(next(named, usual_verdict(name)))


def enter(judges: Mapping[str, Run]) -> None:
    """Enter the claims of these names in `REGISTRY`, each with the function that judges it."""
    for name, run in judges.items():
        if name in REGISTRY:
            raise InputError(f"two claims are called {name!r}")
        entry = statements()[name]
        given: dict[str, Any] = {k: x for k, x in entry.items() if k not in NOT_OF_A_CLAIM}
        given |= {k: tuple(x) for k, x in given.items() if isinstance(x, list)}
        tuning = "Nothing is tuned." if entry["kind"] == "theorem" else ""
        expected = recorded_verdict(name)
        REGISTRY[name] = Claim(name, expected_verdict=expected, run=run, tuning=tuning, **given)


def enter_all() -> None:
    """Enter every claim that a function of `MODULES` judges, in the order of the TOML; once."""
    modules = {name: import_module(f".{name}", __package__) for name in MODULES}
    homes = {name: module for module in modules.values() for name in vars(module)}
    judges: dict[str, Run] = {}
    for name, entry in statements().items():
        judge, *given = entry.get("judge", [name.replace("-", "_")])
        where, _, function = judge.rpartition(".")
        home: Any = modules[where] if where else homes.get(function)
        if home is not None:  # looked up when it is run
            judges[name] = lambda c, at=(home, function), given=given: getattr(*at)(c, *given)
    enter(judges)


def write(document: Mapping[str, Any], date: str, folder: Path = FOLDER) -> None:
    """Write the verdicts of a run, as `aucert validate --json` has it, as the recorded ones."""
    verdicts = {name: said for said, names in record()["verdicts"].items() for name in names}
    verdicts |= {row["name"]: row["verdict"] for row in document["claims"]}
    profile = document["parameters"]["profile"]
    text = f'date = "{date}"\nversion = "{document["version"]}"\nprofile = "{profile}"\n'
    text += "\n# All other statements hold but those with a severity, which fail, and all other "
    text += "findings are undecided.\n[verdicts]\n"
    for verdict in Verdict:
        names = [f'"{n}",' for n, v in verdicts.items() if v == verdict != usual_verdict(n)]
        lines = textwrap.wrap(" ".join(names), 98, break_on_hyphens=False)
        text += "\n  ".join([f"{verdict} = [", *lines]) + "\n]\n" if names else ""
    (folder / "recorded.toml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), sys.argv[2])
