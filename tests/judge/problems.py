"""The judge's problems: what each one states, and how it is put to the library.

A statement is plain data: rows, pairs and their weights, loss and penalty, so that `check.py` knows
what is asked without a line of the library. A problem is solved through public names and the
command line alone.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from aucert import exact

ROOT = Path(exact.__file__).resolve().parents[1]
REFERENCE = ROOT / "validation" / "reference" / "problems.json"
CHECKER = ROOT / "exact" / "proof" / "check_proof.py"
NEW = [[0.5, -1.25, 2.0, 0.75], [-3.0, 0.125, 1.0, -1.5], [0.0, 4.0, -2.5, 1.0]]
Stated = dict[str, Any]


class Problem(NamedTuple):
    """A statement, how the library is asked, and the relative gap to reach."""

    name: str
    stated: Stated
    ask: Callable[[Stated, float], dict[str, Any]]
    tol: float = 1e-9


# ---------------------------------------------------------------------------------------- answers


def answer(w: Any, certificate: Any, stated: Stated, c: Any = ()) -> dict[str, Any]:
    """Return what is kept of an answer: numbers alone."""
    w = np.asarray(w, dtype=float)
    claimed = {name: getattr(certificate, name) for name in ("dual", "primal", "radius")} | {"w": w}
    if stated.get("kernel") is None and certificate.radius is not None:
        claimed["scores"] = new_rows(w.size) @ w
    plain = stated["loss"] == "hinge" and not {"pairs", "rates"} & set(stated)
    if plain and np.size(c):
        claimed["c"] = np.asarray(c, dtype=float)
    return claimed


def new_rows(dim: int) -> np.ndarray:
    return np.resize(np.array(NEW), (3, dim))


def given(stated: Stated) -> tuple[np.ndarray, np.ndarray | None, dict[str, Any]]:
    """Return X, y and the arguments of `solve` that a statement makes."""
    names = ("loss", "kernel", "gamma", "structure", "l1", "groups")
    more = {name: stated[name] for name in names if name in stated}
    if "weight" in stated:
        more["sample_weight"] = np.array(stated["weight"])
    if "sign" in stated:
        more["sign"] = np.array(stated["sign"])
    if "rates" in stated:
        more["fpr_max"], more["tpr_min"] = (float(x) for x in stated["rates"])
    y = np.array(stated["y"]) if "y" in stated else None
    return np.array(stated["X"], dtype=float), y, more


def solved(make: Callable[[Stated], dict[str, Any]] = lambda stated: {}) -> Callable:
    """Return how `solve` is asked; `make` adds the arguments that are not plain data."""

    def ask(stated: Stated, tol: float) -> dict[str, Any]:
        X, y, more = given(stated)
        more.update(make(stated))
        X, y = more.pop("X", X), more.pop("y", y)
        solution = exact.solve(X, y, stated["lam"], tol=tol, **more)
        return answer(solution.w, solution.certificate, stated, solution.minorant.c)

    return ask


def reached(dual: float, primal: float, tol: float) -> bool:
    """Return whether an interval is as narrow as a relative gap asks, or tiny as its numbers."""
    return primal - dual <= max(tol * primal, tol / 10 if primal <= 1e-6 else 0.0)


# ------------------------------------------------------------------------------------------- rows


def drawn(seed: int, n: int, n_pos: int, d: int, shift: float = 0.7) -> Stated:
    """Return nearly normal rows of two classes, with three decimals."""
    stream = random.Random(seed)
    y = [1] * n_pos + [0] * (n - n_pos)
    order = sorted((stream.random(), k) for k in range(n))
    y = [y[k] for _, k in order]
    X = []
    for label in y:
        row = [sum(stream.random() for _ in range(12)) - 6 for _ in range(d)]
        X.append([round(x + shift * label * (k % 2 == 0), 3) + 0.0 for k, x in enumerate(row)])
    return {"X": X, "y": y, "lam": 0.01, "loss": "hinge"}


def whole(seed: int, n: int, below: int) -> list[int]:
    """Return whole numbers from 0 to below - 1."""
    stream = random.Random(seed)
    return [int(stream.random() * below) for _ in range(n)]


def pairs_where(n: int, above: Callable[[int, int], Any]) -> list[list[Any]]:
    """Return [i, j, weight] of the pairs whose weight is not zero; fractions as text."""
    found = [(i, j, Fraction(above(i, j))) for i in range(n) for j in range(n) if i != j]
    return [[i, j, str(c) if c.denominator > 1 else int(c)] for i, j, c in found if c]


SMALL, QUERIES, GRADES = drawn(1, 36, 15, 3), whole(2, 36, 4), whole(3, 36, 4)
TIMES, EVENTS = [float(t) / 4 for t in whole(4, 36, 60)], [int(e > 0) for e in whole(5, 36, 3)]
MEMBERS = whole(6, 36, 2)
UNLABELLED = {key: value for key, value in SMALL.items() if key != "y"}


def like(stated: Stated = SMALL, **more: Any) -> Stated:
    return {**stated, **more}


def queried(i: int, j: int) -> bool:
    return QUERIES[i] == QUERIES[j] and GRADES[i] > GRADES[j]


def outlived(i: int, j: int) -> bool:
    later = TIMES[i] < TIMES[j] or (TIMES[i] == TIMES[j] and not EVENTS[j])
    return bool(EVENTS[i]) and later


def kept_apart(i: int, j: int) -> bool:
    return SMALL["y"][i] > SMALL["y"][j] and QUERIES[i] == QUERIES[j]


def equal_share(kept: Callable[[int, int], bool]) -> Callable[[int, int], Any]:
    """Return weights of pairs within queries, the same sum for each query."""
    n = len(QUERIES)
    count = {
        q: sum(kept(i, j) for i in range(n) for j in range(n) if QUERIES[i] == q)
        for q in set(QUERIES)
    }
    return lambda i, j: Fraction(kept(i, j), count[QUERIES[i]]) if kept(i, j) else 0


def censoring(i: int, j: int) -> Any:
    """Return Uno's weight 1 / G(time)^2 of a comparable pair, G of Kaplan and Meier."""
    if not outlived(i, j):
        return 0
    left = Fraction(1)
    for t in sorted({t for t, e in zip(TIMES, EVENTS, strict=True) if not e and t <= TIMES[i]}):
        # At one time events come first: who dies at t is not at risk of being censored there.
        at = [e for s, e in zip(TIMES, EVENTS, strict=True) if s == t]
        risk = sum(s >= t for s in TIMES) - sum(at)
        left *= 1 - Fraction(len(at) - sum(at), risk)
    return 1 / left**2


# -------------------------------------------------------------------------------------- the kinds


def reference() -> Iterator[Problem]:
    """Awkward rows whose optima are proved in `validation/reference/problems.json`."""
    kept = json.loads(REFERENCE.read_text(encoding="utf-8"))
    data = {one["name"]: one for one in kept["data"]}
    wanted = {
        "two-rows:0.1": ["hinge"],
        "overlap:1e-05": ["hinge"],
        "overlap:0.1": ["squared_hinge", "square"],
        "equal-rows": ["hinge"],
        "ties": ["hinge", "squared_hinge"],
        "binary": ["hinge"],
        "separable:1e-05": ["hinge"],
        "wide:0.01": ["hinge", "squared_hinge"],
        "large-values": ["hinge"],
        "offset": ["hinge"],
        "near-copies": ["hinge"],
        "outlier": ["squared_hinge"],
        "weights": ["hinge", "squared_hinge"],
        "zero-weights": ["hinge"],
    }
    for one in kept["problems"]:
        rows = data[one["data"]]
        for loss in wanted.get(one["name"], []):
            stated = {"X": rows["X"], "y": rows["y"], "lam": one["lam"], "loss": loss}
            if rows["sample_weight"] is not None:
                stated["weight"] = rows["sample_weight"]
            yield Problem(f"reference:{one['name']}:{loss}", stated, solved())


def losses() -> Iterator[Problem]:
    for loss in ("hinge", "squared_hinge", "square", "logistic", "smooth_hinge", "exponential"):
        yield Problem(f"loss:{loss}", like(loss=loss), solved())


def pair_sets() -> Iterator[Problem]:
    n, y = len(SMALL["y"]), SMALL["y"]
    chosen = pairs_where(n, lambda i, j: (y[i] > y[j]) * ((7 * i + 3 * j) % 4))

    def listed(stated: Stated) -> dict[str, Any]:
        i, j, c = (np.array(x) for x in zip(*stated["pairs"][0], strict=True))
        return {"pairs": exact.PairList(i, j, c.astype(float))}

    query = {"y": np.array(GRADES), "qid": np.array(QUERIES)}
    lived = {"y": None, "time": np.array(TIMES), "event": np.array(EVENTS)}

    def of(make: Callable[[], Any]) -> Callable[[Stated], dict[str, Any]]:
        return lambda stated: {"y": None, "pairs": make()}

    kinds: dict[str, tuple[Any, Callable[[Stated], dict[str, Any]]]] = {
        "list": (chosen, listed),
        "query": (pairs_where(n, queried), lambda stated: dict(query)),
        "query-gain": (
            pairs_where(n, lambda i, j: queried(i, j) * (GRADES[i] - GRADES[j])),
            of(lambda: exact.query_pairs(QUERIES, GRADES, gain=True)),
        ),
        "query-equal": (
            pairs_where(n, equal_share(queried)),
            of(lambda: exact.query_pairs(QUERIES, GRADES, share="equal")),
        ),
        "ordinal": (
            pairs_where(n, lambda i, j: GRADES[i] > GRADES[j]),
            of(lambda: exact.ordinal_pairs(GRADES)),
        ),
        "survival": (pairs_where(n, outlived), lambda stated: dict(lived)),
        "uno": (pairs_where(n, censoring), of(lambda: exact.uno_pairs(TIMES, EVENTS))),
        "cross-group": (
            pairs_where(n, lambda i, j: y[i] > y[j] and MEMBERS[i] == 1 and MEMBERS[j] == 0),
            of(lambda: exact.cross_group_pairs(y, MEMBERS, 1, 0)),
        ),
        "group-auc": (
            pairs_where(n, equal_share(kept_apart)),
            of(lambda: exact.group_auc_pairs(QUERIES, y)),
        ),
    }
    for kind, (pairs, make) in kinds.items():
        stated = {**(SMALL if kind == "list" else UNLABELLED), "pairs": [pairs]}
        yield Problem(f"pairs:{kind}:hinge", stated, solved(make))
        if kind in ("list", "query", "survival"):
            other = "logistic" if kind == "survival" else "squared_hinge"
            yield Problem(f"pairs:{kind}:{other}", {**stated, "loss": other}, solved(make))


def kernels() -> Iterator[Problem]:
    small = drawn(11, 24, 10, 2)
    rbf = like(small, kernel="rbf", gamma=0.25)
    yield Problem("kernel:rbf:hinge", rbf, solved())
    yield Problem("kernel:rbf:squared_hinge", {**rbf, "loss": "squared_hinge"}, solved())
    yield Problem("kernel:rbf:logistic", {**rbf, "loss": "logistic"}, solved())
    yield Problem("kernel:laplacian:hinge", like(small, kernel="laplacian", gamma=0.5), solved())
    rows = np.rint(8 * np.array(small["X"]))
    gram = (rows @ rows.T + 32 * np.eye(len(rows))) / 64
    table = like(small, X=gram.tolist(), kernel="precomputed")
    yield Problem("kernel:precomputed:hinge", table, solved())
    yield Problem("kernel:precomputed:square", {**table, "loss": "square"}, solved())


def structures() -> Iterator[Problem]:
    for loss in ("hinge", "squared_hinge", "square"):
        yield Problem(f"structure:{loss}", like(loss=loss, structure=2.0), solved())
    machine = like(drawn(12, 20, 8, 2), kernel="rbf", gamma=0.25, structure=1.0)
    yield Problem("structure:rbf:hinge", machine, solved())


def penalties() -> Iterator[Problem]:
    rows = drawn(13, 36, 15, 5)
    groups = [0, 0, 1, 1, 2]
    for name, more in {
        "l1:hinge": {"l1": 0.05},
        "l1:squared_hinge": {"l1": 0.05, "loss": "squared_hinge"},
        "lasso:squared_hinge": {"l1": 0.05, "lam": 0.0, "loss": "squared_hinge"},
        "lasso:hinge": {"l1": 0.05, "lam": 0.0},
        "groups:hinge": {"l1": 0.05, "groups": groups},
        "groups:logistic": {"l1": 0.02, "groups": groups, "loss": "logistic"},
        "sign:hinge": {"sign": [0, 1, 2, 3, 4]},
        "sign-l1:squared_hinge": {"sign": [1, 3], "l1": 0.02, "loss": "squared_hinge"},
    }.items():
        tol = 1e-6 if name in ("lasso:hinge", "sign:hinge") else 1e-9  # 1e-9 takes many seconds
        yield Problem(f"penalty:{name}", like(rows, **more), solved(), tol)


def parts() -> Iterator[Problem]:
    for name, rates in {"fpr": ["0.3", "0"], "tpr": ["1", "0.4"], "both": ["0.5", "0.25"]}.items():
        stated = like(drawn(14, 36, 15, 2, 2.0), rates=rates, lam=0.02)
        yield Problem(f"partial:{name}:hinge", stated, solved(), 1e-6)
        if name == "both":
            other = {**stated, "loss": "squared_hinge"}
            yield Problem(f"partial:{name}:squared_hinge", other, solved(), 1e-6)
    n = len(SMALL["y"])
    groups = [
        pairs_where(n, lambda i, j, g=g: kept_apart(i, j) and QUERIES[i] == g)
        for g in sorted(set(QUERIES))
    ]

    def worst(stated: Stated) -> dict[str, Any]:
        return {"worst_of": np.array(QUERIES)}

    for loss in ("hinge", "squared_hinge"):
        yield Problem(f"worst:{loss}", like(pairs=groups, loss=loss), solved(worst), 1e-6)


def places() -> Iterator[Problem]:
    def mapped(stated: Stated) -> dict[str, Any]:
        X, folder = np.array(stated["X"]), tempfile.mkdtemp(prefix="judge-")
        np.save(Path(folder) / "X.npy", X)
        return {"X": np.load(Path(folder) / "X.npy", mmap_mode="r")}

    def dask(stated: Stated) -> dict[str, Any]:
        import dask.array

        X, y = np.array(stated["X"]), np.array(stated["y"])
        held = {"X": dask.array.from_array(X, chunks=(16, -1))}  # type: ignore[arg-type]
        return held | {"y": dask.array.from_array(y, chunks=16)}  # type: ignore[arg-type]

    def partitions(stated: Stated) -> dict[str, Any]:
        X, y = np.array(stated["X"]), np.array(stated["y"]) == 1
        cuts = [slice(0, 20), slice(20, None)]
        parts: Any = [(X[cut], y[cut]) for cut in cuts]
        return {"X": exact.PartitionedRows(parts), "y": None}

    coarse = np.float32(SMALL["X"]).astype(float).tolist()
    few = like(X=[[x * (abs(x) > 0.8) for x in row] for row in SMALL["X"]])
    # The hinge of so few rows in a map is not proved: they are rounded to bins there.
    yield Problem("place:map", like(loss="squared_hinge"), solved(mapped))
    yield Problem("place:dask", SMALL, solved(dask))
    yield Problem("place:partitions", SMALL, solved(partitions))
    yield Problem("place:float32", like(X=coarse), solved(lambda s: {"X": np.float32(s["X"])}))
    yield Problem("place:sparse", few, solved(lambda s: {"X": scipy.sparse.csr_array(s["X"])}))
    yield Problem("place:csv", SMALL, by_command("rows.csv"))
    yield Problem("place:parquet-folder", SMALL, by_command("rows"))
    streams = {"recipe": [21, 6000, 1800, 4], "lam": 0.01, "loss": "hinge"}
    yield Problem("place:streamed", streams, streamed, 1e-6)
    squared = {**streams, "loss": "squared_hinge"}
    yield Problem("place:streamed:squared_hinge", squared, streamed, 1e-6)


def streamed(stated: Stated, tol: float) -> dict[str, Any]:
    """Solve rows in blocks, too many for a proof in fractions."""
    rng = np.random.default_rng(stated["recipe"][0])
    _, n, n_pos, d = stated["recipe"]
    y = np.arange(n) < n_pos
    X = np.rint(1000 * (rng.standard_normal((n, d)) + 0.7 * y[:, None])) / 1000
    source = exact.StreamedRows(X, block=1000)
    solution = exact.solve(source, y, stated["lam"], loss=stated["loss"], tol=tol)
    return answer(solution.w, solution.certificate, stated)


def exactly() -> Iterator[Problem]:
    def ask(stated: Stated, tol: float) -> dict[str, Any]:
        X, y, more = given(stated)
        solution = exact.solve(X, y, stated["lam"], tol=tol, **more)
        problem = exact.linear_problem(X, y, stated["lam"], stated["loss"], positive=1)
        proved = exact.exact_certificate(problem, solution)
        claimed = answer(solution.w, solution.certificate, stated, solution.minorant.c)
        claimed["dual"] = max(claimed["dual"], proved.dual_float)
        return claimed | {"primal": proved.primal_float, "exact": str(proved.primal)}

    rows = like(drawn(15, 30, 12, 3), X=[[round(8 * x) / 8 for x in r] for r in SMALL["X"][:30]])
    for loss in ("hinge", "squared_hinge", "square"):
        yield Problem(f"exact:{loss}", {**rows, "loss": loss}, ask)


def subsets() -> Iterator[Problem]:
    def ask(stated: Stated, tol: float) -> dict[str, Any]:
        X, y, more = given(stated)
        k, ridge, weight = stated["k"], stated["lam"], more.get("sample_weight")
        found = exact.best_subset(X, y, k, ridge, tol=tol, sample_weight=weight, **MOST[k])
        return {"dual": found.lower, "primal": found.upper, "w": found.w, "radius": None}

    MOST: dict[int, Any] = {2: {"method": "exhaustive"}, 3: {"method": "branch-and-bound"}}
    for k, d in ((2, 8), (3, 10)):
        rows = like(drawn(16 + k, 40, 16, d, 0.5), loss="square", k=k)
        yield Problem(f"best-subset:{k}-of-{d}", rows, ask)
    weight = [1 + x for x in whole(20, 40, 3)]
    yield Problem("best-subset:weights", like(rows, weight=weight), ask)


def paths() -> Iterator[Problem]:
    for name, ratio in (("ridge", 0.0), ("elastic", 0.5)):
        for lam in (0.1, 0.01):

            def ask(stated: Stated, tol: float, at: float = lam, ratio: float = ratio) -> dict:
                X, y, _ = given(stated)
                path = exact.regularization_path(X, y, [0.1, 0.01], l1_ratio=ratio, tol=tol)
                solution = path.points[[0.1, 0.01].index(at)].solution
                c = solution.minorant.c
                return answer(solution.w, solution.certificate, stated, c)

            l1: dict[str, Any] = {"l1": ratio * lam} if ratio else {}
            yield Problem(f"path:{name}:{lam:g}", like(lam=lam * (1 - ratio), **l1), ask)


def models() -> Iterator[Problem]:
    def scored(model: Any, stated: Stated) -> dict[str, Any]:
        claimed = answer(model.coef_.ravel(), model.certificate_, stated)
        score = getattr(model, "decision_function", model.predict)  # survival predicts scores
        scores = score(new_rows(claimed["w"].size))
        return claimed | {"scores": scores - getattr(model, "intercept_", 0.0)}

    def fitted(name: str, **more: Any) -> Callable[[Stated, float], dict[str, Any]]:
        def ask(stated: Stated, tol: float) -> dict[str, Any]:
            X, y, _ = given(stated)
            return scored(getattr(exact, name)(lam=0.01, tol=tol, **more).fit(X, y), stated)

        return ask

    def saved(stated: Stated, tol: float) -> dict[str, Any]:
        X, y, _ = given(stated)
        model = exact.ROCSVM(lam=0.01, tol=tol).fit(X, y)
        with tempfile.TemporaryDirectory() as folder:
            exact.save_model(model, Path(folder) / "model.npz")
            again = exact.load_model(Path(folder) / "model.npz")
        return scored(again, stated)

    def lived(stated: Stated, tol: float) -> dict[str, Any]:
        X = given(stated)[0]
        times = np.array(list(zip(np.array(EVENTS, bool), TIMES, strict=True)), dtype="?,f8")
        return scored(exact.SurvivalSVM(lam=0.01, tol=tol).fit(X, times), stated)

    yield Problem("model:ROCSVM", SMALL, fitted("ROCSVM"))
    yield Problem("model:saved", SMALL, saved)
    yield Problem("model:SAUCSVM", like(structure=1.0), fitted("SAUCSVM", structure=1.0))
    comparable = {**UNLABELLED, "pairs": [pairs_where(len(TIMES), outlived)]}
    yield Problem("model:SurvivalSVM", comparable, lived)


def proofs() -> Iterator[Problem]:
    def ask(stated: Stated, tol: float) -> dict[str, Any]:
        X, y, _ = given(stated)
        more: dict[str, Any] = {}
        if y is None:
            y, more = np.array(GRADES), {"qid": np.array(QUERIES)}
        solution = exact.solve(X, y, stated["lam"], tol=tol, **more)
        with tempfile.TemporaryDirectory() as folder:
            proof, data = Path(folder) / "proof.npz", Path(folder) / "data.npz"
            np.savez(data, X=X, y=y, **more)
            exact.write_proof(proof, X, y, stated["lam"], solution, **more)
            verdict = run([str(CHECKER), str(proof), str(data)])
            with np.load(proof) as held:
                claimed = {name: float(held[name]) for name in ("dual", "primal")}
        assert verdict.startswith("verified"), verdict
        return answer(solution.w, solution.certificate, stated, solution.minorant.c) | claimed

    yield Problem("proof:classes", SMALL, ask)
    yield Problem("proof:query", {**UNLABELLED, "pairs": [pairs_where(36, queried)]}, ask)


def audits() -> Iterator[Problem]:
    def ask(stated: Stated, tol: float) -> dict[str, Any]:
        X, y, more = given(stated)
        w = np.ones(X.shape[1])
        audit = exact.certify(X, y, stated["lam"], w=w, tol=tol, **more)
        best = exact.solve(X, y, stated["lam"], tol=tol, **more).w
        return answer(w, audit, stated) | {"tol": None, "near": best}

    yield Problem("certify:ones", SMALL, ask)
    yield Problem("certify:ones:logistic", like(loss="logistic"), ask)


# ------------------------------------------------------------------------------- the command line


def run(arguments: list[str]) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    return done.stdout


def aucert(*arguments: str) -> dict[str, Any]:
    """Return the JSON document that a command prints; the program runs in this process."""
    from aucert.__main__ import program

    argv, heard, printed = sys.argv, signal.getsignal(signal.SIGINT), io.StringIO()
    try:
        sys.argv = ["aucert", *arguments, "--json"]
        with contextlib.redirect_stdout(printed):
            program()
    except SystemExit as end:
        if end.code not in (None, 0, 1):
            raise RuntimeError(f"aucert {' '.join(arguments)}: exit status {end.code}") from None
    finally:
        sys.argv = argv
        signal.signal(signal.SIGINT, heard)
    return json.loads(printed.getvalue())


def written(stated: Stated, path: Path) -> None:
    """Write the rows of a statement: a table, or a folder of two Parquet files."""
    X, y, _ = given(stated)
    names = [f"x{k}" for k in range(X.shape[1])]
    if path.suffix == ".csv":
        lines = [",".join(map(repr, [*x, int(k)])) for x, k in zip(X.tolist(), y, strict=True)]  # type: ignore[arg-type]
        path.write_text("\n".join([",".join([*names, "y"]), *lines]) + "\n")
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.mkdir()
    for k, rows in enumerate((slice(0, 20), slice(20, None))):
        columns = {name: X[rows, at] for at, name in enumerate(names)} | {"y": y[rows]}  # type: ignore[index]
        pq.write_table(pa.table(columns), path / f"{k}.parquet")


def by_command(name: str) -> Callable[[Stated, float], dict[str, Any]]:
    """Return how `aucert solve` is asked about a file or a folder of this name."""

    def ask(stated: Stated, tol: float) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            data, out = Path(folder) / name, Path(folder) / "out"
            written(stated, data)
            lam = repr(stated["lam"])
            options = ["--target", "y", "--lam", lam, "--tol", repr(tol), "--out", str(out)]
            claimed = aucert("solve", str(data), *options)
            w = [line.split(",")[-1] for line in (out / "weights.csv").read_text().splitlines()]
        certificate = type("Claimed", (), claimed)
        dim = len(stated["X"][0])
        return answer([float(x) for x in w[-dim:]], certificate, stated)

    return ask


def keys_of(document: Any, at: str = "") -> set[str]:
    """Return the paths of all keys of a JSON document; members of a list are alike."""
    if isinstance(document, list):
        return set().union(*(keys_of(x, f"{at}[]") for x in document)) if document else set()
    if not isinstance(document, dict):
        return set()
    found = {f"{at}.{key}".lstrip(".") for key in document}
    return found.union(*(keys_of(value, f"{at}.{key}") for key, value in document.items()))


CLAIMS = ("eq-20-as-printed", "sauc-eq-3-as-printed")


def commands(folder: Path) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Yield each command's name, and what makes its keys and verdicts; in this order."""
    data, out = folder / "rows.csv", folder / "solved"
    asked = (str(data), "--target", "y")

    def claimed(*arguments: str) -> dict[str, Any]:
        document = aucert(*arguments)
        return {"keys": sorted(keys_of(document)), "verdicts": verdicts_of(document)}

    written(SMALL, data)
    yield "command:solve", lambda: claimed("solve", *asked, "--lam", "0.01", "--out", str(out))
    yield (
        "command:path",
        lambda: claimed("path", *asked, "--lam", "0.1", "--lam", "0.01", "--cv", "2"),
    )
    model = str(out / "model.npz")
    yield "command:certify", lambda: claimed("certify", *asked, "--model", model, "--exact")
    yield "command:predict", lambda: claimed("predict", model, str(data))
    listed = ("validate", "--list")
    yield "command:validate-list", lambda: claimed(*listed)
    only = [x for claim in CLAIMS for x in ("--only", claim)]
    report = ("--out", str(folder / "report"))
    yield "command:validate", lambda: claimed("validate", *only, *report)
    whole = str(folder / "whole")
    yield "command:validate-all", lambda: claimed("validate", "--jobs", "2", "--out", whole)


SLOW = ("command:validate-all", "worst:squared_hinge")


def verdicts_of(document: dict[str, Any]) -> dict[str, str]:
    """Return the status of a document, and the verdict of each claim in it."""
    found = {"status": document["status"]} if isinstance(document.get("status"), str) else {}
    for claim in document.get("claims", []):
        found[claim["name"]] = claim.get("verdict") or claim["expected_verdict"]
    return found


def problems() -> list[Problem]:
    """Return all problems; each name stands once."""
    kinds = (reference, losses, pair_sets, kernels, structures, penalties, parts, places)
    more = (exactly, subsets, paths, models, proofs, audits)
    found = [problem for kind in (*kinds, *more) for problem in kind()]
    assert len({problem.name for problem in found}) == len(found)
    return found
