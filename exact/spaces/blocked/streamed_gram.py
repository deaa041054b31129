"""Functions of a kernel on many rows: K is made block by block, whenever it is needed."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...errors import InputError
from ...tools.rounding import LONG_UNIT, UNIT, gamma, short_chain, short_sum
from ...tools.threads import in_parts, one_thread, workers
from ..kernel import Kernel, lengths_of
from .products import BLOCK_BYTES, COLUMN_BLOCK, mass_of
from .tiles import PARTS, Tiles

FEW = 0.5  # Share of coefficients that are not zero up to which only their columns of K are made.

RECENT = 4  # Number of products that are remembered: a certificate needs each several times.


class StreamedGram:
    """Functions f = sum_i w_i k(., x_i), like `Gram.of_kernel`, with K in blocks of rows.

    [ScalingUp, eq. (10)]. The kernel's formula at the rows as stored is meant.
    """

    precise = True
    meaning = ""

    def __init__(self, kernel: Kernel, X: Any):
        self.kernel, self.X = kernel, X
        self.n = self.dim = int(X.shape[0])
        self.noise, self.lengths = kernel.noise(X), lengths_of(kernel, X)
        self.reach = float(self.lengths.max())
        self._recent: list[tuple[np.ndarray, np.ndarray]] = []
        self._tiles: weakref.ref[Tiles] | None = None

    def plain(self) -> StreamedGram:
        """Return the same space with products in float64: quick, and with more rounding."""
        same = copy.copy(self)
        same.precise, same._recent = False, []
        return same

    def tiles(self, tol: float, stop: Callable[[], bool] = lambda: False) -> Tiles:
        """Return K held for many products, in single precision where `tol` lets it.

        For solvers: no bound of rounding is stated for these products. See `Tiles.of`. Whoever asks
        while another still holds them gets the same.
        """
        held = None if self._tiles is None else self._tiles()
        if held is None or not held.whole:
            held = Tiles.of(self.kernel, self.X, tol, stop)
            self._tiles = weakref.ref(held)
        return held

    def product(self, tol: float, stop: Callable[[], bool]) -> Callable[[np.ndarray], np.ndarray]:
        """Return the function c -> K c (n,) of solvers, for a relative gap and until `stop()`."""
        return self.tiles(tol, stop).product

    def blocks(self) -> Iterator[slice]:
        """Yield the slices of rows whose kernel rows are held at a time."""
        step = max(1, BLOCK_BYTES // (8 * self.n))
        for start in range(0, self.n, step):
            yield slice(start, min(start + step, self.n))

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return K w: (n,)."""
        return self._product(w).astype(float)

    def together(self, *vectors: np.ndarray) -> None:
        """Make the products with several vectors (n,) in one pass and remember them."""
        new = [w for w in vectors if self._known(w) is None]
        if not new:
            return
        used = np.flatnonzero(np.any(new, axis=0))
        products = np.zeros((len(new), self.n), dtype=np.longdouble)
        with one_thread():
            if used.size <= FEW * self.n:
                self._through_columns(new, used, products)
            else:
                self._through_half(new, products)
        if not np.isfinite(products).all():
            raise InputError("the kernel has values that are not finite on these rows: rescale X")
        products.flags.writeable = False
        found = [(w.copy(), product) for w, product in zip(new, products, strict=True)]
        self._recent = [*self._recent, *found][-max(RECENT, len(found)) :]

    def _through_columns(
        self, vectors: list[np.ndarray], used: np.ndarray, products: np.ndarray
    ) -> None:
        """Add the products with the columns `used`, which hold all that is not zero."""
        if not used.size:
            return
        columns, weights = self.X[used], [w[used] for w in vectors]

        def work(rows: slice, worker: int) -> None:
            block = self.kernel(self.X[rows], columns)
            for w, product in zip(weights, products, strict=True):
                self._add(block, w, product[rows])

        in_parts(work, list(self.blocks()), workers(self.n * used.size))

    def _through_half(self, vectors: list[np.ndarray], products: np.ndarray) -> None:
        """Add the products with all of K, each value of its lower half made once."""
        blocks = list(self.blocks())

        def work(first: int, worker: int) -> np.ndarray:
            mine = np.zeros_like(products)
            for rows in blocks[first::PARTS]:
                block = self.kernel(self.X[rows], self.X[: rows.stop])
                for w, product in zip(vectors, mine, strict=True):
                    self._add(block, w[: rows.stop], product[rows])
                    self._add(block[:, : rows.start].T, w[rows], product[: rows.start])
            return mine

        for part in in_parts(work, range(PARTS), workers(self.n * self.n // 2)):
            products += part

    def _add(self, block: np.ndarray, w: np.ndarray, product: np.ndarray) -> None:
        """Add block @ w to a product, `COLUMN_BLOCK` columns at a time."""
        weights = w.astype(np.longdouble) if self.precise else w
        for start in range(0, block.shape[1], COLUMN_BLOCK):
            part = block[:, start : start + COLUMN_BLOCK]
            product += (
                part.astype(weights.dtype, copy=False) @ weights[start : start + COLUMN_BLOCK]
            )

    @property
    def _share(self) -> float:
        """A bound of the relative error of a product's terms: of their sum, and of K.

        A term passes through the sum of one part of `COLUMN_BLOCK`, in the format of the product,
        and is then one of a chain of parts in the long format: two for each `COLUMN_BLOCK` rows at
        most, two for each block that ends before a part is full, and one for each of `PARTS`.
        """
        parts = 2 * (self.n // COLUMN_BLOCK + sum(1 for _ in self.blocks())) + 8 + PARTS
        chain = gamma(parts, LONG_UNIT)
        return chain + gamma(COLUMN_BLOCK + 4, self._unit) + self.noise

    @property
    def _unit(self) -> float:
        return LONG_UNIT if self.precise else UNIT

    def _known(self, w: np.ndarray) -> np.ndarray | None:
        return next((made for one, made in self._recent if np.array_equal(one, w)), None)

    def _product(self, w: np.ndarray) -> np.ndarray:
        known = self._known(w)
        if known is None:
            self.together(w)
            known = self._recent[-1][1]
        return known

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return c: the coordinates are the coefficients."""
        return c

    def norm2(self, w: np.ndarray) -> float:
        """Return w'K w, summed in the long format: large coefficients cancel."""
        return max(float(short_sum(w * self._product(w))), 0.0)

    def norm2_error(self, w: np.ndarray) -> float:
        """Return (gamma_k + noise) (sum_i r_i |w_i|)^2, k the chain of additions."""
        share = self._share + 1.01 * gamma(short_chain(self.n) + 8, LONG_UNIT)
        size = 1.01 * share * mass_of(w, self.lengths) ** 2
        return (size + UNIT * self.norm2(w)) * (1 + gamma(8))

    def dual_norm2(self, c: np.ndarray) -> float:
        """Return c'K c."""
        return self.norm2(c)

    def dual_norm2_error(self, c: np.ndarray) -> float:
        """Return `norm2_error`."""
        return self.norm2_error(c)

    def inner(self, w: np.ndarray, other: np.ndarray) -> float:
        """Return w'K other."""
        return float((w * self.scores(other)).sum())

    def score_error(self, w: np.ndarray) -> np.ndarray:
        """Return a bound of the error of each score: (n,)."""
        return (self.careful_scores(w)[1] + UNIT * np.abs(self.scores(w))) * (1 + gamma(4))

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores in the long format, and a bound of their error: (n,) each.

        (gamma_k + noise) r sum_i r_i |w_i|, k the chain of additions.
        """
        share = 1.01 * self._share
        error = share * mass_of(w, self.lengths) * (1 + gamma(8)) * self.lengths
        return self._product(w), error
