"""Compile the proofs, print the axioms that each theorem uses, and try statements that are false.

    python -m aucert.validation.formal

needs `coqc` (8.16 or later, the system's package) and nothing else; everything is written to a
temporary folder. Exit status 0: all of it holds; 1: refused, and why; 3: not run, no `coqc` here.
"""

import graphlib
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FOLDER = Path(__file__).resolve().parent
LIBRARY = "Formal"
REFUSED, NOT_RUN = 1, 3

# The axioms of Coq's library of real numbers, with their meaning in words.
ALLOWED = {
    "ClassicalDedekindReals.sig_forall_dec": "the reals: a decidable sequence is true or has a gap",
    "ClassicalDedekindReals.sig_not_dec": "the reals: not P is decided",
    "FunctionalExtensionality.functional_extensionality_dep": "equal values, equal functions",
    "Classical_Prop.classic": "P or not P",
}

# Theorems of probability that others assume; they stand in the statements, by name.
PREMISES = ("McDiarmid", "contraction_principle")

Say = Callable[[str], object]


class Refused(Exception):
    """A file that does not compile, a forbidden word, a foreign axiom, a false statement proved."""


# Commands that leave something unproved, or that switch a check of Coq off.
FORBIDDEN = """Admitted admit give_up Axiom Axioms Parameter Parameters Conjecture Conjectures Abort
    Unset bypass_check Declare""".split()

STATED = re.compile(r"^\s*(?:Theorem|Corollary)\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    name: str
    text: str

    @property
    def code(self) -> str:
        return without_comments(self.text)

    @property
    def needs(self) -> list[str]:
        """The files of this folder that it imports."""
        lines = re.findall(rf"From {LIBRARY} Require (?:Import|Export)\s+([^.]*)\.", self.code)
        return [name for line in lines for name in line.split()]

    @property
    def theorems(self) -> list[str]:
        """Names of what it states: theorems and corollaries; lemmas are steps on the way."""
        return STATED.findall(self.code)

    @property
    def unproved(self) -> list[str]:
        words = set(re.findall(r"\w+", self.code))
        return [word for word in FORBIDDEN if word in words]

    def lines_after(self, name: str) -> range:
        """Return the lines, from 1, where what is stated under a name can fail. Those of its proof
        for a theorem; all after it for a definition, which others rely on."""
        code = self.code
        start = re.search(rf"^(?P<kind>Theorem|Definition) {name}\b", code, re.MULTILINE)
        if start is None:
            raise KeyError(f"{self.name}.v states no {name}")
        end = re.compile(r"\bQed\.").search(code, start.end())
        last = end.end() if end and start["kind"] == "Theorem" else len(code)
        proof = code.index("Proof.", start.end())
        return range(code.count("\n", 0, proof) + 1, code.count("\n", 0, last) + 2)


def without_comments(text: str) -> str:
    """Return Coq source with each comment, nested ones too, replaced by its line ends."""
    kept, depth, at = [], 0, 0
    while at < len(text):
        two = text[at : at + 2]
        if two == "(*" or (two == "*)" and depth):
            depth, at = depth + (1 if two == "(*" else -1), at + 2
            continue
        if not depth or text[at] == "\n":
            kept.append(text[at])
        at += 1
    return "".join(kept)


def sources() -> list[Source]:
    """Return the Coq files of this folder, each after those that it needs."""
    found = {f.stem: Source(f.stem, f.read_text(encoding="utf-8")) for f in FOLDER.glob("*.v")}
    graph = {name: sorted(found[name].needs) for name in sorted(found)}
    return [found[name] for name in graphlib.TopologicalSorter(graph).static_order()]


@dataclass(frozen=True)
class Planted:
    """A false statement: a true one with `true` in it replaced by `false`, and why that is false.
    The proof is left: that Coq stops in it says that the statement matters to it."""

    file: str
    theorem: str
    true: str
    false: str
    why: str

    @property
    def key(self) -> str:
        return f"{self.file}_{self.theorem}"

    def applied(self, text: str) -> str:
        """Return the text of the file with the statement changed."""
        start = re.search(rf"^(?:Theorem|Definition) {self.theorem}\b", text, re.MULTILINE)
        if start is None:
            raise ValueError(f"{self.key}: no such theorem or definition")
        at = start.end()
        end = text.index("Proof." if start[0].startswith("Theorem") else ".\n", at)
        statement = text[at:end]
        if self.true not in statement:
            raise ValueError(f"{self.key}: {self.true!r} is not in the statement")
        return text[:at] + statement.replace(self.true, self.false) + text[end:]


def planted() -> list[Planted]:
    return [Planted(**case) for case in json.loads((FOLDER / "planted.json").read_text("utf-8"))]


# Test vectors of the checker's arithmetic: a test compares what `check_proof.bounds` makes of the
# inputs in `vectors.json`; here they become a Coq file that evaluates the definitions of Checker.v.

Case = dict[str, Any]


def vectors() -> list[Case]:
    """Return the cases of `vectors.json`: `given`, and `found` by exact/proof/check_proof.py."""
    return json.loads((FOLDER / "vectors.json").read_text(encoding="utf-8"))


def coq_text(cases: Iterable[Case] | None = None) -> str:
    """Return a Coq file that compiles exactly if `Checker.v` gives what the cases say."""
    lines = ["From Coq Require Import ZArith QArith List."]
    lines.append(f"From {LIBRARY} Require Import CheckerSums Checker.")
    lines += ["Import ListNotations.", "Open Scope Z_scope."]
    for number, case in enumerate(vectors() if cases is None else cases):
        for name, statement in _statements(case["given"], case["found"]):
            lines.append(f"Example case_{number}_{name} : {statement}.")
            lines.append("Proof. vm_compute. reflexivity. Qed.")
    return "\n".join(lines)


def _statements(given: Case, found: Case) -> Iterator[tuple[str, str]]:
    """Yield a name and an equation for each quantity of one case."""
    rows = [*zip(given["scores"], given["weight"], given["positive"], strict=True)]
    sides = [[f"({s}, {r})" for s, r, positive in rows if positive == k] for k in (True, False)]
    pos, neg = (f"[{'; '.join(side)}]" for side in sides)
    q, lam = given["q"], _fraction(given["lam"])
    u, v = (f"[{'; '.join(map(str, found[name]))}]" for name in ("u", "v"))
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


def _fraction(text: str) -> str:
    x = Fraction(text)
    return f"({x.numerator} # {x.denominator})"


def compile_file(folder: Path, name: str, text: str) -> subprocess.CompletedProcess[str]:
    """Write `folder/name.v` and run `coqc` on it, with all in the folder known as `Formal`."""
    (folder / f"{name}.v").write_text(text, encoding="utf-8")
    command = ["coqc", "-q", "-w", "none", "-R", ".", LIBRARY, f"{name}.v"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def compile_all(found: list[Source], folder: Path, say: Say) -> None:
    """Compile every file in its order; raise `Refused` at the first that fails."""
    for source in found:
        if source.unproved:
            raise Refused(f"{source.name}.v leaves something unproved: {source.unproved}")
        started = time.perf_counter()
        run = compile_file(folder, source.name, source.text)
        if run.returncode:
            raise Refused(f"{source.name}.v does not compile:\n{run.stdout}{run.stderr}")
        say(f"{source.name}.v  {time.perf_counter() - started:.1f} s")


def axioms_of(names: list[str], folder: Path) -> dict[str, list[str]]:
    """Return the axioms and named premises of each theorem, written `File.name`."""
    files = sorted({name.split(".")[0] for name in names})
    lines = [f"From {LIBRARY} Require {' '.join(files)}."]
    for name in names:
        lines += [f'Goal True. idtac "=== {name}". Abort.', f"Check @{LIBRARY}.{name}."]
        lines += ['Goal True. idtac "---". Abort.', f"Print Assumptions {LIBRARY}.{name}."]
    run = compile_file(folder, "Assumptions", "\n".join(lines))
    if run.returncode:
        raise Refused(f"the axioms cannot be listed:\n{run.stdout}{run.stderr}")
    return parsed_axioms(run.stdout)


def parsed_axioms(printed: str) -> dict[str, list[str]]:
    """Read a statement and the answer to `Print Assumptions` after each line `=== File.name`."""
    found = {}
    for part in re.split(r"^=== ", printed, flags=re.MULTILINE)[1:]:
        title, _, answer = part.partition("---\n")
        name, _, statement = title.partition("\n")
        if answer.strip() == "Closed under the global context":
            axioms = []
        elif answer.startswith("Axioms:"):
            axioms = [a for a in re.findall(r"^([\w.']+)\s*(?::|$)", answer, re.M) if a != "Axioms"]
        else:
            raise Refused(f"{name}: an answer that is not understood:\n{answer}")
        found[name.strip()] = axioms + [p for p in PREMISES if re.search(rf"\b{p}\b", statement)]
    return found


def check_axioms(found: dict[str, list[str]], say: Say) -> None:
    """Print the axioms of each theorem; raise `Refused` where one is not of the reals."""
    for name, axioms in found.items():
        say(f"{name}: {', '.join(a.split('.')[-1] for a in axioms) or 'no axioms'}")
        foreign = [axiom for axiom in axioms if axiom not in {*ALLOWED, *PREMISES}]
        if foreign:
            raise Refused(f"{name} rests on what is not an axiom of the reals: {foreign}")


def check_planted(case: Planted, source: Source, folder: Path) -> str:
    """Return where Coq stops at a false statement; raise `Refused` where it does not. The proof
    that fits the true statement is tried on the false one: Coq has to stop inside it."""
    changed = Source(f"Planted_{case.key}", case.applied(source.text))
    run = compile_file(folder, changed.name, changed.text)
    if run.returncode == 0:
        raise Refused(f"{case.theorem}: Coq accepts a false statement, {case.false!r}")
    at = re.search(r"line (\d+), characters", run.stderr)
    lines = changed.lines_after(case.theorem)
    if at is None or int(at[1]) not in lines or "Syntax error" in run.stderr:
        raise Refused(f"{case.theorem}: stopped elsewhere than in its proof:\n{run.stderr}")
    return f"{case.file}.{case.theorem} with {case.false!r}: refused, line {at[1]}"


def run_all(folder: Path, say: Say) -> int:
    """Check everything in an empty folder and return the number of theorems."""
    found = sources()
    say("# compiled")
    compile_all(found, folder, say)
    say("# axioms, and theorems of probability that a statement assumes by name")
    names = [f"{source.name}.{theorem}" for source in found for theorem in source.theorems]
    check_axioms(axioms_of(names, folder), say)
    say("# test vectors, as exact/proof/check_proof.py evaluates them")
    run = compile_file(folder, "Vectors", coq_text())
    if run.returncode:
        raise Refused(f"the two readings of the formula differ:\n{run.stderr}")
    say("all equal")
    say("# statements that are false")
    by_name = {source.name: source for source in found}
    with ThreadPoolExecutor(2) as pool:
        for line in pool.map(lambda c: check_planted(c, by_name[c.file], folder), planted()):
            say(line)
    return len(names)


def main() -> int:
    if shutil.which("coqc") is None:
        print("not run: coqc is not installed (the system's package `coq`, 8.16 or later)")
        return NOT_RUN
    version = subprocess.run(["coqc", "--version"], capture_output=True, text=True).stdout
    print(version.split("\n")[0])
    started = time.perf_counter()
    with TemporaryDirectory() as folder:
        try:
            number = run_all(Path(folder), print)
        except Refused as problem:
            print("REFUSED:", problem)
            return REFUSED
    print(f"{number} theorems hold, in {time.perf_counter() - started:.0f} s ({FOLDER.name})")
    return 0
