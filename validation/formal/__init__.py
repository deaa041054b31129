"""Proofs that a machine has checked: the statements of docs/certificates.md in Coq."""
