"""python check_partitions.py proof.npz [part.npz ...] [--all] [--lam L] [--positive LABEL]
Do the sums prove the claims, and are they those of these partitions (--all: of every one)?
Exit 0 verified, 1 REFUSED (or of another lam or label), 2 not readable. See docs/proof-files.md.
"""

import sys
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np

RUN = 1024
WIDE = 2.0**62
PINS = {"--lam", "--positive"}


def need(condition: object, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)


def read(proof, name, shape=(), kind="f8") -> Any:
    need(name in proof, f"{name} is missing")
    x = np.asarray(proof[name])
    fits = kind in (x.dtype, x.dtype.kind) and x.ndim == len(shape)
    fits = fits and all(n in (m, -1) for n, m in zip(shape, x.shape, strict=True))
    need(fits, f"{name} must have type {kind} and shape {shape}")
    need(kind == "U" or (np.abs(x) < 1e150).all(), f"{name} is not finite, or too large")
    return x if shape else x.item()


def scores(columns, offset, w, q):  # in units 2^-q, the same bits everywhere; and their size
    s, size = np.zeros(columns.shape[1]), np.zeros(columns.shape[1])
    for x, o, weight in zip(columns, offset, w, strict=True):
        term = (x - o) * weight
        s, size = s + term, size + np.abs(term)
    far = float(size.max(initial=0.0))
    need(np.ldexp(far, q) < WIDE, "a score is too large for the file's units")
    return np.rint(np.ldexp(s, q)).astype(np.int64), far


def cells(S, positive, r, shift):  # side, bin, count and sum of theta of each cell with rows
    need(int(r.sum()) << shift < 2**62, "the rows are too many for the file's units")
    bins, side = S >> shift, positive.astype(np.int64)
    order = np.lexsort((bins, side))
    bins, side, r, S = bins[order], side[order], r[order], S[order]
    first = np.flatnonzero(np.append(True, (np.diff(bins) != 0) | (np.diff(side) != 0)))
    if not len(S):
        return np.zeros((4, 0), np.int64)
    theta = np.add.reduceat(r * (S - (bins << shift)), first)
    return np.stack([side[first], bins[first], np.add.reduceat(r, first), theta])


def merged(parts):  # the cells of several parts: for each side bins, counts and thetas, exact
    out = []
    for side in (0, 1):
        held = np.concatenate([p[1:, p[0] == side] for p in parts], axis=1)
        bins, at = np.unique(held[0], return_inverse=True)
        sums = np.zeros((2, len(bins)), dtype=object)
        for k in (0, 1):
            np.add.at(sums[k], at, held[k + 1].astype(object))
        out.append((bins, sums[0], sums[1]))
    return out


def after(numbers):  # sums of all from each on, and zero
    return np.append(np.cumsum(numbers[::-1])[::-1], 0)


def hinge(minus, plus, K, shift):  # at least the summed hinge of all pairs, in units 2^-shift / K
    (b, n, t), (a, m, s) = minus, plus
    at = np.searchsorted(b, a - K, side="right")  # the first with b - a + K >= 1
    count, first = after(n)[at], after(n * (b.astype(object) << shift) + t)[at]
    total = (m * (first + ((K - a.astype(object)) << shift) * count) - s * count).sum()
    same, i, j = np.intersect1d(a - K, b, assume_unique=True, return_indices=True)
    del same
    unsure = (t[j] * ((m[i] << shift) - s[i])).sum()  # theta_j (1 - theta_i) >= theta_j - theta_i
    return total + Fraction(int(unsure), 1 << shift)


def ramps(bins, counts, at, cap):  # sums of counts * clip(bins - at, 0, cap), Python integers
    below, moment = (np.append(0, np.cumsum(x)) for x in (counts, counts * bins.astype(object)))
    i, k = (np.searchsorted(bins, x, side="right") for x in (at, at + cap))
    inside = moment[k] - moment[i] - at.astype(object) * (below[k] - below[i])
    return inside + cap * (below[-1] - below[k])


def table(minus, plus, K, half):  # bins and marginals of each side, in units 1 / (cap pairs)
    (b, n, _), (a, m, _) = minus, plus
    cap, low = 2 * half or 1, a - K - half
    return (b, -ramps(-low[::-1], m[::-1], -b, cap)), (a, ramps(b, n, low, cap))


def pulls(columns, bins, positive, r, tables, places):  # of each column: sum of r c x, exact
    c = np.zeros(len(r), dtype=object)
    for side in (0, 1):
        own = positive == bool(side)
        c[own] = tables[side][1][np.searchsorted(tables[side][0], bins[own])] * r[own]
    out = []
    for x, p in zip(columns, places, strict=True):
        scaled = np.ldexp(x, p)
        need((np.abs(scaled) < WIDE).all(), "X is too large for the file's units")
        out.append(int((np.rint(scaled).astype(np.int64).astype(object) * c).sum()))
    return out


def header(proof):  # what all parts share
    d = read(proof, "w", (-1,)).size
    w, dual, offset = (read(proof, name, (d,)) for name in ("w", "w_dual", "offset"))
    places = read(proof, "places", (d,), "i8")
    bins, half, q = (read(proof, name, (), "i8") for name in ("bins", "half", "units"))
    need(0 <= q < 1100 and bins in [2**k for k in range(min(q, 60) + 1)], "bins is out of range")
    need(0 <= half < 2**40 and (np.abs(places) < 1100).all(), "half or places is out of range")
    return w, dual, offset, places, bins, half, q, q + 1 - bins.bit_length()


def parts_of(proof, name, count):  # the cells of each partition
    ends, flat = read(proof, f"{name}_ends", (count,), "i8"), read(proof, name, (4, -1), "i8")
    steps = np.diff(ends, prepend=0)
    need((steps >= 0).all() and int(steps.sum()) == flat.shape[1], f"{name} does not fit its ends")
    return np.split(flat, ends[:-1], axis=1)


def whole(proof):  # upper >= F(w) >= optimum >= lower if the sums are those of the partitions
    w, dual, _, places, K, half, q, shift = header(proof)
    hashes, lam = read(proof, "sha256", (-1,), "U"), Fraction(read(proof, "lam"))
    count, scale = len(hashes), Fraction(read(proof, "scale"))
    need(lam > 0 and 0 <= scale <= 1, "lam must be > 0, scale in [0, 1]")
    upper_cells = parts_of(proof, "cells", count)
    for part in upper_cells:
        side, _, mass, theta = part
        need(np.isin(side, (0, 1)).all() and (mass >= 0).all(), "a count is negative")
        need((theta >= 0).all() and (theta.astype(object) <= mass.astype(object) << shift).all(),
             "a sum of theta is out of range")  # fmt: skip
    minus, plus = merged(upper_cells)
    pairs = int(minus[1].sum()) * int(plus[1].sum())
    need(pairs > 0, "both classes need rows")
    slip = 2.04 * 2.0**-53 * (len(w) + 4) * float(read(proof, "size", (count,)).max()) + 2.0**-900
    mean = (
        hinge(minus, plus, K, shift) / ((K << shift) * pairs) + Fraction(slip) + Fraction(1, 2**q)
    )
    upper = mean + lam / 2 * sum(Fraction(x) ** 2 for x in w)
    if (dual != w).any():
        minus, plus = merged(parts_of(proof, "dual_cells", count))
        need(int(minus[1].sum()) * int(plus[1].sum()) == pairs, "the dual's rows are not the rows")
    tables, sums = table(minus, plus, K, half), read(proof, "pulls", (count, len(w)), "U")
    flow = int((plus[1] * tables[1][1]).sum())
    part, norm2 = scale / ((2 * half or 1) * pairs), Fraction(0)
    for k, p in enumerate(places.tolist()):  # each x is off by half a unit at most
        norm2 += ((abs(sum(int(g) for g in sums[:, k])) + flow) * Fraction(2) ** -p) ** 2
    return upper, max(part * flow - part**2 * norm2 / (2 * lam), Fraction(0)), pairs


def hashed(X, positive, r) -> str:
    digest = sha256()
    for at in range(0, len(X), RUN):
        digest.update(np.ascontiguousarray(X[at : at + RUN], "<f8").tobytes())
    digest.update(positive.tobytes() + r.astype("<i8").tobytes())
    return digest.hexdigest()


def check_part(proof, X, positive, r):  # the numbers of the partitions with these rows
    w, dual, offset, places, bins, half, q, shift = header(proof)
    need(X.shape[1] == len(w), f"X has {X.shape[1]} columns, the proof is of {len(w)}")
    hashes = read(proof, "sha256", (-1,), "U").tolist()
    digest = hashed(X, positive, r)
    need(digest in hashes, "these rows, labels and weights are not a partition of the proof")
    found, columns = [k for k, own in enumerate(hashes) if own == digest], X.T
    S, size = scores(columns, offset, w, q)
    told, mine = parts_of(proof, "cells", len(hashes)), cells(S, positive, r, shift)
    same = all(np.array_equal(mine, told[k]) for k in found)
    fits = same and (size <= read(proof, "size", (len(hashes),))[found]).all()
    if (dual != w).any():
        S, _ = scores(columns, offset, dual, q)
        told, mine = parts_of(proof, "dual_cells", len(hashes)), cells(S, positive, r, shift)
        fits = fits and all(np.array_equal(mine, told[k]) for k in found)
    need(fits, f"the counts of partition {found[0]} are others")
    minus, plus = merged(told)
    tables = table(minus, plus, bins, half)
    mine = [str(g) for g in pulls(columns, S >> shift, positive, r, tables, places)]
    claimed = read(proof, "pulls", (len(hashes), len(w)), "U")[found]
    need((claimed == mine).all(), f"the pull of partition {found[0]} is another")
    return found


def check_whole(proof):  # the verdict, or a ValueError that says why there is none
    upper, lower, pairs = whole(proof)
    need(read(proof, "format", (), "i8") == 1, "the format is another one")
    primal, low, claim = (Fraction(read(proof, name)) for name in ("primal", "dual", "gap"))
    gap = np.nextafter(float(upper - lower), np.inf)
    fits = primal >= upper and low <= lower and claim >= upper - lower
    need(fits, f"only {gap} follows from the sums")
    return f"gap <= {gap} over {pairs} pairs, positive {proof['positive']}, lam = {proof['lam']}"


def rows_of(data, label):  # X as float64 that it equals, the mask of the label, whole weights
    raw, y = np.array(data["X"]), np.array(data["y"])
    X = raw.astype("<f8", casting="same_kind")
    fits = np.abs(raw).max(initial=0) < 2.0**53 if raw.dtype.kind in "iu" else (X == raw).all()
    need(X.ndim == 2 and fits and (np.abs(X) < 1e150).all(), "X is not of finite float64 values")
    r = np.array(data["weight"]) if "weight" in data else np.ones(len(y), np.int64)
    whole = r.dtype.kind in "biuf" and ((r >= 0) & (r < 2**26) & (r == np.floor(r))).all()
    need(y.shape == r.shape == X.shape[:1] and whole, "X, y and weight do not fit")
    plain, own = {label.dtype.kind, y.dtype.kind} <= {*"biufU"}, label.astype(y.dtype)
    need(plain and own.item() == label.item(), "positive is not a label of y")
    return X, y == own, r.astype(np.int64)


def check_parts(proof, files):  # each file answers for one partition, one without rows for all such
    hashes = read(proof, "sha256", (-1,), "U").tolist()
    none = np.zeros((0, proof["w"].size)), np.zeros(0, bool), np.zeros(0, np.int64)
    seen = set(check_part(proof, *none) if hashed(*none) in hashes else ())
    for name in files:
        X, positive, r = rows_of(dict(np.load(name)), proof["positive"])
        left = [k for k in check_part(proof, X, positive, r) if k not in seen]
        need(left or not len(X), f"{name}: the proof has these rows, but not once more")
        seen.update(left[:1])
    return [k for k in range(len(hashes)) if k not in seen]


def main(argv: list[str], status: int = 2) -> int:
    def opened(name):  # numpy would advise to trust a file that it cannot read
        try:
            with np.load(name) as file:
                return dict(file)
        except Exception as problem:
            why = getattr(problem, "strerror", 0) or "damaged, or no npz file of numbers or words"
            raise ValueError(f"{name} cannot be read: {why}") from None

    if {"-h", "--help"} & {*argv}:
        return print((__doc__ or "").rstrip()) or 0
    try:
        pins = {k: float(x) if k == "--lam" else x for k, x in pairwise([*argv, ""]) if k in PINS}
        names = [x for k, x in pairwise(["", *argv]) if not {k, x} & PINS and x != "--all"]
        need(names, "give proof.npz, and perhaps partitions as npz files")
        for name in names:  # what cannot be read is said before the work
            with open(name, "rb") as file:
                need(file.read(2) == b"PK", f"{name} is not an npz file")
        proof, status = opened(names[0]), 1
        lam, label = read(proof, "lam"), str(proof["positive"])
        need(pins.get("--lam", lam) == lam, f"the proof is for lam = {lam}")
        need(pins.get("--positive", label) == label, f"the proof is for the label {label}")
        verdict = check_whole(proof)
        parts = (name for name in names[1:] if opened(name) is not None)
        left, count = check_parts(proof, parts), len(proof["sha256"])
        need(not left or "--all" not in argv, f"there is no file for the partitions {left[:5]}")
        rest = f", if the other {len(left)} are verified, too" if left else ""
        _, status = print(f"verified {count - len(left)} of {count} partitions: {verdict}{rest}"), 0
    except Exception as problem:
        print("REFUSED:" if status == 1 else "not readable:", problem)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
