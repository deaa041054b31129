"""Which columns of a table are read: the label, the features that are named, those left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ....exact.errors import InputError
from ..column_names import nearest, unclear_names
from ..file_checks import Refused

SVMLIGHT = (".txt", ".libsvm", ".svm", ".svmlight")
"""Endings of svmlight files, which may be gzipped."""


class Places(NamedTuple):
    """Where the columns stand: the label's place (None without labels), the features', the rest.

    `unclear` names the features that their names do not tell apart, and says why.
    """

    target: int | None
    features: list[int]
    ignored: list[str]
    unclear: dict[str, str]


@dataclass(frozen=True)
class Selection:
    """What to read of a table.

    Attributes
    ----------
    target : str, optional
        The label column; the reader's own default where it is None.
    columns : tuple of str, optional
        The features, in this order; all other columns by default.
    drop : tuple of str
        Columns that are neither read nor checked.
    labelled : bool
        False where only features are read: no column is a label.
    header : bool, optional
        Whether the first row of a CSV file holds names; as it looks by default.
    zero_based : bool, optional
        Whether an svmlight file counts its features from 0; as it looks by default.
    width : int, optional
        Features of the model that the rows are for: an svmlight file leaves out zeros.
    """

    target: str | None = None
    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    labelled: bool = True
    header: bool | None = None
    zero_based: bool | None = None
    width: int | None = None

    @classmethod
    def of(cls, asked: Selection | str | None) -> Selection:
        """Return a selection from one, or from the name of the label column."""
        return asked if isinstance(asked, cls) else cls(target=asked)  # type: ignore[arg-type]

    @property
    def is_partial(self) -> bool:
        """Whether some columns may be left out."""
        return self.columns is not None or bool(self.drop)

    def places(self, path: Path, names: Sequence[str], target: int | None) -> Places:
        """Return what to read of columns with these names.

        Parameters
        ----------
        path : Path
            For messages.
        names : list of str
        target : int, optional
            The place of the label column, None where there is none.

        Raises
        ------
        InputError
            For a name that is not there, one that is asked for twice, or no feature left.
        """
        place = {name: k for k, name in enumerate(names)}
        label = None if target is None else names[target]
        if label is not None:
            Refused(path, unclear_names(names, {label})).raise_if_any()
        self._check_names(path, names, label)
        wanted = [n for n in names if n != label] if self.columns is None else [*self.columns]
        kept = [place[name] for name in wanted if name not in self.drop]
        if not kept:
            only = "" if label is None else f" beside the label column '{label}'"
            raise InputError(f"{path}: no feature columns are left{only}")
        used = {target, *kept}
        ignored = [name for k, name in enumerate(names) if k not in used]
        return Places(target, kept, ignored, unclear_names(names, {names[k] for k in kept}))

    def _check_names(self, path: Path, names: Sequence[str], label: str | None) -> None:
        absent = [n for n in (*(self.columns or ()), *self.drop) if n not in names]
        if len(absent) == 1:
            raise InputError(f"{path}: no column '{absent[0]}'; {nearest(absent[0], names)}")
        if absent:
            shown = ", ".join(f"'{name}'" for name in absent[:10])
            more = f" and {len(absent) - 10} more" if len(absent) > 10 else ""
            raise InputError(f"{path}: no columns {shown}{more}; {nearest(absent[0], names)}")
        if len(set(self.columns or ())) < len(self.columns or ()):
            raise InputError(f"{path}: a column is asked for twice: name each one once")
        if label is not None and label in (*(self.columns or ()), *self.drop):
            raise InputError(
                f"{path}: '{label}' is the label column, which is no feature and cannot be left "
                "out: name another one with --target"
            )
