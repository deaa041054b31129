"""SOLAM and FSAUC as scikit-learn classifiers."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from ...exact.errors import InputError
from ...exact.tools.checks import check_count
from .fsauc import MultiStageSaddle
from .solam import StochasticSaddle
from .square_classifier import SquareClassifier


@dataclass(eq=False, repr=False)
class SaddleClassifier(SquareClassifier):
    """Base of SOLAM and FSAUC: the square loss in a ball, as a saddle point."""

    radius: float = 1.0
    _: KW_ONLY
    share: str = "running"

    def _check_stream(self) -> None:
        if self.share == "exact":
            raise InputError('share="exact" needs all rows: take "running", or fit')


@dataclass(eq=False, repr=False)
class SOLAM(SaddleClassifier):
    """A linear model for AUC in an l2 ball, as a saddle point, a row a step.

    [SHT, section IV]: minimise over |w| <= radius

        mean over all positive-negative pairs of (1 - w'(x_i - x_j))^2.

    Standardise the features first. The departures from the paper are listed at
    `aucert.approx.square_loss.solam.StochasticSaddle`.

    Parameters
    ----------
    radius : float
        > 0.
    step : "auto" or float
        > 0, the paper's xi: step t has the length step / sqrt(t).
    share : {"running", "exact"}
        The share of the positive rows among those seen so far, or among all.
    max_passes : int
    threshold, max_time, random_state
        As in `SPAM`.

    Attributes
    ----------
    coef_, intercept_, classes_, support_, objective_, gap_, lower_bound_, proved_,
    certificate_, solution_, history_, n_iter_, n_features_in_, feature_names_in_
        As in `SPAM`.
    """

    _method = StochasticSaddle


@dataclass(eq=False, repr=False)
class FSAUC(SaddleClassifier):
    """A linear model for AUC in an l1 ball, as a saddle point, in stages.

    [SHT, section IV]: minimise over |w|_1 <= radius

        mean over all positive-negative pairs of (1 - w'(x_i - x_j))^2.

    Standardise the features first. An average is returned, which is hardly ever sparse. The
    departures from the paper are listed at `aucert.approx.square_loss.fsauc.MultiStageSaddle`.

    Parameters
    ----------
    radius : float
        > 0.
    step : "auto" or float
        > 0, of the first stage.
    share : {"running", "exact"}
        As in `SOLAM`.
    max_passes : int
    n_steps : int, optional
        All steps that the stages of `partial_fit` are laid out for, which its theory must know;
        `max_passes` times the rows of the first batch by default. `fit` ignores it.
    threshold, max_time, random_state
        As in `SPAM`.

    Attributes
    ----------
    coef_, intercept_, classes_, support_, objective_, gap_, lower_bound_, proved_,
    certificate_, solution_, history_, n_iter_, n_features_in_, feature_names_in_
        As in `SPAM`.
    """

    _: KW_ONLY
    n_steps: int | None = None

    _method = MultiStageSaddle

    def _check_parameters(self) -> None:
        if self.n_steps is not None:
            check_count("n_steps", self.n_steps)
        super()._check_parameters()

    def _stream_steps(self, n: int) -> int:
        """Return the steps that a stream is laid out for, whose first batch has `n` rows."""
        return self.n_steps or super()._stream_steps(n)
