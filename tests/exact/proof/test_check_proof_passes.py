"""The checker reads one X, and proves the problem that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact import solve
from aucert.exact.errors import InputError
from aucert.exact.proof import check_proof
from aucert.exact.proof.write import write_proof
from loops import each
from proofs import changed, honest_proofs, scalars

RUN = check_proof.RUN


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, np.ndarray]]:
    return honest_proofs(tmp_path_factory.mktemp("proof"))


class Changing:
    """Rows of which the reading number `after`, from 0, and all later ones are other ones."""

    ndim = 2

    def __init__(self, X: np.ndarray, other: np.ndarray, after: int):
        self.X, self.other, self.after, self.count = X, other, after, 0
        self.shape = X.shape

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: slice) -> np.ndarray:
        self.count += 1
        return (self.X if self.count <= self.after else self.other)[rows]


def swapped(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The same rows, a positive one exchanged with a negative one."""
    i, j = np.flatnonzero(y)[0], np.flatnonzero(~y)[-1]
    return changed(X, [i, j], X[[j, i]])


@each(
    ("kind", "other", "passes"),
    [("marginals", False, 2), ("weights", False, 2), ("weights", True, 3)],
)
def test_rows_that_change_between_any_two_passes_are_refused(
    honest: dict, kind: str, other: bool, passes: int
) -> None:
    data, proof = honest["data"], dict(honest[kind]) | scalars(primal=9.0, dual=0.0, gap=9.0)
    if other:
        proof["w_dual"] = 0.9 * proof["w"]
    steps = -(-len(data["X"]) // RUN)
    still = Changing(data["X"], data["X"], 0)
    rest = data["y"], data["weight"]
    assert check_proof.check(proof, still, *rest).startswith("verified")
    assert still.count == passes * steps
    for after in range(1, passes * steps):
        rows = Changing(data["X"], swapped(data["X"], data["y"]), after)
        with pytest.raises(ValueError, match="X changed while it was read"):
            check_proof.check(proof, rows, *rest)


def test_a_file_whose_rows_are_swapped_after_the_first_pass_is_refused(
    honest: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    data = honest["data"]
    np.savez(tmp_path / "proof.npz", **honest["weights"])
    for name in ("X", "y", "weight"):
        np.save(tmp_path / f"{name}.npy", data[name])
    names = [str(tmp_path / name) for name in ("proof.npz", "X.npy", "y.npy", "weight.npy")]
    assert check_proof.main(names) == 0
    first_pull = check_proof.pull

    def swap(*arguments: Any) -> Any:
        disk = np.load(tmp_path / "X.npy", mmap_mode="r+")
        disk[:] = swapped(data["X"], data["y"])
        disk.flush()
        return first_pull(*arguments)

    monkeypatch.setattr(check_proof, "pull", swap)
    capsys.readouterr()
    assert check_proof.main(names) == 1
    assert capsys.readouterr().out == "REFUSED: X changed while it was read\n"


def test_no_proof_is_written_of_rows_that_change(honest: dict, tmp_path: Path) -> None:
    X, y = honest["data"]["X"], honest["data"]["y"]
    solution = solve(X, y, 1e-2)
    other = swapped(X, y)
    for after in (1, 2):  # the mean, the scores and the pull are a reading each
        with pytest.raises(InputError, match=r"X changed while it was read|proves a gap"):
            write_proof(tmp_path / "p.npz", Changing(X, other, after), y, 1e-2, solution)
    assert not (tmp_path / "p.npz").exists()


@pytest.fixture
def command(honest: dict, tmp_path: Path, capsys: pytest.CaptureFixture):
    """A function that saves a proof, with changes, and its data, and runs the checker on them."""

    def run(*options: str, proof: dict | None = None, data: dict | None = None) -> tuple[int, str]:
        np.savez(tmp_path / "proof.npz", **(honest["marginals"] | (proof or {})))
        np.savez(tmp_path / "data.npz", **(honest["data"] | (data or {})))
        files = [str(tmp_path / "proof.npz"), str(tmp_path / "data.npz")]
        status = check_proof.main([*files, *options])
        return status, capsys.readouterr().out

    return run


def test_the_penalty_and_the_label_can_be_pinned(command) -> None:
    plain = command()
    assert plain[0] == 0
    assert command("--lam", "0.02") == command("--positive", "True") == plain
    assert command("--lam", "2e-2", "--positive", "True") == plain
    assert command("--lam", "0.021") == (1, "REFUSED: the proof is for lam = 0.02\n")
    assert command("--lam", "nan") == (1, "REFUSED: the proof is for lam = 0.02\n")
    assert command("--positive", "False") == (1, "REFUSED: it has positive label True\n")
    status, text = command("--lam", "0.02", "--positive", "1")
    assert status == 1 and text.startswith("REFUSED: ")


@each(
    "options", [("--lam",), ("--lam", "much"), ("--lam", "--positive", "True"), ("--penalty", "1")]
)
def test_options_that_make_no_sense_have_status_2(command, options: tuple[str, ...]) -> None:
    status, text = command(*options)
    assert status == 2 and text.startswith("not readable: ") and text.count("\n") == 1


Y = np.arange(90) % 3 == 0


LABELS: dict[str, tuple[Any, np.ndarray]] = {
    "a record": (np.array((True, 1), dtype=[("a", bool), ("b", int)]), Y),
    "a record of one": (np.array((True,), dtype=[("a", bool)]), Y),
    "raw bytes": (np.array(b"\x01", dtype="V1"), Y),
    "a list": (np.array([True]), Y),
    "a column for each row": (Y.copy(), Y),
    "complex": (np.array(1 + 0j), Y),
    "a time": (np.array(1, dtype="m8[s]"), Y),
    "not in y": (np.array(7), Y.astype(int)),
    "text for a number": (np.array("1"), Y.astype(int)),
    "a number for text": (np.array(1), Y.astype(int).astype(str)),
    "not a number": (np.array(np.nan), np.where(Y, np.nan, 0.0)),
    "a whole number that y does not hold": (np.array(2**53 + 1), np.where(Y, 2.0**53, 0.0)),
}


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@each("name", LABELS)
def test_the_positive_label_is_one_plain_label(honest: dict, command, name: str) -> None:
    label, y = LABELS[name]
    status, text = command(proof={"positive": label}, data={"y": y})
    assert status == 1 and text.startswith("REFUSED: ") and text.count("\n") == 1


def test_labels_that_a_float_would_merge_stay_apart(honest: dict, command) -> None:
    y = np.where(honest["data"]["y"], 2**53 + 1, 2**53)
    assert command(proof={"positive": np.array(2**53 + 1)}, data={"y": y})[0] == 0
    assert command(proof={"positive": np.array(2**53)}, data={"y": y})[0] == 1
    assert command(proof={"positive": np.array(2.0**53)}, data={"y": y})[0] == 1
