"""What can happen to a dask cluster, in one sentence each."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from distributed import Client, KilledWorker
from distributed.comm import CommClosedError

from ...errors import InputError

# Names of dask's errors that say the same as a lost connection; not all versions have them.
LOST = frozenset({"ClosedClientError", "FutureCancelledError", "FuturesCancelledError"})


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn an error of the cluster into one sentence; let others pass."""
    try:
        yield
    except InputError:
        raise
    except KilledWorker:
        raise InputError(
            "workers of the dask cluster died again and again at the same partition, most often "
            "for want of memory: use smaller partitions, or workers with more memory"
        ) from None
    except (Exception, CancelledError) as error:
        lost = isinstance(error, CancelledError | CommClosedError | OSError | TimeoutError)
        if not (lost or type(error).__name__ in LOST):
            raise
        raise InputError(
            "the dask cluster was lost before its workers had answered: nothing is proved, start "
            "again when it is there"
        ) from None


def threads_of(client: Client) -> dict[str, int]:
    """Return how many threads each worker has, by its address."""
    with one_sentence():
        if client.scheduler is None:  # the client knows it
            raise OSError("no scheduler")
        found: Any = client.nthreads()  # dask's own types fit no use of it
        return dict(found)
