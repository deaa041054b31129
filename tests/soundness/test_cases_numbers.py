"""Every number is true by itself; inputs that once made a false bound are right, or refused."""

import json
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import naive
from aucert import exact
from aucert.approx import NBAUC, against_true_kernel
from aucert.exact import ROCSVM, Certificate, InputError, Rows, Status, certify, load_model, solve
from aucert.exact.estimators.saving import _digest
from aucert.exact.losses.registry import SQUARED_HINGE
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.problem.problem import pair_problem
from aucert.exact.problem.risk import Marginals, Minorant
from aucert.exact.spaces.groups import GroupedRows
from cutting import cut_groups
from fuzzing import true_gram
from loops import refuses
from ordered_naive import naive_ordered


def _rows(seed: int, n: int = 30) -> tuple[np.ndarray, np.ndarray]:
    rng, y = np.random.default_rng(seed), np.arange(n) % 2
    X = rng.normal(size=(n, 3))
    X[:, 0] += y
    return X, y


def test_printed_numbers_stay_bounds_at_any_number_of_digits() -> None:
    X, y = _rows(0)
    held = solve(X, y, 1e-2).certificate
    for digits in (1, 3, 6, 12, 17, 25):
        most, least = (part.split(" ")[-1] for part in f"{held:{digits}}".split(", ")[:2])
        assert Decimal(most) >= Decimal(held.primal) and Decimal(least) <= Decimal(held.dual)
    assert str(held) == f"{held:6}"


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_certified_means_the_relative_gap(loss: str) -> None:
    rng, y = np.random.default_rng(0), np.arange(200) % 2
    X = rng.normal(size=(200, 2)) + 8 * y[:, None]
    solution = solve(X, y, 1e-6, loss=loss, tol=1e-2)
    held = solution.certificate
    assert held.primal < 1e-6 and held.relative_gap is not None
    assert solution.status == Status.CERTIFIED and held.relative_gap <= 1e-2
    audit = certify(X, y, 1e-6, w=3 * solution.w, loss=loss, tol=1e-2)
    assert audit.status != "certified" and (audit.relative_gap or 0) > 0.8


def test_separable_rows_with_a_large_C_are_solved_to_the_hard_margin() -> None:
    rng, y = np.random.default_rng(1), np.arange(60) % 2
    X = np.c_[2.0 * y - 1, rng.normal(size=(60, 3))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for C in (1e3, 1e15):
            model = ROCSVM(lam=exact.lam_from_C(C, 900)).fit(X, y)
            assert model.status_ == Status.CERTIFIED
            assert (model.certificate_.relative_gap or 0) <= 1e-9
            assert model.coef_[0] == pytest.approx([0.5, 0, 0, 0], abs=1e-4)


def test_an_optimum_of_zero_stalls_with_its_gap() -> None:
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    solution = solve(X, y, 1e-50, loss="squared_hinge")
    assert solution.status == Status.STALLED and solution.certificate.relative_gap == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["logistic", "smooth_hinge"])
def test_the_excess_of_a_smooth_loss_in_bins_is_in_the_rounding(loss: str) -> None:
    rng, n = np.random.default_rng(0), 2200
    y = np.arange(n) % 2 == 1
    for far in (0.0, 1e6):
        x = rng.normal(size=n) + 5 * y
        x[:2], x[2:4] = -far, far
        audit = certify(x[:, None], y.astype(int), 1e-9, w=[1.0], loss=loss, refine=False)
        t = x[y].astype(np.longdouble)[:, None] - x[~y][None, :]
        z = np.maximum(0, 1 - t)
        short = np.minimum(z, 1)
        value = short * short / 2 + z - short
        if loss == "logistic":
            value = np.maximum(0, -t) + np.log1p(np.exp(-np.abs(t)))
        true = float(value.mean()) + 0.5e-9
        assert audit.primal is not None
        assert audit.primal - audit.rounding <= true <= audit.primal


def test_the_excess_of_the_hinge_over_many_rows_is_in_the_rounding() -> None:
    rng, n = np.random.default_rng(0), 300_002
    y = np.arange(n) % 2
    x = rng.normal(size=n) + y
    kept = certify(x[:, None], y, 1e-3, w=[1.0], refine=False)
    up, low = np.sort(x[y == 1]), np.sort(x[y == 0])
    # Sums over pairs with s_j > s_i - 1, by running sums of the sorted scores.
    after = np.concatenate([np.cumsum(low[::-1].astype(np.longdouble))[::-1], [0]])
    at = np.searchsorted(low, up - 1, side="right")
    count = (low.size - at).astype(np.longdouble)
    true = float((count * (1 - up) + after[at]).sum() / (up.size * low.size)) + 0.5e-3
    assert kept.primal is not None
    assert kept.primal - kept.rounding <= true <= kept.primal


N = 12
RNG = np.random.default_rng(5)
GRADE = np.arange(N) % 2
X = RNG.normal(size=(N, 2)) + GRADE[:, None]
QUERY = np.arange(N) // 6


def test_a_hinge_below_the_last_digit_of_its_margin_counts() -> None:
    """A margin of 1 - 2^-60 was read as one, and F was above its primal."""
    x, w, lam = 1 + 2.0**-30, 1 - 2.0**-30, 2.0**-20
    found = certify(np.array([[x], [0.0]]), [1, 0], w=[w], lam=lam)
    F = Fraction(lam) / 2 * Fraction(w) ** 2 + 1 - Fraction(x) * Fraction(w)
    assert found.primal is not None and F <= Fraction(found.primal) <= F * (1 + Fraction(1, 10**9))


def test_weights_of_rows_in_no_pair_do_not_set_the_unit() -> None:
    """The lonely row of 2^52 + 1 had the others rounded; w = 0 was certified, and 1 is optimal."""
    k, lam = 2.0**22, 2e-7
    weight = np.array([k + 0.99, 1e6 * k, k - 0.99, 1e6 * k, 2.0**52 + 1])
    rows = np.array([[1.0], [0.0], [0.0], [1.0], [0.0]])
    found = solve(rows, [1, 0, 1, 0, 0], lam, qid=[1, 1, 2, 2, 3], sample_weight=weight, tol=1e-9)
    first, second = (Fraction(weight[i]) * Fraction(weight[i + 1]) for i in (0, 2))

    def value(w: float) -> Fraction:
        z = Fraction(w)
        loss = first * max(Fraction(0), 1 - z) + second * max(Fraction(0), 1 + z)
        return Fraction(lam) / 2 * z * z + loss / (first + second)

    assert found.w[0] == pytest.approx(1.0, abs=1e-6)
    assert Fraction(found.certificate.dual) <= value(1.0)
    assert Fraction(found.certificate.primal) >= value(float(found.w[0]))


def test_weights_that_are_not_held_are_refused_with_the_factor_that_makes_them_so() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        decimals = rng.integers(1, 100, N) / 10.0
        weight = [decimals, rng.uniform(0.1, 3, N), 10.0 ** rng.uniform(-3, 3, N)][seed % 3]
        asked: Any = [
            {"qid": QUERY},
            {"worst_of": QUERY},
            {"y": None, "time": np.arange(N), "event": GRADE},
        ][seed % 2 + seed // 19]
        asked = {"y": GRADE, **asked}
        with pytest.raises(InputError, match="multiply them by") as said:
            solve(X, lam=0.1, sample_weight=weight, **asked)
        factor = float(str(said.value).split("multiply them by ")[1].split()[0])
        assert seed % 3 or factor == 10
        whole = np.rint(weight * factor)
        found = solve(X, lam=0.1, sample_weight=whole, tol=1e-2, max_time=0.1, **asked)
        assert np.isfinite(found.certificate.gap)


def test_weights_that_are_held_are_exact() -> None:
    """Multiples of any power of two, apart for upper and lower rows, some in no pair."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 15))
        group, key = rng.integers(0, 4, n), rng.integers(0, 3, n)
        unit = 2.0 ** rng.integers(-300, 300, (2, 1))
        upper, lower = rng.integers(0, 2 ** rng.integers(1, 52), (2, n)) * unit
        true = naive_ordered(group, key, upper, lower)
        if not true.i:
            continue
        sides = np.append(upper, 1.1e90), np.append(lower, 0.3)  # of a row alone in its group
        stated = OrderedPairs(np.append(group, 9), np.append(key, 9), *sides)
        i, j, c = (np.array(part) for part in stated.listed() or ())
        shares = dict(zip(zip(i.tolist(), j.tolist(), strict=True), c.tolist(), strict=True))
        assert len(shares) == len(true.i)
        for pair, share in zip(zip(true.i, true.j, strict=True), true.weight, strict=True):
            assert shares[pair] == pytest.approx(float(share), rel=1e-14)


def test_unos_weights_are_the_ones_that_it_shows() -> None:
    """They are rounded where they are made: `upper` is what pairs weigh, exactly."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        time, event = rng.exponential(size=30), rng.random(30) < 0.6
        pairs = exact.uno_pairs(time, event, float(np.median(time)))
        held = np.empty(30)
        held[pairs.arrangement.order] = pairs.a
        sides = (held.tolist(), np.asarray(pairs.upper).tolist())
        one, other = ([Fraction(x) for x in side if x] for side in sides)
        assert [x / one[0] for x in one] == [x / other[0] for x in other]
    late = np.arange(2e5)
    refuses("tau", exact.uno_pairs, late, (late == 0) | (late == late.size - 2))


def test_labels_and_groups_of_partitions_are_of_one_type(tmp_path: Path) -> None:
    """As float64, 2^60 and 2^60 + 1 were one label."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    from aucert.validation.files.parquet_folder import read_parquet_folder
    from aucert.validation.files.tables import Selection

    big = 2**60
    for k, kind in enumerate(("i8", "u8")):
        y = np.where(GRADE, big + k, big).astype(kind)
        pq.write_table(pa.table({"a": X[:, 0], "y": y}), tmp_path / f"p{k}.parquet")
    refuses(r"p1\.parquet.*uint64.*int64", read_parquet_folder, tmp_path, Selection("y"))
    groups = (QUERY + big, (QUERY + big + 8).astype("u8"))
    parts = [part for group in groups for part in cut_groups(X, group, GRADE, None, [])]
    refuses(r"int64 in partition 0.*uint64 in partition 1", GroupedRows, parts)
    table = pa.table({"a": X[:, 0], "y": np.where(GRADE, big, 0)})
    pq.write_table(table, tmp_path / "p0.parquet")
    twice = pa.Table.from_arrays([table["a"], table["a"], table["y"]], names=["a", "a", "y"])
    pq.write_table(twice, tmp_path / "p1.parquet")
    refuses(r"'a'.*p1\.parquet", read_parquet_folder, tmp_path, Selection("y"))


def test_marginals_that_overflow_with_their_rows_prove_nothing_and_nothing_false() -> None:
    """Solvers offer such ones for tiny lam."""
    far = Minorant(np.zeros(0), 0.0, evidence=Marginals(np.full(6, 1e90), np.full(6, 1e91)))
    for size in (1.0, 1e90):
        problem = exact.linear_problem(size * X, GRADE, 1e-90)
        with np.errstate(over="ignore", invalid="ignore"):
            assert Certificate.of(problem, np.zeros(2), far).dual == 0


LIE: dict[str, Any] = dict.fromkeys(("primal", "dual", "gap", "relative_gap", "radius"), 0.0)
LIE |= {"rounding": 0.0, "as_saved": False, "statement": "Proved on the training rows."}


def test_nothing_but_a_certificate_stands_for_one_in_a_model_file(tmp_path: Path) -> None:
    """A file's certificate says that it is the file's; an estimator with such names did not."""
    path = tmp_path / "model.npz"
    exact.save_model(ROCSVM(lam=1e-2).fit(X, GRADE), path)
    with np.load(path) as read:
        honest = read["header"].tobytes()
        arrays = {name: read[name] for name in read.files if name != "header"}
    assert load_model(path).certificate_.as_saved
    model = {"model": "ROCSVM", "with": {}, "found": LIE}
    renamed = {**model, "found": {f"{name}_": value for name, value in LIE.items()}}
    for forged in (model, renamed, {"dict": LIE}, "proved", 0.0):
        for place in ("certificate_", "solution_"):
            header = json.loads(honest)
            header.pop("sha256")
            found = header["model"]["found"]
            if place == "certificate_":
                found[place] = forged
            else:
                found[place]["of"]["certificate"] = forged
            header["sha256"] = _digest(header, [arrays[f"a{k}"] for k in range(len(arrays))])
            text = np.frombuffer(json.dumps(header).encode(), np.uint8)
            np.savez(path, header=text, **arrays)
            refuses("does not fit", load_model, path)


@pytest.mark.filterwarnings("ignore:The weights zero are optimal")
def test_partial_auc_of_dependent_columns_and_a_tiny_lam_has_an_answer() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        one = rng.normal(size=(N, 1))
        rows = np.hstack([one, one, one, one**0]) if seed % 2 else rng.normal(size=(N, 20))
        loss = ("logistic", "exponential", "squared_hinge", "smooth_hinge")[seed % 4]
        lam = (1e-20, 1e-60, 1e-91)[seed % 3]
        found = solve(rows, GRADE, lam, loss=loss, fpr_max=0.3, tpr_min=0.5, max_time=0.2)
        assert np.isfinite(found.certificate.gap)


@pytest.mark.parametrize("of", [range(8), pytest.param(range(8, 500), marks=pytest.mark.slow)])
def test_bounds_of_nystrom_functions_hold_for_the_kernels_formula(of: range) -> None:
    """theta = projection w, against k(X, Z) to 2^-160: rounding of kernel values is paid for.

    Rows that nearly repeat and eigenvalues near rounding make theta large. The lower bound is
    judged by the same function, and by another one.
    """
    for seed in of:
        rng = np.random.default_rng(seed)
        n, d, kind = int(rng.integers(4, 11)), int(rng.integers(1, 4)), KERNELS[seed % 2]
        rows, y = rng.normal(size=(n, d)), np.arange(n) % 2
        if seed % 3:
            rows[n // 2 :] = rows[: n - n // 2] + 1e-7 * rng.normal(size=(n - n // 2, d))
        gamma, lam = float(10 ** rng.uniform(-3, 1)), float(10 ** rng.uniform(-16, -1))
        rcond = (1e-12, 1e-12, 1e-15, 1e-17)[seed % 4]
        landmarks: Any = {"n_landmarks": int(rng.integers(2, n + 1)), "landmarks": "uniform"}
        asked: Any = {"kernel": kind, "gamma": gamma, "lam": lam, "rcond": rcond, "tol": 1e-9}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = NBAUC(**asked, **landmarks, random_state=0, max_iter=60).fit(rows, y)
        features, w = model.nystrom_.map_, model.coef_[0]
        transformed = Rows(features.transform(rows))
        span = pair_problem(transformed, y == 1, exact.AllPairs(), SQUARED_HINGE, exact.Ridge(lam))
        meant = against_true_kernel(span, features, rows)
        other = w * rng.uniform(0.5, 1.5, w.size)
        stated = Minorant.from_scores(meant, meant.space.scores(w))
        held = [model.certify_kernel(rows, y), Certificate.of(meant, other, stated)]
        K = true_gram(np.vstack([rows, model.nystrom_.landmarks_]), kind, gamma)
        wide = [row[n:] for row in K]
        true = [objective(wide, features.projection, v, y, lam) for v in (w, other)]
        for value, proof in zip(true, held, strict=True):
            rounding = Fraction(proof.rounding)
            assert value <= Fraction(proof.primal) + rounding, seed
            assert min(true) >= Fraction(proof.dual) - rounding, seed


KERNELS = ("rbf", "laplacian")


def objective(K: Any, projection: np.ndarray, w: np.ndarray, y: np.ndarray, lam: float) -> Fraction:
    """Return F of sum_k theta_k k(., z_k), theta the projection times `w`."""
    theta = naive.products(naive.exact(projection), naive.exact(w))
    scores = naive.products(K, theta)  # of the rows, then of the landmarks z_k
    norm2 = sum((t * s for t, s in zip(theta, scores[y.size :], strict=True)), Fraction(0))
    pairs = naive.weighted_pairs((y == 1).tolist(), exact.AllPairs())
    return naive.sums(scores, pairs, "squared_hinge").value + Fraction(lam) / 2 * norm2
