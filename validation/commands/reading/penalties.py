"""The penalty that `--l1`, `--groups` and `--sign` ask for, and what a result says of it."""

from __future__ import annotations

from typing import Any

from ....exact.errors import InputError
from ....exact.problem.penalties.group_lasso import GroupLasso
from ....exact.problem.penalties.sign import Sign

ALL = "nonnegative"


def penalty_options(options: dict[str, Any], columns: list[str] | None, d: int) -> dict[str, Any]:
    """Return l1, groups and sign as a `Request` takes them; texts name columns, or number them.

    Parameters
    ----------
    options : dict
        "A,B;C,D" for groups: those named together; every other column is a group of its own.
        "nonnegative" or "A,B" for sign. Lists, as model files hold them, are kept.
    columns : list of str, optional
        Names of the features, where they have some.
    d : int
        Number of features.

    Raises
    ------
    InputError
        For a column that is not there, or one in two groups.
    """
    groups, sign = options.get("groups"), options.get("sign")
    if isinstance(groups, str):
        held = list(range(d))
        taken: set[int] = set()
        for part in groups.split(";"):
            members = _places("--groups", part, columns, d)
            if taken & {*members}:
                raise InputError(f"--groups {groups}: a column stands in two groups")
            taken |= {*members}
            for k in members:
                held[k] = members[0]
        groups = held
    if isinstance(sign, str) and sign != ALL:
        sign = _places("--sign", sign, columns, d)
    return {"l1": options.get("l1", 0.0), "groups": groups, "sign": sign}


def _places(option: str, text: str, columns: list[str] | None, d: int) -> list[int]:
    """Return the places of the columns "A,B"."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise InputError(f"{option} needs the names of columns: A,B")
    held = columns if columns is not None else [str(k) for k in range(d)]
    absent = [name for name in names if name not in held]
    if absent:
        what = "no such column" if columns is not None else f"columns are numbered 0 to {d - 1}"
        raise InputError(f"{option} {text}: {what}: '{absent[0]}'")
    if len(set(names)) < len(names):
        raise InputError(f"{option} {text}: a column is named twice")
    return [held.index(name) for name in names]


def penalty_keys(penalty: Any) -> dict[str, Any]:
    """Return l2 and l1, the number of groups and the columns of a sign where there are some."""
    inner = penalty.penalty if isinstance(penalty, Sign) else penalty
    found: dict[str, Any] = {"l2": penalty.l2, "l1": getattr(inner, "l1", 0.0)}
    if isinstance(inner, GroupLasso):
        found["groups"] = int(inner.groups.max()) + 1
    if isinstance(penalty, Sign):
        found["sign"] = ALL if penalty.columns is None else penalty.columns.tolist()
    return found


def penalty_in_words(penalty: Any, columns: list[str] | None = None) -> str:
    """Return the penalty as a formula, and which weights are >= 0, by the names of the columns."""
    keys = penalty_keys(penalty)
    parts = [f"{keys['l2']:g}/2 |f|^2"] if keys["l2"] > 0 else []
    if keys["l1"]:
        grouped = "sum of sqrt(size) |w_group|" if "groups" in keys else "|w|_1"
        parts.append(f"{keys['l1']:g} {grouped}")
    sign, where = keys.get("sign"), ""
    if sign is not None and sign != ALL:
        named = [str(k) if columns is None else f"'{columns[k]}'" for k in sign]
        where = f" with w_k >= 0 for {', '.join(named) or 'no column'}"
    elif sign is not None:
        where = " with w >= 0"
    return " + ".join(parts) + where
