"""How much each printed statement that fails matters."""

MEANINGS = {
    "A": "changes a conclusion",
    "B": "wrong and repaired; the conclusion stands",
    "C": "a slip of the pen, or of arithmetic",
}

SEVERITY = {
    name: letter
    for letter, names in {
        "A": (
            "theorem-4-as-printed",
            "theorem-4-under-other-readings",
            "theorem-4-first-term",
            "sht-theorem-1-condition-as-printed",
        ),
        "B": (
            "eq-17-as-printed",
            "eq-20-as-printed",
            "sauc-eq-17-as-printed",
            "sauc-eq-20-as-printed",
            "sauc-prop-2-as-printed",
            "eq-6-keeps-k-entries",
            "sht-eq-14-as-printed",
            "hessian-as-printed",
            "algorithm-1-map-as-printed",
            "gradient-as-printed",
            "full-newton-steps-converge",
            "algorithm-3-average-as-printed",
        ),
        "C": (
            "population-auc-of-the-radial-model",
            "second-term-is-subpolynomial",
            "sauc-pair-counts-by-the-printed-rule",
            "sauc-table-3-gain-over-svm",
            "sht-jaccard-column",
            "kernel-machines-above-linear-except-on-protein",
        ),
    }.items()
    for name in names
}
SEVERITY["algorithm-3-printed-step-solves-another-problem"] = "A"  # ours, of a printed step
