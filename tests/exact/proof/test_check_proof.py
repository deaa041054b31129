"""The checker's parts against exact answers, and its command."""

from __future__ import annotations

import ast
import itertools
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from aucert.exact.proof import check_proof
from loops import each
from proofs import honest_proofs, scalars
from rational import exact_scores, rows_of

FORMATS = [np.float64, np.longdouble]
SOURCE = Path(check_proof.__file__)


def numbers(values: np.ndarray) -> list[int]:
    return [int(x) for x in values]


def test_the_checker_imports_numpy_and_the_standard_library_alone() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level
            names.add((node.module or "").split(".")[0])
    assert names <= {*sys.stdlib_module_names, "numpy"}


def test_an_exact_dot_does_not_overflow() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.integers(-(2**62), 2**62, size=(2, 3000))
    wanted = sum(a * b for a, b in zip(numbers(p), numbers(q), strict=True))
    assert check_proof.exact_dot(p, q) == wanted


@each("size", [3, 2**59])
@each("cap", [1, 5, 2**40])
def test_a_ramp_is_exact_though_its_running_sums_pass_the_range(size: int, cap: int) -> None:
    rng = np.random.default_rng(1)
    values, weight = rng.integers(-size, size, 80), rng.integers(0, 9, 80)
    at = np.append(rng.integers(-size, size, 30), values[:10])
    wanted = [
        sum(
            k * min(max(x - t, 0), cap)
            for x, k in zip(numbers(values), numbers(weight), strict=True)
        )
        for t in numbers(at)
    ]
    assert numbers(check_proof.ramp(values, weight, at, cap)) == wanted


def test_the_largest_flow_is_the_least_cut_over_all_sets_of_rows() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        p, m = rng.integers(1, 6, size=2)
        cap = int(rng.integers(1, 6))
        a, b = rng.integers(0, 4, p), rng.integers(0, 4, m)
        u, v = rng.integers(0, 1 + cap * max(b.sum(), 1), p), rng.integers(0, 12, m)
        cuts = [
            int(a[~chosen] @ u[~chosen]) + int(b @ np.minimum(v, cap * int(a[chosen].sum())))
            for chosen in (np.array(row) for row in itertools.product([False, True], repeat=p))
        ]
        assert check_proof.largest_flow(u, v, a, b, cap) == min(cuts)


def test_the_largest_flow_is_exact_where_int64_is_not() -> None:
    n, cap = 6, 2**59
    u, one = np.full(n, n * cap - 1), np.ones(n, np.int64)
    assert check_proof.largest_flow(u, u, one, one, cap) == n * (n * cap - 1)


@each("real", FORMATS)
@each("run", [7, 1024])
@each("offset", [0.0, 1e9])
def test_scores_are_as_near_as_they_claim(
    real: type, offset: float, run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_proof, "RUN", run)
    rng = np.random.default_rng(3)
    X, w = offset + rng.normal(size=(60, 40)), rng.normal(size=40)
    w[-1] = -w[:-1].sum()  # what is left of the offset cancels
    q, S, slip = check_proof.scores(X, w, np.full(40, offset), real, check_proof.sha256())
    middle = sum(Fraction(offset) * Fraction(x) for x in w.tolist())
    errors = [
        abs(Fraction(int(k), 2**q) - s + middle) for k, s in zip(S, exact_scores(X, w), strict=True)
    ]
    assert 2 * max(errors) <= slip < 1e-11


@each("real", FORMATS)
def test_the_rounding_of_scores_to_whole_numbers_is_counted(real: type) -> None:
    X, w = np.arange(1.0, 200.0)[:, None] / 256, np.array([1 / 3])
    q, S, slip = check_proof.scores(X, w, np.zeros(1), real, check_proof.sha256())
    errors = [Fraction(int(k), 2**q) - s for k, s in zip(S, exact_scores(X, w), strict=True)]
    assert max(errors) - min(errors) <= slip


@each("real", FORMATS)
@each("run", [1, 16, 1024])
def test_a_pull_is_never_below_the_exact_one(
    real: type, run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_proof, "RUN", run)
    rng = np.random.default_rng(4)
    X, r = (
        rng.normal(size=(300, 3)) * 10.0 ** rng.integers(-8, 8, (300, 1)),
        rng.integers(0, 4, 300),
    )
    c = rng.integers(-(2**61), 2**61, 300)
    X[150:], c[150:], r[150:] = X[:150], -c[:150], r[:150]  # all of it cancels
    c[0] += 1
    found = check_proof.pull(X, c, r, np.zeros(3), 0, real, check_proof.sha256())
    rows = rows_of(X)
    for k, bound in enumerate(found):
        exact = sum(int(r[i]) * int(c[i]) * rows[i][k] for i in range(300))
        assert Fraction(float(bound)) >= abs(exact)


@each("run", [1, 16, 1024])
def test_a_pull_is_the_sum_over_all_blocks(run: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_proof, "RUN", run)
    rng = np.random.default_rng(5)
    X, r, c = rng.normal(size=(50, 2)), rng.integers(0, 4, 50), rng.integers(-99, 99, 50)
    offset = np.array([0.5, -2.0])
    exact = np.abs((r * c) @ (X - offset))
    found = check_proof.pull(X, c, r, offset, 0, np.float64, check_proof.sha256())
    np.testing.assert_allclose(found, exact, rtol=1e-10)


def test_what_is_missing_from_the_flow_is_paid_for_in_the_pull() -> None:
    X, c = np.array([[1.0], [-3.0]]), np.array([5, -5])
    rest = np.float64, check_proof.sha256()
    free = check_proof.pull(X, c, np.ones(2, np.int64), np.zeros(1), 0, *rest)
    paid = check_proof.pull(X, c, np.ones(2, np.int64), np.zeros(1), 7, *rest)
    assert paid[0] >= free[0] + 7 * 3


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, np.ndarray]]:
    return honest_proofs(tmp_path_factory.mktemp("proof"))


@pytest.fixture
def folder(tmp_path: Path, honest: dict) -> Path:
    """A folder with the checker alone, an honest proof and its data."""
    shutil.copy(SOURCE, tmp_path / "check_proof.py")
    np.savez(tmp_path / "proof.npz", **honest["marginals"])
    np.savez(tmp_path / "data.npz", **honest["data"])
    for name, array in honest["data"].items():
        np.save(tmp_path / f"{name}.npy", array)
    return tmp_path


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "check_proof.py", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_copied_file_verifies_a_proof_and_says_so_in_one_line(folder: Path) -> None:
    status, text = run(folder, "proof.npz", "data.npz")
    assert (status, text.count("\n")) == (0, 1) and text.startswith("verified gap <= ")
    assert run(folder, "proof.npz", "X.npy", "y.npy", "weight.npy") == (status, text)


def test_the_copied_file_refuses_with_status_1_and_one_line(folder: Path, honest: dict) -> None:
    np.savez(folder / "bad.npz", **(honest["marginals"] | scalars(gap=0.0)))
    status, text = run(folder, "bad.npz", "data.npz")
    assert (status, text.count("\n")) == (1, 1) and text.startswith("REFUSED: ")
    assert run(folder, "proof.npz", "X.npy", "y.npy")[0] == 1  # the weights were left out


def main(*arguments: Path, capsys: pytest.CaptureFixture) -> tuple[int, str]:
    status = check_proof.main([str(name) for name in arguments])
    return status, capsys.readouterr().out


# numpy leaves the file of a broken archive to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_cannot_be_read_has_status_2(folder: Path, capsys: pytest.CaptureFixture) -> None:
    (folder / "text.npz").write_text("not an archive")
    (folder / "cut.npz").write_bytes((folder / "proof.npz").read_bytes()[:-300])
    np.savez(folder / "odd.npz", X=np.ones((2, 2)))
    proof, data = folder / "proof.npz", folder / "data.npz"
    for arguments in (
        (),
        (proof,),
        (proof, folder / "none.npz"),
        (folder / "text.npz", data),
        (folder / "cut.npz", data),
        (proof, folder / "text.npz"),
        (proof, folder / "odd.npz"),
        (proof, folder / "X.npy"),
    ):
        status, text = main(*arguments, capsys=capsys)
        assert status == 2 and text.startswith("not readable: ") and text.count("\n") == 1
        few = len(arguments) < 2 or str(arguments[-1]).endswith(".npy")
        assert (check_proof.USAGE in text) == few


def test_pickled_objects_are_never_loaded(folder: Path, capsys: pytest.CaptureFixture) -> None:
    np.savez(folder / "object.npz", X=np.ones((2, 2)), y=np.array([{}, None], dtype=object))
    status, text = main(folder / "proof.npz", folder / "object.npz", capsys=capsys)
    assert status == 2 and "object.npz cannot be read" in text and "pickle=" not in text


def test_a_list_of_positive_labels_cannot_pick_its_rows(
    folder: Path, honest: dict, capsys: pytest.CaptureFixture
) -> None:
    """One label decides: an array of them, compared row by row, would let the file choose."""
    y = honest["data"]["y"]
    other = y.copy()
    other[1] = ~other[1]
    np.save(folder / "other.npy", other)
    chosen = np.where(y, other, ~other)
    np.testing.assert_array_equal(other == chosen, y)  # the classes that were solved
    np.savez(folder / "bad.npz", **(honest["marginals"] | {"positive": chosen}))
    files = [folder / name for name in ("bad.npz", "X.npy", "other.npy", "weight.npy")]
    assert main(*files, capsys=capsys)[0] == 1
