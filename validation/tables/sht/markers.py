"""The genes of [SHT, Tables IV and V] among the columns of the data, where they can be found.

The paper prints names only. Probes of leukemia are named by accession number in the file, and are
matched by it. The file of colon has no names: there the columns are those that the published
programs give for the 2,000 genes in their original order, and cannot be checked by name.
"""

from __future__ import annotations

import numpy as np

# Number in Table IV to probes; 11 (KIAA0220) has none in the programs.
LEUKEMIA = {
    1: "M19507_at", 2: "M22324_at", 3: "M23197_at", 4: "U41813_at", 5: "X13293_at",
    6: "M84371_rna1_s_at", 7: "J03779_at", 8: "X82240_rna1_at", 9: "U22376_cds2_s_at",
    10: "U26266_s_at U79262_at", 12: "M91036_rna1_at", 13: "U01317_cds4_at", 14: "S73591_at",
    15: "M19508_xpt3_s_at", 16: "U66559_at", 17: "D63878_at Z49835_s_at M13560_s_at",
    18: "S53911_at", 19: "L33930_s_at", 20: "D21260_at", 21: "Z83821_cds2_at", 22: "X00274_at",
    23: "U19261_at", 24: "X79536_at", 25: "M96326_rna1_at", 26: "X77737_at", 27: "Z15115_at",
    28: "L06797_s_at", 29: "U62962_at", 30: "K03460_at X68277_at X99325_at X01703_at",
    31: "M11722_at", 32: "U05255_s_at",
}  # fmt: skip

# Number in Table V to columns, the first being 0.
COLON = {
    1: (295, 683, 1235), 2: (451,), 3: (608,), 4: (1041,), 5: (1043,), 6: (1165,), 7: (917, 1279),
    8: (1352,), 9: (1386,), 10: (1393, 1870), 11: (554,), 12: (268,), 13: (146,), 14: (1463,),
    15: (112,), 16: (325,), 17: (137,), 18: (209,), 19: (158, 170, 175), 20: (1143,), 21: (316,),
    22: (225,), 23: (207,), 24: (163,), 25: (701,), 26: (1790,), 27: (534,), 28: (512,),
    29: (1, 2, 282, 613),
}  # fmt: skip


def marker_columns(name: str, names: list[str]) -> dict[int, list[int]]:
    """Return number in the paper's table to columns of the data; without those not found."""
    if name == "colon":
        return {number: list(columns) for number, columns in COLON.items()}
    places = {accession: at for at, accession in enumerate(names)}
    found = {
        number: [places[probe] for probe in probes.split() if probe in places]
        for number, probes in LEUKEMIA.items()
    }
    return {number: columns for number, columns in found.items() if columns}


def ratios(support: np.ndarray, markers: list[int]) -> tuple[float, float]:
    """Return the share of markers among the genes found, and of the markers that were found."""
    if support.size == 0:
        return 0.0, 0.0
    hits = float(np.isin(support, markers).sum())
    return hits / support.size, hits / len(markers)
