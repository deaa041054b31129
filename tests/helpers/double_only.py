"""`pytest -p double_only`: numpy as where `long double` is `double`, as on ARM macOS."""

import numpy as np

np.longdouble = np.float64  # before the library is loaded
