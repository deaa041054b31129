"""Files as users have them, in the form that the ending of the name asks for."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

LIBLINEAR = (
    "solver_type L2R_L2LOSS_RANKSVM\nnr_class 2\nnr_feature 3\nbias -1\nw\n0.5 \n-2 \n1e-3 \n"
)
SVM_RANK = """SVM-light Version V6.20
0 # kernel type
3 # kernel parameter -d
empty# kernel parameter -u
3 # highest feature index
3 # number of support vectors plus 1
0 # threshold b, each following line is a SV (starting with alpha*y)
1 1:0.25 3:1e-3 #
0.5 qid:1 1:0.5 2:-4 # a comment
"""


def write(path: Path | str, content: Any, **more: Any) -> Path:
    """Write text or bytes (gzipped for `.gz`), an array as npy, or named columns as any table."""
    path = Path(path)
    if path.suffix == ".npz":
        np.savez(path, **content)
    elif path.suffix == ".npy":
        np.save(path, content)
    elif path.suffix == ".parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table(content) if isinstance(content, dict) else content, path, **more)
    else:
        if isinstance(content, dict):
            rows = zip(*(np.asarray(column).tolist() for column in content.values()), strict=True)
            lines = [",".join(content), *(",".join(map(str, row)) for row in rows)]
            content = "\n".join(lines) + "\n"
        content = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path
