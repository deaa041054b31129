"""Findings of ScalingUp: Tables 1 to 3."""

from __future__ import annotations

from dataclasses import replace

from ..capping import Bearing, Deviation
from ..finding import Finding
from .scaling_up_judges import (
    auc_kept,
    competitive,
    feasible,
    flat,
    kernel_above,
    kernel_faster,
    minor_loss,
    near_best,
    seconds,
    within_seconds,
)

SORTED = Deviation(
    "The paper's full model sums the pairs one by one; ours sorts the scores, and is exact.",
    Bearing.AGAINST,
)
FACTORED = Deviation(
    "Without Nyström the paper holds the whole kernel matrix; ours factors it at its low rank.",
    Bearing.AGAINST,
)
STOP = Deviation(
    "The paper does not print when its descent stops, which decides how many steps it takes; the "
    "rule of the authors' program was not run.",
    Bearing.EITHER,
)
MEMORY = Deviation(
    "The paper's full model failed for want of memory; what is compared here is time.",
    Bearing.EITHER,
)
MACHINE = Deviation("Seconds of another machine than the paper's.", Bearing.EITHER)
SAME_RULE = Deviation(
    "The stopping rule of the descent is not printed; ours is one for both sides, whose problems "
    "are nearly the same.",
    Bearing.NEITHER,
)
AT_ALL_SIZES = Deviation(
    "The stopping rule of the descent is not printed; ours is one relative gap of the drawn "
    "problem for all sizes, and at most 1,000 steps, a limit that fits at small lam reach. Without "
    "it the steps do not grow with n, so that any such rule would do.",
    Bearing.NEITHER,
)
REFERENCE = Deviation(
    "The paper's population value belongs to another share of positives "
    "(population-auc-of-the-radial-model); ours is that of the true score on our test rows, and "
    "the best model of the kernel is asked for as well.",
    Bearing.NEITHER,
)
LEVEL = Deviation(
    "The paper's population value belongs to another share of positives "
    "(population-auc-of-the-radial-model): losses are compared, not levels.",
    Bearing.NEITHER,
)

LAM_CHOSEN = Deviation(
    "lam is chosen by the full model, on at most 100,000 rows, for both.",
    Bearing.NEITHER,
    ("rows that choose lam, at most",),
)
CHOSEN = Deviation(
    "gamma and lam are chosen on at most 5,000 rows, in Nyström features, for all that is "
    "compared alike. No choice could turn a loss of AUC: the Nyström fit is, in the mean, within "
    "0.05 points of the true score.",
    Bearing.NEITHER,
    ("rows that choose gamma and lam, at most",),
)
REAL_CHOSEN = Deviation(
    "gamma and lam are chosen on at most 5,000 rows, over all pairs, one lam for all that is "
    "compared.",
    Bearing.NEITHER,
    ("rows that choose gamma and lam, at most",),
)
OTHER_LANDMARKS = Deviation(
    "Landmarks are drawn uniformly, in print they are centres of k-means.", Bearing.EITHER
)
UNIFORM = Deviation(
    "Landmarks are drawn uniformly, in print from strata, for the sake of the rare class; either "
    "draw takes as long, and the AUC is the same to 0.02 points.",
    Bearing.NEITHER,
)
NO_CENTRES = Deviation(
    "Landmarks are drawn uniformly, in print they are centres of k-means; which columns of Bank "
    "Marketing were dropped is not printed, and both models are above print there; gamma and lam "
    "are chosen on at most 5,000 rows.",
    Bearing.EITHER,
)
SAME_FEATURES = Deviation(
    "All pairs are fitted in the same Nyström features here; the paper's original has the whole "
    "kernel, so that what the features lose is not counted.",
    Bearing.FOR,
)
SIZES = Deviation(
    "Fewer repetitions than the paper's fifty, which widens the intervals, and fits without "
    "Nyström also where print has none.",
    Bearing.NEITHER,
    ("repetitions", "repetitions from 50,000 rows on", "rows with the whole kernel, at most"),
)
TRAINED = Deviation(
    "At most 100,000 rows are trained on; no training part has more.",
    Bearing.NEITHER,
    ("training rows, at most",),
)


FINDINGS = (
    Finding(
        "incomplete-model-has-comparable-auc",
        "scaling-up-table-1",
        "the proposed method achieves comparable AUC performance to the original ROC-SVM",
        "On the linear model B = n drawn pairs cost less than 0.1 points of AUC at every size.",
        auc_kept,
        "abstract, Table 1",
        (LAM_CHOSEN,),
    ),
    Finding(
        "incomplete-model-trains-faster-than-the-full-one",
        "scaling-up-table-1",
        "with drastically reduced training time",
        "On the linear model drawn pairs and their descent take less time than the full model, "
        "for which our certified fit of all pairs stands at each size.",
        lambda numbers: seconds(numbers, "s, full", "s, incomplete"),
        "abstract, Table 1",
        (SORTED, STOP),
    ),
    Finding(
        "full-model-infeasible-beyond-10000",
        "scaling-up-table-1",
        "model fitting was computationally infeasible for the given sample size",
        "Beyond 10,000 rows the full linear model takes longer than the 819 s that are printed for "
        "10,000.",
        lambda numbers: feasible(numbers, -1),
        "",
        (SORTED, MEMORY, MACHINE),
    ),
    Finding(
        "incomplete-model-scales-linearly",
        "scaling-up-table-1",
        "we proposed a computationally efficient algorithm that reduces the overall complexity to "
        "$O(n)$",
        "From 5,000 to 100,000 rows the time of the incomplete linear model grows at most like n, "
        "to within a quarter, which is ours.",
        flat,
        "Section 5, Table 1",
        (AT_ALL_SIZES, LAM_CHOSEN),
    ),
    Finding(
        "nystrom-introduces-only-a-minor-loss",
        "scaling-up-table-2",
        "the Nyström approximation introduces only a minor loss",
        "On the radial model the Nyström features cost less than 0.1 points of AUC at every size; "
        "the 0.1 is ours, in print it is up to 0.026.",
        minor_loss,
        "",
        (CHOSEN, UNIFORM, SIZES, LEVEL),
    ),
    Finding(
        "nystrom-auc-close-to-the-best",
        "scaling-up-table-2",
        "predictive performance is well preserved",
        "On the radial model the incomplete Nyström fit is at most 0.1 points of AUC below the "
        "true score, and below the optimum over all pairs with the whole kernel.",
        near_best,
        "",
        (REFERENCE, CHOSEN, UNIFORM, SIZES),
    ),
    Finding(
        "nystrom-reduces-the-computation",
        "scaling-up-table-2",
        "the Nyström approximation drastically reduces computational burden",
        "On the radial model the Nyström fit takes less time than the one without, at every size; "
        "how drastically is not judged.",
        lambda numbers: seconds(numbers, "s, without Nyström", "s, Nyström"),
        "",
        (FACTORED, SAME_RULE, CHOSEN, UNIFORM, SIZES),
    ),
    Finding(
        "kernel-consistently-above-linear",
        "scaling-up-table-3",
        "the kernel model consistently attains higher AUC than the linear model",
        "On each of the three real sets the kernel model has the higher test AUC.",
        kernel_above,
        "Section 4.2, Table 3",
        (NO_CENTRES, TRAINED),
    ),
    Finding(
        "kernel-sometimes-trains-faster",
        "scaling-up-table-3",
        "for the Skin Segmentation and Accelerometer datasets it even trains faster",
        "On Skin Segmentation and Accelerometer the kernel model takes less time to train.",
        kernel_faster,
        "Section 4.2, Table 3",
        (STOP,),
    ),
    Finding(
        "real-sets-train-within-seconds",
        "scaling-up-table-3",
        "Both proposed models train within seconds",
        "On each of the three real sets both models take less than a minute, on average.",
        within_seconds,
        "Section 4.2, Table 3",
        (MACHINE, STOP),
    ),
    Finding(
        "competitive-auc-on-real-sets",
        "scaling-up-table-3",
        "our proposed approach achieves competitive accuracy",
        "On the three real sets drawn pairs cost less than half a point of AUC against all pairs, "
        "with the linear kernel.",
        lambda numbers: competitive(numbers, "linear"),
        "Section 4.2, Table 3",
        (REAL_CHOSEN, TRAINED),
    ),
    Finding(
        "competitive-auc-of-the-kernel-on-real-sets",
        "scaling-up-table-3",
        "our proposed approach achieves competitive accuracy",
        "On the three real sets drawn pairs cost less than half a point of AUC against all pairs, "
        "with the radial kernel.",
        lambda numbers: competitive(numbers, "radial"),
        "Section 4.2, Table 3",
        (REAL_CHOSEN, TRAINED, SAME_FEATURES, OTHER_LANDMARKS),
    ),
    Finding(
        "real-sets-a-fraction-of-the-time",
        "scaling-up-table-3",
        "the original (non-approximated) ROC-SVM is computationally infeasible—requiring hundreds "
        "of seconds even for smaller subsamples—whereas our proposed approach",
        "On the three real sets drawn pairs take less time than the certified optimum over all "
        "pairs, which with the radial kernel is in the same Nyström features.",
        lambda numbers: seconds(numbers, "s, all pairs", "s"),
        "Section 4.2, Table 3",
        (SORTED, STOP, replace(SAME_FEATURES, bearing=Bearing.AGAINST)),
    ),
)
