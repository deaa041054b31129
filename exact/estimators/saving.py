"""Fitted models as a tree of plain JSON and a list of arrays, and back: only registered types pass.

Numbers, words, lists and None are as they are; all else is an object with one telling key.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import warnings
import zipfile
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from ... import __version__
from ..certificate.certificate import Certificate
from ..certificate.solution import Solution, Status, Step
from ..errors import InputError
from ..problem.risk import Alpha, Marginals, Minorant, Mix, Scores, Weights
from ..spaces.kernels import Gaussian, Laplacian, Linear
from ..tools.atomic_files import write_atomically
from ..tools.rounding import Bound
from .base import Estimator

FORMAT, SCHEMA = "aucert model", 2
NAME = re.compile(r"_[a-z][A-Za-z0-9_]*|[a-z][A-Za-z0-9_]*_")  # results of a fit, and private ones
NUMBERS = re.compile(r"[<>|=]?[biuf]\d{1,2}")
KNOWN: dict[str, type] = {}  # types that may occur in a tree, by name; `register` adds to them


def register(*classes: type) -> None:
    """Let estimators, dataclasses and enumerations occur in model files."""
    for known in classes:
        if KNOWN.setdefault(known.__name__, known) is not known:
            raise InputError(f"another type named {known.__name__} is registered already")


class Encoder:
    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._place: dict[int, int] = {}

    def encode(self, value: Any, where: str) -> Any:
        """Return the tree of `value`; `where` names it in messages."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, Enum):
            return {"enum": self.known(value, where), "is": value.value}
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, BaseEstimator):
            name, given = self.known(value, where), value.get_params(deep=False)
            hidden = {*given, *getattr(value, "_unsaved", ())}
            found = {k: v for k, v in vars(value).items() if k not in hidden}
            parts = {"with": self._all(given, where), "found": self._all(found, where)}
            return {"model": name, **parts}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if sp.issparse(value):
            if value.format != "csr":
                raise InputError(f"{where} is a sparse matrix that is not CSR")
            names = ("data", "indices", "indptr")
            parts = {name: self._array(getattr(value, name), where) for name in names}
            return {"csr": parts, "shape": list(value.shape), "matrix": sp.isspmatrix(value)}
        if isinstance(value, np.dtype) and value.kind in "biuf":
            return {"dtype": value.str}
        if isinstance(value, list | tuple):
            items = [self.encode(item, f"{where}[{k}]") for k, item in enumerate(value)]
            return items if isinstance(value, list) else {"tuple": items}
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {"dict": {key: self.encode(v, f"{where}[{key}]") for key, v in value.items()}}
        if is_dataclass(value) and not isinstance(value, type):
            inside = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
            return {"value": self.known(value, where), "of": self._all(inside, where)}
        hint = "; set it to a name or a number first, the fit stays" if callable(value) else ""
        kind = "a function" if callable(value) else f"a {type(value).__name__}"
        raise InputError(f"{where} is {kind}, which a model file cannot hold{hint}")

    def known(self, value: object, where: str) -> str:
        name = type(value).__name__
        if KNOWN.get(name) is not type(value):
            advice = "; save the step after it, and encode rows before it scores them"
            advice = advice if ".steps[0]" in where else ""
            raise InputError(f"{where} is a {name}, which this function cannot save{advice}")
        return name

    def _all(self, values: dict[str, Any], where: str) -> dict[str, Any]:
        return {name: self.encode(value, f"{where}.{name}") for name, value in values.items()}

    def _array(self, value: np.ndarray, where: str) -> Any:
        if value.dtype.kind == "O":
            if value.ndim == 1 and all(isinstance(word, str) for word in value):
                return {"strings": value.tolist()}
            raise InputError(f"{where} is an array of objects, which a model file cannot hold")
        if value.dtype.kind not in "biufU":
            raise InputError(f"{where} is an array of {value.dtype}, which a file cannot hold")
        place = self._place.get(id(value))
        if place is None:
            place = self._place[id(value)] = len(self.arrays)
            self.arrays.append(value)
        return {"array": place}


class Decoder:
    def __init__(self, arrays: list[np.ndarray], older: bool = False):
        self.arrays, self.older = arrays, older  # older: certificates are those of schema 1

    def decode(self, tree: Any) -> Any:
        if tree is None or isinstance(tree, bool | int | float | str):
            return tree
        if isinstance(tree, list):
            return [self.decode(item) for item in tree]
        if "array" in tree:
            return self._take(tree)
        if "dtype" in tree:
            if not NUMBERS.fullmatch(tree["dtype"]):
                raise ValueError(f"{tree['dtype']} is not a type of numbers")
            return np.dtype(tree["dtype"])
        if "strings" in tree:
            return np.array([str(word) for word in tree["strings"]], dtype=object)
        if "csr" in tree:
            parts = tuple(self._take(tree["csr"][k]) for k in ("data", "indices", "indptr"))
            kind = sp.csr_matrix if tree["matrix"] else sp.csr_array
            matrix = kind(parts, shape=tuple(tree["shape"]))
            matrix.check_format(full_check=True)
            return matrix
        if "tuple" in tree:
            return tuple(self.decode(item) for item in tree["tuple"])
        if "dict" in tree:
            return {str(key): self.decode(item) for key, item in tree["dict"].items()}
        if "enum" in tree:
            return self._type(tree["enum"], Enum)(tree["is"])
        if "value" in tree:
            known = self._type(tree["value"], object)
            older = self.older and known is Certificate
            value = (_certificate_of_schema_1 if older else known)(**self._all(tree["of"]))
            if hasattr(value, "as_saved"):  # what was proved, on the file's word alone
                object.__setattr__(value, "as_saved", True)
            return value
        known, asked = self._type(tree["model"], BaseEstimator), self._all(tree["with"])
        if asked.get("structure_source") == "full":
            del asked["structure_source"]  # files of version 0.2 could say "sampled"
        model = known(**asked)
        for name, value in self._all(tree["found"]).items():
            if not NAME.fullmatch(name) or hasattr(known, name):
                raise ValueError(f"{name} is not a result of a fit")
            setattr(model, name, value)
        return model

    def _take(self, tree: Any) -> np.ndarray:
        place = tree["array"]
        if not 0 <= place < len(self.arrays):
            raise IndexError(place)
        return self.arrays[place]

    def _type(self, name: object, base: type) -> Any:
        known = KNOWN.get(name) if isinstance(name, str) else None
        if known is None:
            raise InputError(
                f"it holds a {str(name)[:40]}, which is not known here: import "
                "aucert.exact.load_model and aucert.approx.load_model, either knows all then"
            )
        if not issubclass(known, base):
            raise TypeError(name)
        return known

    def _all(self, trees: dict[str, Any]) -> dict[str, Any]:
        """Return values by name; what is named a certificate must be one."""
        values = {name: self.decode(tree) for name, tree in trees.items()}
        for name, value in values.items():
            proof = name.rstrip("_").endswith("certificate")
            if proof and not isinstance(value, Certificate | None):
                raise ValueError(f"{name} is not a certificate")
        return values


register(StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, SimpleImputer)
register(Pipeline, Gaussian, Laplacian, Linear)
register(Certificate, Minorant, Solution, Status, Step)
register(Alpha, Marginals, Mix, Scores, Weights)
KINDS = {"n_features_in_": "iu", "support_": "iu", "classes_": "biufUO"}  # of all else "f"


def _check_fields(model: Any) -> None:
    """Raise `InputError` unless what scores rows is there and fits, and each array is finite."""
    own, shapes = getattr(model, "__dict__", {}), {}  # a step may be a word
    try:
        if isinstance(model, Estimator):
            shapes = {"n_features_in_": (), **model._shapes()}
    except AttributeError as error:
        shapes = {str(error.name): ()}  # the one that is missing
    arrays = {k: v for k, v in own.items() if isinstance(v, np.ndarray) or sp.issparse(v)}
    if isinstance(model, SimpleImputer):
        arrays = {}  # an empty column has the mean NaN
    for name in {**shapes, **arrays}:
        value: Any = own.get(name)
        values: Any = value.data if sp.issparse(value) else np.asarray(value)
        fits = name not in shapes or (
            np.shape(value) == shapes[name]
            and values.dtype.kind in KINDS.get(name, "f")
            and (name in arrays or not shapes[name])
        )
        if not fits or (values.dtype.kind == "f" and not np.isfinite(values).all()):
            raise InputError(
                f"the field {name} of its {type(model).__name__} is missing, of another kind or "
                "shape, or not finite: save the model again"
            )


def _certificate_of_schema_1(
    primal: float, dual: float, rounding: float, radius: float | None, objective: str = "", **_: Any
) -> Certificate:
    """Return the certificate whose bounds stood next to their rounding; `radius` had it already."""
    upper, lower = Bound(primal, rounding), Bound(dual, rounding)
    return replace(Certificate.from_bounds(upper, lower, 0.0, objective), radius=radius)


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted model to a file: complete, or not at all.

    Parameters
    ----------
    model : estimator
        A fitted classifier of `aucert.exact` or `aucert.approx`, a `Nystrom`, or a scikit-learn
        `Pipeline` of such, scalers of columns, `SimpleImputer` and `RBFSampler`. The `save_model`
        of each room knows all estimators once both are imported.
    path : str or Path
        With any ending; .npz is usual.

    Raises
    ------
    InputError
        If a file cannot hold a part, say a function as the threshold, or cannot be written.
    NotFittedError
        If the model is not fitted.
    """
    if not isinstance(model, BaseEstimator):
        raise InputError(f"a {type(model).__name__} is not an estimator: only those can be saved")
    encoder = Encoder()
    encoder.known(model, "the model")
    check_is_fitted(model)
    header = {
        "format": FORMAT,
        "schema": SCHEMA,
        "version": __version__,
        "libraries": {name: installed(name) for name in ("numpy", "scikit-learn")},
        "model": encoder.encode(model, "the model"),
        "arrays": len(encoder.arrays),
    }
    header["sha256"] = _digest(header, encoder.arrays)
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    entries = {f"a{k}": array for k, array in enumerate(encoder.arrays)}
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, header=text, **entries)
    write_atomically(path, lambda file: file.write(buffer.getbuffer()))


def load_model(path: str | Path) -> Any:
    """Return the model of a file that `save_model` wrote.

    Its certificate is what the file says (`certificate_.as_saved`); `recertify` makes it anew.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    InputError
        If the file cannot be read, is not a whole model file of a known format, or holds an unknown
        type, or a field that scores rows is missing, of another kind or shape, or not finite.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    try:
        header, arrays = _opened(path, data)
        model = Decoder(arrays, header["schema"] == 1).decode(header["model"])
        for part in (model, *(step for _, step in getattr(model, "steps", ()))):
            _check_fields(part)
        with warnings.catch_warnings(action="ignore"):  # a row without names
            use = "predict" if hasattr(model, "predict") else "transform"
            if hasattr(model, "n_features_in_"):
                getattr(model, use)(np.zeros((1, int(model.n_features_in_))))
        return model
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(str(path)) else f"{path}: {text}") from None
    except (KeyError, TypeError, ValueError, IndexError, RecursionError, AttributeError):
        raise InputError(f"{path}: its content does not fit this version of aucert") from None


def _opened(path: str | Path, data: bytes) -> tuple[dict[str, Any], list[np.ndarray]]:
    damaged = f"{path}: the file is damaged or cut off: save the model again"
    other = f"{path}: this is not a model file of aucert"
    if not data.startswith(b"PK"):
        raise InputError(other)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            # What is stored as it is cannot be larger than the file.
            if any(one.compress_type != zipfile.ZIP_STORED for one in archive.infolist()):
                raise ValueError("compressed")
        with np.load(io.BytesIO(data), allow_pickle=False) as entries:  # checks each CRC
            found = {name: entries[name] for name in entries.files}
        header = json.loads(found.pop("header").tobytes().decode()) if "header" in found else None
    except Exception:  # all that a damaged archive makes the readers raise
        raise InputError(damaged) from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(other)
    if header.get("schema") not in (1, SCHEMA):
        says = (" ".join(str(header.get(key)).split()) for key in ("version", "schema"))
        version, schema = (word[:40] for word in says)  # fit for one line of a message
        raise InputError(
            f"{path}: written by aucert {version} in format {schema}, and this version "
            f"reads {SCHEMA}: update aucert, or fit and save the model again"
        )
    arrays: list[Any] = [found.get(f"a{k}") for k in range(len(found))]
    fine = all(isinstance(one, np.ndarray) and one.dtype.kind in "biufU" for one in arrays)
    if not fine or header.get("arrays") != len(arrays):
        raise InputError(damaged)
    if header.pop("sha256", None) != _digest(header, arrays):
        raise InputError(damaged)
    return header, arrays


def _digest(header: dict[str, Any], arrays: list[np.ndarray]) -> str:
    text = json.dumps(header, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode())
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
