"""python check_proof.py proof.npz data.npz (or X.npy y.npy [weight.npy]) [--lam L] [--positive P]
Verify F(w) - optimum <= gap, F(w) = lam/2 |w|^2 + mean of max(0, 1 - w'(x_i - x_j)), i above j.
Exit 0 verified, 1 REFUSED (or of another lam or label), 2 not readable. See docs/proof-files.md.
"""

import sys
from collections import namedtuple
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
COLUMNS = {"classes": ["y"], "query": ["y", "qid"], "survival": ["time", "event"]}
COLUMNS["ordered"] = ["key", "group", "upper", "lower", "share"]  # the last four may be left out


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


def scores(X, w, offset, real, digest, spare=0):  # q, scores in units of 2^-q, twice their error
    s, size = np.empty(len(X), real), 0.0
    for rows, Z in blocks(X, offset, real, digest):
        s[rows], size = w @ Z, max(size, float((np.abs(w) @ np.abs(Z)).max()))
    top = 1.01 * float(np.abs(s).max()) + 1
    need(top < 2.0 ** (59 - spare), "the scores are too large")
    q, slip = 60 - spare - int(np.frexp(top)[1]), 2.04 * UNIT[real] * (len(w) + 4) * size
    S, slip = np.rint(np.ldexp(s, q)).astype(np.int64), Fraction(slip + 2.0**-900)
    return q, S, slip + Fraction(1, 2**q)


def pull(X, c, r, offset, missing, real, digest):  # column by column, at least |sum of r * c * row|
    total, size, far = np.zeros(X.shape[1], real), 0.0, 0.0
    for rows, Z in blocks(X, offset, real, digest):
        weight = c[rows].astype(real) * r[rows].astype(real)
        total, size = total + Z @ weight, size + np.abs(Z) @ np.abs(weight)
        far = np.maximum(far, np.abs(Z).max(axis=1))
    slip = 1.02 * (UNIT[real] * (len(X) // RUN + RUN + 9) * size + float(missing) * far)
    return (np.abs(total) * (1 + 2.0**-51) + slip + 2.0**-900).astype(float) * (1 + 2.0**-51)


def exact_dot(p: np.ndarray, q: np.ndarray, f=None) -> Any:  # of int64 arrays, f of fractions
    p = p if f is None else p * f
    return sum(p[i : i + RUN].astype(object) @ q[i : i + RUN] for i in range(0, len(p), RUN))


def ladder(values, weight):  # the values ascending, and the weight of all before each and at last
    order = np.argsort(values, kind="stable")
    return values[order], np.append(0, np.cumsum(weight[order]))


def ramp(values, weight, at, cap, end=None):  # sums of weight * clip(values - at, 0, cap) mod 2^64
    values, below = ladder(values, weight)  # over all values, or those up to `end`
    moment = np.append(0, np.cumsum(np.diff(below) * values))
    i, k = (np.searchsorted(values, x, side="right") for x in (at, at + cap))
    whole = below[-1 if end is None else np.searchsorted(values, end, side="right")]
    return moment[k] - moment[i] - at * (below[k] - below[i]) + cap * (whole - below[k])


def largest_flow(u, v, a, b, cap):  # Gale-Ryser, row i taken a_i times, in Python integers
    (low, rows), (values, below) = ladder(-u, a), ladder(v, b)
    k = np.searchsorted(values, cap * rows, side="right")
    used = np.append(0, np.cumsum(low.astype(object) * np.diff(rows)))
    full = np.append(0, np.cumsum(values.astype(object) * np.diff(below)))
    return (full[k] + cap * rows.astype(object) * (below[-1] - below[k]) + used).min() - used[-1]


def staircase_flow(steps, cap):  # the same for (u, v) of the rows of each block, from the top
    cut, used = np.zeros(1, np.int64), 0  # the least cut for each number of rows kept above
    for u, v in steps:
        most, (values, below) = cap * np.arange(len(cut)), ladder(v, v)
        k = np.searchsorted(values, most, side="right")
        cut, kept = cut + below[k] + most * (len(v) - k), np.append(0, np.cumsum(-np.sort(-u)))
        least = np.full(len(cut) + len(u), 2**62)
        for number, x in enumerate(kept):
            part = least[number : number + len(cut)]
            np.minimum(part, cut - x, out=part)
        cut, used = least, used + int(kept[-1])
    return used + int(cut.min())


# A pair is a row of `upper` and one of `lower`, of one group, the block of the first before that of
# the other. A row counts r times. The data fall into so many nodes that have pairs of their own.
Rows = namedtuple("Rows", "group block upper lower r nodes")


def ranks(values, kinds="biuf"):  # of each value among the different ones
    fine = values.ndim == 1 and values.dtype.kind in kinds
    fine = fine and (values.dtype.kind != "f" or np.isfinite(values).all())
    need(fine, "what orders the rows must be one finite number a row; a group may be a word")
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def arranged(order, r) -> Rows:  # of the mask of the positive rows, or of columns
    whole = r.dtype.kind in "biuf" and ((r >= 0) & (r < 2**26) & (r == np.floor(r))).all()
    need(whole, "weights must be whole and >= 0")
    r, ones = r.astype(np.int64), np.ones(len(r), bool)
    if isinstance(order, np.ndarray):
        up = order.astype(bool)
        return Rows(0 * r, (~up).astype(np.int64), up, ~up, r, 1)
    key, group = ranks(order["key"]), ranks(order.get("group", ones), "biufU")
    sides = [order.get(name, ones) for name in ("upper", "lower")]
    need({x.shape for x in (key, group, *sides)} == {r.shape}, "the columns do not fit together")
    need(all(((x == 0) | (x == 1)).all() for x in sides), "upper, lower and event are 0 or 1")
    first = group * (key.max() + 1)
    kinds, place = np.unique(first + key.max() - key, return_inverse=True)
    block = place - np.searchsorted(kinds, first)
    nodes = int(ranks(group << 32 | block >> 1).max()) + 1
    upper, lower = (x.astype(bool) & (r > 0) for x in sides)
    return Rows(group, block, upper, lower, r, nodes)


def marginals(rows, S, one, half):  # of each copy of a row, above and below: over its pairs, the
    u, v = np.zeros((2, len(S)), np.int64)  # sums of clip(S_j - S_i + one + half, 0, 2 half), or
    cap, low = 2 * half or 1, int(S.min())  # for half = 0 of 1 where S_j - S_i + one >= 1
    span = int(S.max()) - low + one + cap + 2
    for level in range(int(rows.block.max()).bit_length()):  # of a tree over the blocks of a group
        side, T, end = rows.block >> level, S, (None, None)
        if rows.nodes > 1:  # these stand so far apart that no pair of two of them is half active
            node = ranks(rows.group << 32 | side >> 1)
            need((int(node.max()) + 2) * span < 2**62, "the scores are too large for the groups")
            T = S - low + node * span
        order = np.argsort(T, kind="stable")
        up = order[(rows.upper & (side % 2 == 0))[order]]
        down = order[(rows.lower & (side % 2 == 1))[order]]
        if rows.nodes > 1:
            end = (node[up] + 1) * span - 1, one + half - node[down] * span
        P, N = T[up] - one - half, T[down]
        u[up] += ramp(N, rows.r[down], P, cap, end[0])
        v[down] += ramp(-P, rows.r[up], -N, cap, end[1])
    return u, v


def factors(rows, share, count):  # what a pair weighs, not above it nor below 1 - 2^-50 of it
    share, (_, first) = share.astype("<f8"), np.unique(rows.group, return_index=True)
    fine = (share == 0) | ((share > 1e-100) & (share < 1e100))
    need(fine.all() and fine.shape == rows.r.shape, "a share is not 0 nor within 1e-100 .. 1e100")
    need((share == share[first][rows.group]).all(), "rows of one group differ in their share")
    mass = np.zeros(len(first), np.int64)
    np.add.at(mass, rows.group, rows.r * count)
    whole = sum(Fraction(x) for x in share[first][mass > 0].tolist())
    need(whole > 0, "no group that has a pair has a share")
    held = zip(share[first].tolist(), mass.tolist(), strict=True)
    f = np.array([float(Fraction(x) / (whole * m)) if m else 0.0 for x, m in held])
    return (f * (1 - 2.0**-52))[rows.group]


def carried(rows, u, v, cap, count, f):  # the largest flow within the caps and u, v
    if rows.nodes == 1:
        (up, low), r = (rows.upper & (rows.block == 0), rows.lower & (rows.block == 1)), rows.r
        return largest_flow(u[up], v[low], r[up], r[low], cap) * (1 if f is None else f[0])
    small = cap * exact_dot(rows.r, count[0]) < 2**61 and int(rows.r.sum()) < 2**22
    need(small, "cap is out of range, or these are too many rows for marginals")
    u, v = (np.minimum(x, cap * most) for x, most in zip((u, v), count, strict=True))
    order, flow = np.lexsort((rows.block, rows.group)), 0
    order = np.repeat(order, rows.r[order])
    for part in np.split(order, np.flatnonzero(np.diff(rows.group[order])) + 1):
        steps = np.split(part, np.flatnonzero(np.diff(rows.block[part])) + 1)
        sides = [(u[x[rows.upper[x]]], v[x[rows.lower[x]]]) for x in steps]
        flow += staircase_flow(sides, cap) * (1 if f is None else f[part[0]])
    return flow


def bounds(proof, X, order, r, real=REAL):  # upper >= F(w) >= optimum >= lower, and the sha256
    plain, size = isinstance(order, np.ndarray), X.shape[1:]
    fits = not plain or order.shape == r.shape
    need(fits and X.ndim == 2 and r.shape == X.shape[:1], "X, y and weight do not fit")
    rows, lam, f = arranged(order, r), Fraction(read(proof, "lam")), None
    r, count = rows.r, marginals(rows, np.zeros(len(r), np.int64), 1, 0)  # the partners of rows
    pairs, most = exact_dot(r, count[0]), int(max(r[rows.upper].sum(), r[rows.lower].sum()))
    need(0 < pairs < 2**62 and lam > 0, "both classes need rows, lam must be > 0, pairs < 2^62")
    weigh, near, times = pairs, 0, r
    if not plain and "share" in order:
        near, share = Fraction(1, 2**50), factors(rows, order["share"], count[0])
        weigh, times = 1, r.astype(real) * share.astype(real)
        f = np.array([Fraction(x) for x in share.tolist()])
    w, offset, scale = (read(proof, *of) for of in (("w", size), ("offset", size), ("scale",)))
    need(0 <= scale <= 1, "scale is out of range")
    passes = [sha256()]  # over X, one each
    spare = (rows.nodes + 1).bit_length() if rows.nodes > 1 else 0
    q, S, slip = scores(X, w, offset, real, passes[0], spare)
    u, v = marginals(rows, S, 2**q, 0)  # how many partners are active
    hinge = exact_dot(r * v, S, f) - exact_dot(r * u, S, f) + 2**q * exact_dot(r, u, f)
    mean = Fraction(hinge) / (2**q * weigh) * (1 + near)
    upper = mean + slip + lam / 2 * sum(Fraction(x) ** 2 for x in w)
    if (kind := read(proof, "kind", (), "U")) == "marginals":
        cap, u, v = read(proof, "cap", (), "i8"), 0 * r, 0 * r
        for x, side, name in ((u, rows.upper, "u"), (v, rows.lower, "v")):
            at = side if plain else slice(None)
            x[at] = read(proof, name, x[at].shape, "i8")
        need(0 < cap * most < 2**62, "cap is out of range")
        need(min(u.min(), v.min()) >= 0, "a marginal is negative")
        flow = carried(rows, u, v, cap, count, f)
    else:
        need(kind in ("weights", "scores"), "the kind of evidence is not known")
        bins, half = (read(proof, name, (), "i8") for name in ("bins", "half"))
        need(0 < (cap := 2 * half or 1) * most < 2**62, "half is out of range")
        if kind == "scores":
            q, S = bins.bit_length() - 1, read(proof, "scores", S.shape, "i8")
            need(max(-int(S.min()), int(S.max()), bins) < 2**60, "the scores are too large")
        elif ((other := read(proof, "w_dual", size)) != w).any():
            passes.append(sha256())
            q, S, _ = scores(X, other, offset, real, passes[-1], spare)
        need(bins in [2**k for k in range(q + 1)], "bins must be a power of two, not too large")
        u, v = marginals(rows, S >> q + 1 - bins.bit_length(), bins, half)
        flow = exact_dot(r, u, f)
    missing = exact_dot(r, u, f) + exact_dot(r, v, f) - 2 * flow
    passes.append(sha256())
    g = pull(X, u - v, times, offset, missing, real, digest := passes[-1])
    need(len({one.digest() for one in passes}) == 1, "X changed while it was read")
    norm2, part = sum(Fraction(x) ** 2 for x in g), Fraction(scale) / (cap * weigh)
    order_of = [rows.upper, r] if plain else [*rows[:5], *([] if f is None else [share])]
    digest.update(b"".join(x.tobytes() for x in order_of))
    return upper, max(part * flow - part**2 * norm2 / (2 * lam), Fraction(0)), digest.hexdigest()


def check(proof, X, order, r):  # the verdict, or a ValueError that says why there is none
    upper, lower, digest = bounds(proof, X, order, r)
    known = read(proof, "format", (), "i8") == (2 if "pairs" in proof else 1)
    need(known, "the proof is of a format that is not known")
    need(read(proof, "sha256", (), "U") == digest, "the proof is not one for these data")
    primal, dual, claim = (Fraction(read(proof, name)) for name in ("primal", "dual", "gap"))
    gap, part = (np.nextafter(float(x), np.inf) for x in (upper - lower, 1 - lower / upper))
    need(primal >= upper and dual <= lower and claim >= upper - lower, f"only {gap} is verified")
    size = f"the pairs of {len(r)} rows, {proof.get('pairs')}"
    if isinstance(order, np.ndarray):
        size = f"{r[order].sum():.0f} * {r[~order].sum():.0f} pairs, positive {proof['positive']}"
    return f"verified gap <= {gap} (relative {part}) over {size}, lam = {read(proof, 'lam')}"


def ordering(kind, data, proof, pins):  # the mask of the positive rows, or columns for `arranged`
    if kind == "query":
        return {"key": data["y"], "group": data["qid"]}
    if kind == "survival":
        return {"key": -2 * ranks(data["time"]) - (data["event"] == 0), "upper": data["event"]}
    if kind == "ordered":
        return data
    y, label = data["y"], proof["positive"]
    need(pins.get("--positive", str(label)) == str(label), f"it has positive label {label}")
    plain, own = {label.dtype.kind, y.dtype.kind} <= {*"biufU"}, label.astype(y.dtype)
    need(plain and own.shape == () and own.item() == label.item(), "positive is not a label of y")
    return y == own


def main(argv: list[str], status: int = 2) -> int:
    def opened(name, *kept):  # numpy would advise to trust a file that it cannot read
        try:
            file: Any = np.load(name, mmap_mode="r")
            npz = hasattr(file, "files")
            return {x: file[x] for x in kept or file if x in file} if npz else file
        except Exception as problem:
            why = getattr(problem, "strerror", 0) or "damaged, or no npz or npy of numbers or words"
            raise ValueError(f"{name} cannot be read: {why}") from None

    if {"-h", "--help"} & {*argv}:
        return print((__doc__ or "").rstrip()) or 0
    try:
        pins = {k: float(x) if k == "--lam" else x for k, x in pairwise([*argv, ""]) if k in PINS}
        argv = [x for k, x in pairwise(["", *argv]) if not {k, x} & PINS]
        need(argv[2:] or (argv[1:] and argv[1][-4:] != ".npy"), USAGE)
        kept = ["X", "weight", *(name for names in COLUMNS.values() for name in names)]
        proof, *files = opened(argv[0]), *(opened(name, *kept) for name in argv[1:])
        need(isinstance(proof, dict), f"{argv[0]} is not a proof: {USAGE}")
        data: Any = dict(zip(("X", "y", "weight"), files, strict=False)) if files[1:] else files[0]
        kind = str(proof.get("pairs", "classes"))
        need(kind in COLUMNS, f"these pairs are not known: {kind}")
        names = [x for k, x in enumerate(COLUMNS[kind]) if x in data or kind != "ordered" or k == 0]
        lacking = ", ".join(x for x in ("X", *names) if x not in data)
        need(not lacking, f"the data lack {lacking}")
        X, columns = data["X"], {name: np.array(data[name]) for name in names}
        r, status = np.array(data["weight"]) if "weight" in data else np.ones(len(X)), 1
        lam = read(proof, "lam")
        need(pins.get("--lam", lam) == lam, f"the proof is for lam = {lam}")
        _, status = print(check(proof, X, ordering(kind, columns, proof, pins), r)), 0
    except Exception as problem:
        print("REFUSED:" if status == 1 else "not readable:", problem)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
