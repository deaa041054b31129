"""Compile the proofs, print the axioms that each theorem uses, and try statements that are false.
`python -m aucert.validation.formal` needs `coqc` (8.16 or later) alone and writes to a temporary
folder. Exit status 0: all of it holds; 1: refused, and why; 3: not run, no `coqc` here."""

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
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parent
LIBRARY = "Formal"
REFUSED, NOT_RUN = 1, 3

# The axioms of Coq's library of real numbers.
ALLOWED = {
    "ClassicalDedekindReals.sig_forall_dec",  # a decidable sequence is true or has a gap
    "ClassicalDedekindReals.sig_not_dec",  # not P is decided
    "FunctionalExtensionality.functional_extensionality_dep",  # equal values, equal functions
    "Classical_Prop.classic",  # P or not P
}

# Theorems of probability that others assume; they stand in the statements, by name.
PREMISES = ("McDiarmid", "contraction_principle")

# Commands that leave something unproved, or that switch a check of Coq off.
FORBIDDEN = """Admitted admit give_up Axiom Axioms Parameter Parameters Conjecture Conjectures Abort
    Unset bypass_check Declare""".split()

STATED = re.compile(r"^\s*(?:Theorem|Corollary)\s+(\w+)", re.MULTILINE)
NEEDED = re.compile(rf"From {LIBRARY} Require (?:Import|Export)\s+([^.]*)\.")
COMMENT = re.compile(r"\(\*(?:(?!\(\*|\*\)).)*\*\)", re.DOTALL)  # one that holds no other

Say = Callable[[str], object]
Case = dict[str, Any]


class Refused(Exception):
    """A file that does not compile, a forbidden word, a foreign axiom, a false statement proved."""


@dataclass(frozen=True)
class Source:
    name: str
    text: str

    @property
    def code(self) -> str:
        """The text with each comment replaced by its line ends."""
        text, count = self.text, 1
        while count:  # nested ones from inside to outside
            text, count = COMMENT.subn(lambda found: "\n" * found[0].count("\n"), text)
        return text

    @property
    def needs(self) -> list[str]:
        """The files of this folder that it imports."""
        return [name for line in NEEDED.findall(self.code) for name in line.split()]

    @property
    def theorems(self) -> list[str]:
        """Names of what it states: theorems and corollaries; lemmas are steps on the way."""
        return STATED.findall(self.code)

    @property
    def unproved(self) -> list[str]:
        words = set(re.findall(r"\w+", self.code))
        return [word for word in FORBIDDEN if word in words]


def sources() -> list[Source]:
    """Return the Coq files of this folder, each after those that it needs."""
    found = {f.stem: Source(f.stem, f.read_text("utf-8")) for f in sorted(FOLDER.glob("*.v"))}
    graph = {name: sorted(source.needs) for name, source in found.items()}
    return [found[name] for name in graphlib.TopologicalSorter(graph).static_order()]


class Planted(NamedTuple):
    """A false statement: a true one with `true` in it replaced by `false`, and why that is false.
    The proof is left: that Coq stops in it says that the statement matters to it."""

    file: str
    theorem: str
    true: str
    false: str
    why: str


def planted() -> list[Planted]:
    return [Planted(**case) for case in json.loads((FOLDER / "planted.json").read_text("utf-8"))]


def vectors() -> list[Case]:
    """Return the cases of `vectors.json`: `given`, and `found` by exact/proof/check_proof.py."""
    return json.loads((FOLDER / "vectors.json").read_text("utf-8"))


def coq_text(cases: list[Case]) -> str:
    """Return a Coq file that compiles exactly if `Checker.v` gives what the cases say."""
    lines = ["From Coq Require Import ZArith QArith List."]
    lines.append(f"From {LIBRARY} Require Import CheckerSums Checker.")
    lines += ["Import ListNotations.", "Open Scope Z_scope."]
    for case in cases:
        for equation in _equations(case["given"], case["found"]):
            lines.append(f"Goal {equation}. Proof. vm_compute. reflexivity. Qed.")
    return "\n".join(lines)


def _equations(given: Case, found: Case) -> Iterator[str]:
    """Yield an equation for each quantity of one case: u, v, missing, upper and lower."""

    def ratio(text: str) -> str:
        x = Fraction(text)
        return f"({x.numerator} # {x.denominator})"

    def listed(values: Iterable[object]) -> str:
        return f"[{'; '.join(map(str, values))}]"

    rows = [*zip(given["scores"], given["weight"], given["positive"], strict=True)]
    pos, neg = (listed(f"({s}, {r})" for s, r, up in rows if up == side) for side in (True, False))
    u, v = listed(found["u"]), listed(found["v"])
    w, pull = (listed(map(ratio, given[name])) for name in ("w", "pull"))
    slip, lam, scale = (ratio(given[name]) for name in ("slip", "lam", "scale"))
    if "bins" in given:
        kind = f"{given['q']} {given['bins']} {given['half']} {pos} {neg}"
        yield f"weights_u {kind} = {u}"
        yield f"weights_v {kind} = {v}"
        cap, flow = f"(cap_of {given['half']})", f"(mass {pos} {u})"
    else:
        cap = str(given["cap"])
        flow = f"(marginals_flow {pos} {neg} {u} {v} {cap})"
    yield f"missing {pos} {neg} {u} {v} {flow} = {found['missing']}"
    upper = f"upper {given['q']} {pos} {neg} {slip} {lam} {w}"
    yield f"Qeq_bool ({upper}) {ratio(found['upper'])} = true"
    lower = f"lower {cap} {flow} {pos} {neg} {scale} {lam} {pull}"
    yield f"Qeq_bool ({lower}) {ratio(found['lower'])} = true"


def compile_file(folder: Path, name: str, text: str) -> subprocess.CompletedProcess[str]:
    """Write `folder/name.v` and run `coqc` on it, with all in the folder known as `Formal`."""
    (folder / f"{name}.v").write_text(text, encoding="utf-8")
    command = ["coqc", "-q", "-w", "none", "-R", ".", LIBRARY, f"{name}.v"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def compiled(folder: Path, name: str, text: str, problem: str) -> str:
    """Compile a file that must compile; return what Coq prints, or raise `Refused`."""
    run = compile_file(folder, name, text)
    if run.returncode:
        raise Refused(f"{problem}:\n{run.stdout}{run.stderr}")
    return run.stdout


def compile_all(found: list[Source], folder: Path, say: Say) -> None:
    """Compile every file in its order; raise `Refused` at the first that fails."""
    for source in found:
        if source.unproved:
            raise Refused(f"{source.name}.v leaves something unproved: {source.unproved}")
        started = time.perf_counter()
        compiled(folder, source.name, source.text, f"{source.name}.v does not compile")
        say(f"{source.name}.v  {time.perf_counter() - started:.1f} s")


def axioms_of(names: list[str], folder: Path) -> dict[str, list[str]]:
    """Return the axioms and named premises of each theorem, written `File.name`."""
    files = sorted({name.split(".")[0] for name in names})
    lines = [f"From {LIBRARY} Require {' '.join(files)}."]
    for name in names:
        lines += [f'Goal True. idtac "=== {name}". Abort.', f"Check @{LIBRARY}.{name}."]
        lines += ['Goal True. idtac "---". Abort.', f"Print Assumptions {LIBRARY}.{name}."]
    text = "\n".join(lines)
    return parsed_axioms(compiled(folder, "Assumptions", text, "the axioms cannot be listed"))


def parsed_axioms(printed: str) -> dict[str, list[str]]:
    """Read a statement and the answer to `Print Assumptions` after each line `=== File.name`."""
    found = {}
    for part in re.split(r"^=== ", printed, flags=re.MULTILINE)[1:]:
        title, _, answer = part.partition("---\n")
        name, _, statement = title.partition("\n")
        if answer.strip() == "Closed under the global context":
            axioms = []
        elif answer.startswith("Axioms:\n"):
            axioms = re.findall(r"^([\w.']+)\s*(?::|$)", answer.partition("\n")[2], re.MULTILINE)
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
    """Return where Coq stops at a false statement; raise `Refused` where it does not. It has to
    stop in the proof that fits the true theorem, or in what relies on the true definition."""
    code = source.code
    start = re.search(rf"^(Theorem|Definition) {case.theorem}\b", code, re.MULTILINE)
    if start is None:
        raise Refused(f"{case.file}.v states no {case.theorem}")
    theorem, begin = start[1] == "Theorem", start.end()
    end = code.index("Proof." if theorem else ".\n", begin)
    if case.true not in code[begin:end]:
        raise Refused(f"{case.theorem}: {case.true!r} is not in the statement")
    changed = code[:begin] + code[begin:end].replace(case.true, case.false) + code[end:]
    run = compile_file(folder, f"Planted_{case.file}_{case.theorem}", changed)
    if run.returncode == 0:
        raise Refused(f"{case.theorem}: Coq accepts a false statement, {case.false!r}")
    proof = changed.index("Proof.", begin)
    last = changed.index("Qed.", proof) if theorem else len(changed)
    at = re.search(r"line (\d+), characters", run.stderr)
    first_line, last_line = (changed.count("\n", 0, place) + 1 for place in (proof, last))
    if at is None or not first_line <= int(at[1]) <= last_line or "Syntax error" in run.stderr:
        raise Refused(f"{case.theorem}: stopped elsewhere than in its proof:\n{run.stderr}")
    return f"{case.file}.{case.theorem} with {case.false!r}: refused, line {at[1]}"


def run_all(folder: Path, say: Say) -> int:
    """Check everything in an empty folder and return the number of theorems."""
    found = {source.name: source for source in sources()}
    say("# compiled")
    compile_all(list(found.values()), folder, say)
    say("# axioms, and theorems of probability that a statement assumes by name")
    names = [f"{source.name}.{theorem}" for source in found.values() for theorem in source.theorems]
    check_axioms(axioms_of(names, folder), say)
    say("# test vectors, as exact/proof/check_proof.py evaluates them")
    compiled(folder, "Vectors", coq_text(vectors()), "the two readings of the formula differ")
    say("all equal")
    say("# statements that are false")
    with ThreadPoolExecutor(2) as pool:
        for line in pool.map(lambda case: check_planted(case, found[case.file], folder), planted()):
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
