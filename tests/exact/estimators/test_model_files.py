from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from aucert.exact import ROCSVM, ROCSVMCV, SAUCSVM, InputError, load_model, recertify, save_model
from aucert.exact.estimators import saving, thresholds
from loops import each, first_fast, refuses

RNG = np.random.default_rng(0)
Y = np.arange(40) % 3 == 0
X = RNG.normal(size=(40, 3)) + 0.8 * Y[:, None]
FRESH = RNG.normal(size=(15, 3))
MODELS = {
    "linear": ROCSVM(),
    "kernel": ROCSVM(kernel="rbf", gamma=0.3, lam=0.01),
    "laplacian": ROCSVM(kernel="laplacian", lam=0.01, threshold="youden"),
    "structured": SAUCSVM(kernel="rbf", structure=5.0, lam=0.01),
    "nearest": SAUCSVM(pairs="nearest:3", lam=np.float64(0.1)),  # type: ignore[arg-type]
    "pipeline": make_pipeline(StandardScaler(), ROCSVM(lam=0.01)),
}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_model(ROCSVM().fit(X, Y), tmp_path / "model.npz")
    return tmp_path / "model.npz"


def entries(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as archive:
        return dict(archive)


def forge(path: Path, change, sign: bool = True) -> None:
    """Change header and arrays of a file, and sign it again, or leave the old checksum."""
    found = entries(path)
    header = json.loads(found.pop("header").tobytes())
    change(header, found)
    old = header.pop("sha256")
    arrays = [found[f"a{k}"] for k in range(len(found))]
    header["sha256"] = saving._digest(header, arrays) if sign else old
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, allow_pickle=False, header=text, **found)


@each("name", first_fast(MODELS))
def test_a_loaded_model_is_the_saved_one_bit_for_bit(name: str, tmp_path: Path) -> None:
    model = clone(MODELS[name]).fit(X, np.where(Y, "ill", "well"))
    save_model(model, tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    assert type(loaded) is type(model)
    assert loaded.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    np.testing.assert_array_equal(loaded.decision_function(FRESH), model.decision_function(FRESH))
    np.testing.assert_array_equal(loaded.predict(FRESH), model.predict(FRESH))
    last, other = (m[-1] if name == "pipeline" else m for m in (model, loaded))
    assert vars(last).keys() == vars(other).keys() and other.get_params() == last.get_params()
    assert other.certificate_ == last.certificate_ and other.history_ == last.history_
    assert other.status_ is last.status_
    np.testing.assert_array_equal(other.solution_.witness.c, last.solution_.witness.c)
    assert not last.certificate_.as_saved and other.certificate_.as_saved
    assert other.solution_.certificate.as_saved and "as_saved=True" in repr(other.certificate_)
    if name == "pipeline":
        return
    audit: Any = recertify(loaded, X, np.where(Y, "ill", "well"))
    held = model.certificate_
    assert audit.gap <= held.gap + 1e-8 and audit.primal == pytest.approx(held.primal, rel=1e-9)


@each("scaler", [MinMaxScaler(), MaxAbsScaler(), RobustScaler()])
@each("strategy", ["mean", "median", "most_frequent"])
def test_imputed_and_scaled_pipelines_come_back(scaler: Any, strategy: str, tmp_path: Path) -> None:
    holes, imputer = np.where(X > 1.5, np.nan, X).astype(np.float32), SimpleImputer()
    imputer.set_params(strategy=strategy)
    model = make_pipeline(imputer, scaler, ROCSVM(lam=0.1)).fit(holes, Y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert np.isnan(holes).any() and loaded[0]._fit_dtype == np.float32
    np.testing.assert_array_equal(loaded.decision_function(holes), model.decision_function(holes))


def refused(path: Path, match: str) -> None:
    with pytest.raises(InputError, match=match) as caught:
        load_model(path)
    message = str(caught.value)
    assert message.startswith(str(path)) and "\n" not in message
    assert caught.value.__cause__ is None


def test_every_cut_is_noticed(saved: Path) -> None:
    data = saved.read_bytes()
    for size in [*range(0, len(data), 131), len(data) - 1]:
        saved.write_bytes(data[:size])
        refused(saved, "damaged or cut off|not a model file")


def test_every_flipped_byte_is_noticed_or_does_no_harm(saved: Path) -> None:
    scores, data, noticed = load_model(saved).decision_function(FRESH), saved.read_bytes(), 0
    places = range(0, len(data), 37)
    for place in places:
        saved.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        try:
            loaded = load_model(saved)
        except InputError:
            noticed += 1
            continue
        np.testing.assert_array_equal(loaded.decision_function(FRESH), scores)  # a date, say
    assert noticed > 0.7 * len(places)


def test_a_changed_number_is_noticed_though_the_archive_is_whole(saved: Path) -> None:
    forge(saved, lambda header, found: None)
    load_model(saved)
    changes = {
        "number": lambda header, found: found.update(a0=found["a0"] + 1e-12),
        "version": lambda header, found: header.update(version="9.1"),
    }
    for change in changes.values():
        save_model(ROCSVM().fit(X, Y), saved)
        forge(saved, change, sign=False)
        refused(saved, "damaged or cut off")
    forge(saved, lambda header, found: header.update(schema=3, version="9.1"))
    refused(saved, r"9\.1 in format 3.*update aucert")


def test_other_files_are_no_model_files(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    for content, said in ((b"PK", "damaged or cut off"), (b"hello", "not a model file")):
        path.write_bytes(content)
        refused(path, said)
    other = np.frombuffer(b'{"format": "other"}', np.uint8)
    for write in (lambda: np.savez(path, X=X), lambda: np.savez(path, header=other)):
        write()
        refused(path, "not a model file")
    np.savez(path, header=np.array([object()]))
    refused(path, "damaged")
    refused(tmp_path / "none.npz", "cannot be read")
    wide, shape = io.BytesIO(), {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    np.lib.format.write_array_header_1_0(wide, shape)  # larger than its bytes
    with zipfile.ZipFile(saved) as archive, zipfile.ZipFile(path, "w") as copy:
        for name in archive.namelist():
            data = wide.getvalue() + b"\0" * 64 if name == "a0.npy" else archive.read(name)
            copy.writestr(name, data)
    refused(path, "damaged")
    np.savez_compressed(saved, **entries(saved))  # type: ignore[arg-type]
    refused(saved, "damaged")  # before it is unpacked
    for name in ("O", "V8", "U3", "f8,f8", "datetime64[s]", "f8\n"):
        refuses("type of numbers", saving.Decoder([]).decode, {"dtype": name}, error=ValueError)


UNFIT: list[dict[str, Any]] = [
    {"model": "Gaussian", "with": {}, "found": {}},
    {"value": "Gaussian", "of": {"width": 1.0}},
    {"model": "ROCSVM", "with": {"steps": 1}, "found": {}},
    *({"model": "ROCSVM", "with": {}, "found": {of: 1.0}} for of in ("predict", "__class__")),
    *({"array": -1}, {"array": 10**6}, {"call": "os.system"}),
    *({"enum": "Status", "is": "fine"}, {"enum": "ROCSVM", "is": 0}),
]
TREES: list[tuple[dict[str, Any], str]] = [
    ({"model": "LogisticRegression", "with": {}, "found": {}}, "LogisticRegression"),
    ({"value": "Popen", "of": {"args": "true"}}, "holds a Popen, which is not known"),
    ({"value": "Gaussian", "of": {"gamma": -1.0}}, "gamma must be > 0"),
    *((tree, "does not fit") for tree in UNFIT),
]


@each(("tree", "match"), TREES)
def test_a_signed_file_cannot_ask_for_more_than_known_types(saved: Path, tree, match: str) -> None:
    forge(saved, lambda header, found: header.update(model=tree))
    refused(saved, match)


@each("name", ["coef_", "intercept_", "n_features_in_", "classes_"])
@each("value", [None, "gone", 3.5, [[0.1, 0.2, 0.3]], np.full((1, 3), np.nan)])
def test_a_file_lacks_no_field_that_scores_rows(saved: Path, name: str, value: Any) -> None:
    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        found = header["model"]["found"]
        found[name] = value
        if isinstance(value, np.ndarray):
            found[name], header["arrays"] = {"array": len(arrays)}, len(arrays) + 1
            arrays[f"a{len(arrays)}"] = value
        elif value == "gone":
            del found[name]

    save_model(ROCSVM().fit(X, Y), saved)
    forge(saved, change)
    refused(saved, f"the field {name} of its ROCSVM is missing, of another kind")


def test_what_a_file_cannot_hold_is_said(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    model = ROCSVM(threshold=thresholds.threshold_midpoint).fit(X, Y)
    refuses(r"the model\.threshold is a function.*the fit stays", save_model, model, path)
    cut = model.intercept_[0]
    save_model(model.set_params(threshold="midpoint"), path)
    assert load_model(path).intercept_[0] == cut
    model.odd_ = np.array([object()])
    refuses(r"the model\.odd_ is an array of objects", save_model, model, path)
    model.odd_ = {1, 2}
    refuses(r"the model\.odd_ is a set", save_model, model, path)
    with pytest.raises(InputError, match="LogisticRegression, which this function cannot save"):
        save_model(LogisticRegression().fit(X, Y), path)
    refuses("is not an estimator", save_model, X, path)
    with pytest.raises(NotFittedError):
        save_model(ROCSVM(), path)


def test_a_forged_certificate_does_not_survive_a_new_one(saved: Path) -> None:
    """The checksum is made anew by whoever forges; the data are not."""

    def claim_more(header, arrays) -> None:
        found = header["model"]["found"]
        for place in (found["certificate_"]["of"], found["solution_"]["of"]["certificate"]["of"]):
            place["gap"] = place["relative_gap"] = place["radius"] = 0.0
        arrays[f"a{found['coef_']['array']}"][:] = 5.0

    forge(saved, claim_more)
    loaded = load_model(saved)
    assert loaded.certificate_.gap == 0 and loaded.certificate_.as_saved
    assert (recertify(loaded, X, Y).gap or 0.0) > 0.01


@pytest.mark.slow
def test_only_the_rows_of_the_fit_certify_a_model_anew() -> None:
    kernel, weight = ROCSVM(kernel="rbf", gamma=0.3, lam=0.01).fit(X, Y), np.arange(40) % 4
    weighted = ROCSVM().fit(X, Y, sample_weight=weight)
    assert recertify(kernel, X, Y).gap is not None
    audit = recertify(weighted, X, Y, sample_weight=weight)
    assert audit.primal == pytest.approx(weighted.certificate_.primal, rel=1e-9)
    for rows, labels in ((X[::-1], Y[::-1]), (X[:10], Y[:10])):
        refuses("not the rows", recertify, kernel, rows, labels)
    refuses("labels", recertify, kernel, X, Y * 2)
    refuses("features", recertify, weighted, X[:, :2], Y)
    refuses("ROCSVMCV", recertify, ROCSVMCV(), X, Y)


def test_certificates_of_schema_1_are_rounded_outward(saved: Path) -> None:
    raw = {"primal": 0.5, "dual": 0.25, "gap": 0.25, "relative_gap": 0.5, "rounding": 1e-9}

    def old(tree: Any) -> None:
        if isinstance(tree, dict) and tree.get("value") == "Certificate":
            tree["of"].update(raw)
        for part in tree.values() if isinstance(tree, dict) else tree:
            if isinstance(part, dict | list):
                old(part)

    def change(header: dict[str, Any], found: dict[str, np.ndarray]) -> None:
        header["schema"] = 1
        old(header["model"])

    forge(saved, change)
    held = load_model(saved).certificate_
    assert held.as_saved and 0.5 + 1e-9 <= held.primal < 0.5 + 2e-9
    assert 0.25 - 2e-9 < held.dual <= 0.25 - 1e-9 and held.gap >= held.primal - held.dual
    save_model(load_model(saved), saved)
    assert load_model(saved).certificate_.primal == held.primal  # not rounded outward again


def test_odd_numbers_arrays_and_rows_come_back(tmp_path: Path) -> None:
    thin = sp.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0))
    model = ROCSVM(kernel="rbf", lam=0.01).fit(thin, Y)
    arrays = [np.asfortranarray(X), X[::2, 1], np.arange(3, dtype=np.int32), np.array(["a", "bc"])]
    arrays += [np.array([np.inf, -np.inf, np.nan, -0.0])]
    model.odd_ = [*arrays[-1].tolist(), (1, "two", None), {"a": np.arange(0.0)}, *arrays]
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert type(loaded._support_rows) is type(model._support_rows)
    np.testing.assert_array_equal(loaded.decision_function(thin), model.decision_function(thin))
    model.feature_names_in_ = np.array(["a", "b", "ü"], dtype=object)
    save_model(model, tmp_path / "named")
    names, odd = load_model(tmp_path / "named").feature_names_in_, loaded.odd_
    assert names.dtype == object and names.tolist() == ["a", "b", "ü"]
    assert repr(odd[:5]) == "[inf, -inf, nan, -0.0, (1, 'two', None)]"
    assert odd[5]["a"].shape == (0,)
    for before, after in zip(arrays, odd[6:], strict=True):
        assert after.dtype == before.dtype and after.flags.writeable
        np.testing.assert_array_equal(after, before)
