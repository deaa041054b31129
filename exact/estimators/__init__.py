"""The classifiers and the survival model of `aucert.exact`, as scikit-learn estimators."""
