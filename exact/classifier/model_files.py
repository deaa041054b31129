"""Saving fitted models without pickle: nothing in such a file can run.

A model file is an ordinary .npz: an entry `header` with JSON in UTF-8, and the arrays a0, a1, ...,
all stored without compression. The header has

    format    "aucert model"
    schema    2: how to read the rest; 1 where the bounds of certificates are not rounded outward
    version   of aucert that wrote it; `libraries` names those of numpy and scikit-learn
    model     the tree of `model_codec.py`
    sha256    of the header without this key (keys sorted, no spaces), then for each array its
              type, its shape and its bytes.

Scores made by a loaded model are those of the saved one, bit for bit. Its certificate is the one
that was saved: the checksum tells a damaged file, not a forged one, since anybody can make it anew.
The certificate says so (`as_saved`), as do the solutions of methods that have bounds of their own
(`solution_.as_saved`), and `recertify` judges the model on the data.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import replace
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from ... import __version__
from ..certificate.certificate import Certificate
from ..certificate.solution import Solution, Status, Step
from ..errors import InputError
from ..problem.evidence import Alpha, Marginals, Mix, Scores, Weights
from ..problem.minorant import Minorant
from ..spaces.kernels import Gaussian, Laplacian, Linear
from ..tools.atomic_files import write_atomically
from ..tools.rounding import Bound
from .model_codec import Decoder, Encoder, register

FORMAT = "aucert model"
SCHEMA = 2


register(StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, SimpleImputer)
register(Pipeline, Gaussian, Laplacian, Linear)
register(Certificate, Minorant, Solution, Status, Step)
register(Alpha, Marginals, Mix, Scores, Weights)


def _certificate_of_schema_1(
    primal: float,
    dual: float,
    gap: float,
    relative_gap: float | None,
    radius: Any,
    rounding: float,
    objective: str = "",
) -> Certificate:
    """Return the certificate whose bounds were stored beside their rounding; `radius` had it."""
    upper, lower = Bound(primal, rounding), Bound(dual, rounding)
    return replace(Certificate.from_bounds(upper, lower, 0.0, objective), radius=radius)


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted model to a file: complete, or not at all.

    Parameters
    ----------
    model : estimator
        A fitted classifier of `aucert.exact` or `aucert.approx`, a `Nystrom`, or a scikit-learn
        `Pipeline` of such, scalers of columns, `SimpleImputer` and `RBFSampler`. Each room's
        `save_model` knows its own estimators; once both are imported, each knows all.
    path : str or Path
        Written as it is, whatever its ending; .npz is the custom.
    Raises
    ------
    InputError
        If the model holds what a file cannot, say a function as its threshold, or the file cannot
        be written.
    NotFittedError
        If the model is not fitted.
    """
    if not isinstance(model, BaseEstimator):
        raise InputError(f"a {type(model).__name__} is no estimator: only those can be saved")
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

    Its certificate is what the file says (`certificate_.as_saved`); `aucert.exact.recertify` makes
    it anew from the data.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    InputError
        If the file cannot be read, is no model file, is damaged or cut off, was written in a
        newer format, or holds a type that is not known here.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    try:
        header, arrays = _opened(path, data)
        older = {"Certificate": _certificate_of_schema_1} if header["schema"] == 1 else {}
        return Decoder(arrays, older).decode(header["model"])
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(str(path)) else f"{path}: {text}") from None
    except (KeyError, TypeError, ValueError, IndexError, RecursionError, AttributeError):
        raise InputError(f"{path}: its content does not fit this version of aucert") from None


def _opened(path: str | Path, data: bytes) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Return header and arrays, checked."""
    damaged = f"{path}: the file is damaged or cut off: save the model again"
    if not data.startswith(b"PK"):
        raise InputError(f"{path}: this is no model file of aucert")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            if "header.npy" not in names:
                raise InputError(f"{path}: this is no model file of aucert")
            text = _entry(archive, "header.npy")
            header = json.loads(text.tobytes().decode())
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise InputError(f"{path}: this is no model file of aucert")
            if not isinstance(header.get("schema"), int) or header["schema"] > SCHEMA:
                raise InputError(
                    f"{path}: written by aucert {_word(header.get('version'))} in a newer "
                    f"format ({_word(header.get('schema'))}) than this version reads "
                    f"({SCHEMA}): update aucert"
                )
            wanted = [f"a{k}.npy" for k in range(len(names) - 1)]
            if header.get("arrays") != len(wanted) or set(names) != {"header.npy", *wanted}:
                raise InputError(damaged)
            arrays = [_entry(archive, name) for name in wanted]
    except InputError:
        raise
    except Exception:  # whatever a damaged archive makes the readers raise
        raise InputError(damaged) from None
    if header.pop("sha256", None) != _digest(header, arrays):
        raise InputError(damaged)
    return header, arrays


def _entry(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Return an array of the archive that is no larger than the file says."""
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError("compressed")
    raw = io.BytesIO(archive.read(info))  # checks the entry's CRC
    read = np.lib.format
    major, _ = read.read_magic(raw)
    header = read.read_array_header_1_0 if major == 1 else read.read_array_header_2_0
    shape, fortran, dtype = header(raw)
    if dtype.kind not in "biufU":
        raise ValueError("type")
    flat = np.frombuffer(raw.read(), dtype=dtype)
    return flat.reshape(shape, order="F" if fortran else "C").copy(order="K")


def _word(value: object) -> str:
    """Return what a file says, fit for one line of a message."""
    return " ".join(str(value).split())[:40]


def _digest(header: dict[str, Any], arrays: list[np.ndarray]) -> str:
    text = json.dumps(header, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode())
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
