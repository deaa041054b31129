"""Saving and loading the estimators of `aucert.exact`: see `model_files.py`."""

from __future__ import annotations

from .estimators import ROCSVM, SAUCSVM
from .model_codec import register
from .model_files import load_model, save_model

__all__ = ["load_model", "save_model"]

register(ROCSVM, SAUCSVM)
