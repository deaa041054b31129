"""Check a proof file against its data: one file to copy, numpy and the standard library alone.

    python check_proof.py proof.npz data.npz    or    proof.npz X.npy y.npy [weight.npy]
        [--lam L] [--positive LABEL]    refuse a proof for another penalty or label

Verified is F(w) - optimum <= gap, F(w) = lam/2 |w|^2 + mean over positive-negative pairs of max(0,
1 - w'(x_i - x_j)); docs/proof-files.md says how. Exit 0 verified, 1 REFUSED, 2 not readable.
"""

import sys
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np

REAL = np.longdouble if 1 + np.longdouble(2) ** -63 > 1 else np.float64
UNIT = {np.longdouble: 2.0**-64, np.float64: 2.0**-53}  # relative error of one operation
RUN = 1024  # rows at a time
USAGE = "give proof.npz and data.npz, or proof.npz, X.npy, y.npy and perhaps weight.npy"
PINS = {"--lam", "--positive"}


def need(condition: object, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)


def read(proof, name, shape=(), kind="f8") -> Any:
    need(name in proof, f"{name} is missing")
    x = np.asarray(proof[name])
    fits = kind in (x.dtype, x.dtype.kind) and x.shape == shape
    need(fits, f"{name} must have type {kind} and shape {shape}")
    need(kind == "U" or (np.abs(x) < 1e150).all(), f"{name} is not finite, or too large")
    return x if shape else x.item()


def blocks(X, offset, real, digest):  # slices of rows, and (rows - offset)'; the rows are hashed
    for at in range(0, len(X), RUN):
        raw = np.array(X[at : at + RUN])
        block = raw.astype("<f8", order="C", casting="same_kind")
        need((np.abs(block) < 1e150).all(), "X has a value that is not finite, or too large")
        fits = np.abs(block).max() < 2.0**53 if raw.dtype.kind in "iu" else (block == raw).all()
        need(fits, "X has a value that float64 does not hold")
        digest.update(block)
        yield slice(at, at + RUN), block.T.astype(real) - offset[:, None]


def scores(X, w, offset, real, digest):  # q, scores in multiples of 2^-q, twice their largest error
    s, size = np.empty(len(X), real), 0.0
    for rows, Z in blocks(X, offset, real, digest):
        s[rows], size = w @ Z, max(size, float((np.abs(w) @ np.abs(Z)).max()))
    top = 1.01 * float(np.abs(s).max()) + 1
    need(top < 2.0**59, "the scores are too large")
    q, slip = 60 - int(np.frexp(top)[1]), 2.04 * UNIT[real] * (len(w) + 4) * size + 2.0**-900
    return q, np.rint(np.ldexp(s, q)).astype(np.int64), Fraction(slip) + Fraction(1, 2**q)


def pull(X, c, r, offset, missing, real, digest):  # column by column, at least |sum of r * c * row|
    total, size, far = np.zeros(X.shape[1], real), 0.0, 0.0
    for rows, Z in blocks(X, offset, real, digest):
        weight = c[rows].astype(real) * r[rows].astype(real)
        total, size = total + Z @ weight, size + np.abs(Z) @ np.abs(weight)
        far = np.maximum(far, np.abs(Z).max(axis=1))
    slip = 1.02 * (UNIT[real] * (len(X) // RUN + RUN + 9) * size + float(missing) * far)
    return (np.abs(total) * (1 + 2.0**-51) + slip + 2.0**-900).astype(float) * (1 + 2.0**-51)


def exact_dot(p: np.ndarray, q: np.ndarray) -> int:  # of int64 arrays
    return sum(int(p[i : i + RUN].astype(object) @ q[i : i + RUN]) for i in range(0, len(p), RUN))


def ladder(values, weight):  # the values ascending, and the weight of all before each and at last
    order = np.argsort(values, kind="stable")
    return values[order], np.append(0, np.cumsum(weight[order]))


def ramp(values, weight, at, cap):  # sums of weight * clip(values - at, 0, cap), modulo 2^64
    values, below = ladder(values, weight)
    moment = np.append(0, np.cumsum(np.diff(below) * values))
    i, k = (np.searchsorted(values, x, side="right") for x in (at, at + cap))
    return moment[k] - moment[i] - at * (below[k] - below[i]) + cap * (below[-1] - below[k])


def largest_flow(u, v, a, b, cap):  # Gale-Ryser, row i taken a_i times, in Python integers
    (low, rows), (values, below) = ladder(-u, a), ladder(v, b)
    k = np.searchsorted(values, cap * rows, side="right")
    used = np.append(0, np.cumsum(low.astype(object) * np.diff(rows)))
    full = np.append(0, np.cumsum(values.astype(object) * np.diff(below)))
    return (full[k] + cap * rows.astype(object) * (below[-1] - below[k]) + used).min() - used[-1]


def bounds(proof, X, positive, r, real=REAL):  # upper >= F(w) >= optimum >= lower, and the sha256
    need(X.ndim == 2 and positive.shape == r.shape == X.shape[:1], "X, y and weight do not fit")
    whole = r.dtype.kind in "biuf" and ((r >= 0) & (r < 2**26) & (r == np.floor(r))).all()
    need(whole, "weights must be whole and >= 0")
    r, positive, size = r.astype(np.int64), positive.astype(bool), X.shape[1:]
    sums, lam = (int(r[positive].sum()), int(r[~positive].sum())), Fraction(read(proof, "lam"))
    pairs, most = sums[0] * sums[1], max(sums)
    need(0 < pairs < 2**62 and lam > 0, "both classes need rows, lam must be > 0, pairs < 2^62")
    w, offset, scale = (read(proof, *of) for of in (("w", size), ("offset", size), ("scale",)))
    passes = [sha256()]  # over X, one each
    q, S, slip = scores(X, w, offset, real, passes[0])
    order, c = np.argsort(S), np.empty(len(r), np.int64)
    up, down = order[positive[order]], order[~positive[order]]
    P, N, a, b, one = S[up], S[down], r[up], r[down], 2**q
    u, v = ramp(N, b, P - one, 1), ramp(one - P, a, -N, 1)  # how many partners are active
    hinge = exact_dot(b * v, N) - exact_dot(a * u, P) + one * exact_dot(a, u)
    upper = Fraction(hinge, one * pairs) + slip + lam / 2 * sum(Fraction(x) ** 2 for x in w)
    if read(proof, "kind", (), "U") == "weights":
        bins, half = (read(proof, name, (), "i8") for name in ("bins", "half"))
        other, cap = read(proof, "w_dual", size), 2 * half or 1
        if (other != w).any():
            passes.append(sha256())
            q, S, _ = scores(X, other, offset, real, passes[-1])
        need(bins in [2**k for k in range(q + 1)], "bins must be a power of two, not too large")
        S >>= q + 1 - bins.bit_length()
        P, N = S[up] - bins - half, S[down]
        u, v = ramp(N, b, P, cap), ramp(-P, a, -N, cap)
        flow = exact_dot(a, u)
    else:
        cap, c[positive] = read(proof, "cap", (), "i8"), read(proof, "u", P.shape, "i8")
        c[~positive] = read(proof, "v", N.shape, "i8")
        u, v = c[up], c[down]
        flow = largest_flow(u, v, a, b, cap)
    need(0 <= scale <= 1 and 0 < cap * most < 2**62, "scale, half or cap is out of range")
    need(min(u.min(), v.min()) >= 0, "a marginal is negative")
    c[up], c[down], part = u, -v, Fraction(scale) / (cap * pairs)
    missing = exact_dot(a, u) + exact_dot(b, v) - 2 * flow
    passes.append(sha256())
    g = pull(X, c, r, offset, missing, real, digest := passes[-1])
    need(len({one.digest() for one in passes}) == 1, "X changed while it was read")
    norm2 = sum(Fraction(x) ** 2 for x in g)
    digest.update(positive.tobytes() + r.tobytes())
    return upper, max(part * flow - part**2 * norm2 / (2 * lam), Fraction(0)), digest.hexdigest()


def check(proof, X, positive, r):  # the verdict, or a ValueError that says why there is none
    upper, lower, digest = bounds(proof, X, positive, r)
    ours = read(proof, "format", (), "i8") == 1 and read(proof, "sha256", (), "U") == digest
    need(ours, "the proof is not one for these data")
    primal, dual, claim = (Fraction(read(proof, name)) for name in ("primal", "dual", "gap"))
    gap, part = (np.nextafter(float(x), np.inf) for x in (upper - lower, 1 - lower / upper))
    need(primal >= upper and dual <= lower and claim >= upper - lower, f"only {gap} is verified")
    size = f"{r[positive].sum():.0f} * {r[~positive].sum():.0f} pairs, positive {proof['positive']}"
    return f"verified gap <= {gap} (relative {part}) over {size}, lam = {read(proof, 'lam')}"


def main(argv: list[str], status: int = 2) -> int:
    try:
        pins = {k: float(x) if k == "--lam" else x for k, x in pairwise([*argv, ""]) if k in PINS}
        argv = [x for k, x in pairwise(["", *argv]) if not {k, x} & PINS]
        need(argv[2:] or (argv[1:] and argv[1][-4:] != ".npy"), USAGE)
        proof, *files = (np.load(name, mmap_mode="r") for name in argv)
        data = files[0] if len(files) == 1 else dict(zip(("X", "y", "weight"), files, strict=False))
        X, y, proof = data["X"], np.array(data["y"]), dict(proof)
        r, status = np.array(data["weight"]) if "weight" in data else np.ones(len(y)), 1
        lam, label = read(proof, "lam"), proof["positive"]
        need(pins.get("--lam", lam) == lam, f"the proof is for lam = {lam}")
        need(pins.get("--positive", str(label)) == str(label), f"it has positive label {label}")
        plain, own = {label.dtype.kind, y.dtype.kind} <= {*"biufU"}, label.astype(y.dtype)
        need(plain and own.shape == () and own.item() == label.item(), "positive is no label of y")
        _, status = print(check(proof, X, y == own, r)), 0
    except Exception as problem:
        print("REFUSED:" if status == 1 else "not readable:", problem)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
