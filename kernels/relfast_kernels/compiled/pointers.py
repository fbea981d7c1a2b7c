"""What lies at an address that came in as a number."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


@intrinsic
def pointer(typing: Any, address: Any) -> Any:
    """The pointer that an int64 stands for."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.inttoptr(values[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), code
