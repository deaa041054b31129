"""Compile the proofs, print the axioms that each theorem uses, and try statements that are false.

    python -m aucert.validation.formal

needs `coqc` (8.16 or later, the system's package) and nothing else; everything is written to a
temporary folder. Exit status 0: all of it holds; 1: refused, and why; 3: not run, no `coqc` here.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from .sources import FOLDER, LIBRARY, Planted, Source, planted, sources
from .vectors import coq_text

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


def compile_file(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    """Run `coqc` on `folder/name.v`, with everything in the folder known as `Formal`."""
    command = ["coqc", "-q", "-w", "none", "-R", ".", LIBRARY, f"{name}.v"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def compile_all(found: list[Source], folder: Path, say: Say) -> None:
    """Compile every file in its order; raise `Refused` at the first that fails."""
    for source in found:
        if source.unproved:
            raise Refused(f"{source.name}.v leaves something unproved: {source.unproved}")
        (folder / f"{source.name}.v").write_text(source.text, encoding="utf-8")
        started = time.perf_counter()
        run = compile_file(folder, source.name)
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
    (folder / "Assumptions.v").write_text("\n".join(lines), encoding="utf-8")
    run = compile_file(folder, "Assumptions")
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
    """Return where Coq stops at a false statement; raise `Refused` where it does not.

    The proof that fits the true statement is tried on the false one: Coq has to stop inside it.
    """
    changed = Source(f"Planted_{case.key}", case.applied(source.text))
    (folder / f"{changed.name}.v").write_text(changed.text, encoding="utf-8")
    run = compile_file(folder, changed.name)
    if run.returncode == 0:
        raise Refused(f"{case.theorem}: Coq accepts a false statement, {case.false!r}")
    at = re.search(r"line (\d+), characters", run.stderr)
    lines = changed.lines_after(case.theorem)
    if at is None or int(at[1]) not in lines or "Syntax error" in run.stderr:
        raise Refused(f"{case.theorem}: stopped elsewhere than in its proof:\n{run.stderr}")
    return f"{case.file}.{case.theorem} with {case.false!r}: refused, line {at[1]}"


def run_all(folder: Path, say: Say, jobs: int = 2) -> int:
    """Check everything in an empty folder and return the number of theorems."""
    found = sources()
    say("# compiled")
    compile_all(found, folder, say)
    say("# axioms, and theorems of probability that a statement assumes by name")
    names = [f"{source.name}.{theorem}" for source in found for theorem in source.theorems]
    check_axioms(axioms_of(names, folder), say)
    say("# test vectors, as exact/proof/check_proof.py evaluates them")
    (folder / "Vectors.v").write_text(coq_text(), encoding="utf-8")
    run = compile_file(folder, "Vectors")
    if run.returncode:
        raise Refused(f"the two readings of the formula differ:\n{run.stderr}")
    say("all equal")
    say("# statements that are false")
    by_name = {source.name: source for source in found}
    with ThreadPoolExecutor(jobs) as pool:
        cases = planted()
        for line in pool.map(lambda c: check_planted(c, by_name[c.file], folder), cases):
            say(line)
    return len(names)


def main() -> int:
    """Check everything, print it, and return the exit status."""
    if shutil.which("coqc") is None:
        print("not run: coqc is not installed (the system's package `coq`, 8.16 or later)")
        return NOT_RUN
    print(
        subprocess.run(["coqc", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    )
    started = time.perf_counter()
    with TemporaryDirectory() as folder:
        try:
            number = run_all(Path(folder), print)
        except Refused as problem:
            print("REFUSED:", problem)
            return REFUSED
    print(f"{number} theorems hold, in {time.perf_counter() - started:.0f} s ({FOLDER.name})")
    return 0
