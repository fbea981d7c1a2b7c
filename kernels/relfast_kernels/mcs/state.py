"""Where a search keeps what: its workspace, one int64 array."""

from __future__ import annotations

from typing import Final

from relfast_kernels.smiles.layouts import MAX_ATOMS, SECTION

IMAGE: Final = 0
"""For each query atom that is matched its image."""
BEST_IMAGE: Final = SECTION
"""For each query atom its image in the best solution so far, -1 without."""
KEYS: Final = 2 * SECTION
BEST_BONDS: Final = 3 * SECTION
BEST_ATOMS: Final = BEST_BONDS + 1
N_CLASSES: Final = BEST_BONDS + 2
N_LABELS: Final = BEST_BONDS + 3
STEPS: Final = BEST_BONDS + 4
"""States that were looked at."""
FRAMES: Final = BEST_BONDS + 16
"""A frame for each state on the way to the present one; all of its fields but the last are masks."""

OPEN: Final = 0
"""Query bonds that may still be matched."""
DELETED: Final = 1
"""Query bonds that must not come true: what has them was searched before."""
TOUCHED: Final = 2
"""Query bonds at matched atoms."""
MATCHED: Final = 3
"""Query atoms with an image."""
FREE: Final = 4
"""Target bonds that may still become images."""
TOUCHED_THERE: Final = 5
"""Target bonds at images."""
IMAGES: Final = 6
"""Target atoms that are images."""
CANDIDATES: Final = 7
"""Target bonds to be tried as images of the bond that is branched on."""
BOND: Final = 8
"""The query bond that is branched on, -1 before it has been chosen."""
ANCHOR: Final = 9
"""Its end that has an image."""
N_MATCHED: Final = 10
"""Bonds that have an image."""
FORCED: Final = 11
"""Not 0 where deleting the bond can gain nothing."""
COMMON: Final = 12
"""The query bonds that have an image."""
FRAME_SIZE: Final = 13

ORBITS: Final = FRAMES + (MAX_ATOMS + 2) * FRAME_SIZE
"""Space for finding symmetries (`relfast_kernels.mcs.orbits`)."""
STATE_SIZE: Final = ORBITS + 5 * SECTION
