"""The one list of kernels by name."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..errors import InputError
from .gaussian import Gaussian
from .kernel import Kernel, Linear
from .laplacian import Laplacian

LINEAR = "linear"  # The name of the kernel whose functions are linear in the features.

# Classes that take a gamma or nothing. To add one, write a file and enter it.
KERNELS: dict[str, Any] = {LINEAR: Linear, "rbf": Gaussian, "laplacian": Laplacian}

# Takes the place of a kernel's name where the data are the kernel matrix itself.
PRECOMPUTED = "precomputed"


def kernel_names() -> tuple[str, ...]:
    """Return the names that a caller may use."""
    return (*KERNELS, PRECOMPUTED)


def get_kernel(kernel: str | Kernel, gamma: float | None = None, dim: int | None = None) -> Kernel:
    """Return the kernel of that name, or the user's own kernel unchanged."""
    check_kernel_name(kernel, gamma)
    if not isinstance(kernel, str):
        return kernel
    if kernel not in KERNELS:
        raise InputError(f"the {kernel} kernel has no formula: its matrix is given")
    make = KERNELS[kernel]
    if not fields(make):
        return make()
    if gamma is None:
        if not dim:
            raise InputError(f"the {kernel} kernel needs a gamma > 0")
        gamma = 1.0 / dim
    return make(gamma)


def check_kernel_name(kernel: object, gamma: float | None = None) -> None:
    """Raise `InputError` unless `kernel` is one of the names, or has the methods of a kernel."""
    if isinstance(kernel, str):
        if kernel not in kernel_names():
            names = ", ".join(kernel_names())
            raise InputError(f"unknown kernel {kernel!r}: choose one of {names}")
        return
    wanted = ("__call__", "diagonal", "noise")
    missing = [part for part in wanted if not callable(getattr(kernel, part, None))]
    if missing or isinstance(kernel, type):
        lacks = f"lacks {missing[0]}" if missing else "is a class: make one of it"
        raise InputError(
            f"unknown kernel {kernel!r}: take a name, or an object with {', '.join(wanted)} "
            f"(it {lacks})"
        )
    if gamma is not None:
        raise InputError("gamma is for a kernel that is named: give it to your own one yourself")
