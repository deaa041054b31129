"""The claims of "Structure-embedded AUC-SVM" [SAUC]."""
