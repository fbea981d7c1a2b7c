"""Vectors of 64 bytes, for loops that end at the first hit: LLVM does not vectorise those by itself.

Loads and comparisons of whole vectors, which LLVM turns into the instructions of whatever processor it
compiles for. The caller makes sure that the bytes are there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np

from relfast_kernels.compiled.jit import BUILDING

WIDTH: Final = 64
"""Bytes of a vector; also what `lowest` returns if there is no place."""

if not BUILDING:

    @lru_cache(maxsize=256)
    def _digits(least: int, span: int, other: int) -> bytes:
        """For each byte the digit 1 if it is one of those sought, else 0."""
        return bytes(48 + ((byte - least) & 255 <= span or byte == other) for byte in range(256))

    def _places(data: Any, at: int, digits: bytes) -> Any:
        return np.uint64(int(bytes(data[at : at + WIDTH])[::-1].translate(digits), 2))

    def places_of(data: Any, at: int, one: int, other: int) -> Any:
        """A bit for each place in the vector at ``at`` that holds one of two bytes, the first one lowest."""
        return _places(data, at, _digits(one, 0, other))

    def places_within(data: Any, at: int, least: int, most: int) -> Any:
        """A bit for each place in the vector at ``at`` that holds a byte from ``least`` to ``most``; if
        ``most`` is the smaller one, the range wraps around from 255 to 0."""
        return _places(data, at, _digits(least, (most - least) & 255, least))

    def lowest(places: Any) -> int:
        """The index of the lowest bit that is set, or `WIDTH`."""
        bits = int(places)
        return (bits & -bits).bit_length() - 1 if bits else WIDTH

    def copy_vector(data: Any, at: int, out: Any, to: int) -> int:
        """Copy the vector at ``at`` to ``to``; the offset after it there."""
        out[to : to + WIDTH] = data[at : at + WIDTH]
        return to + WIDTH

    def fold(one: Any, other: Any) -> Any:
        """The product of two numbers (uint64) as 128 bits, its high half xor its low half."""
        product = int(one) * int(other)
        return np.uint64((product ^ product >> 64) & 0xFFFF_FFFF_FFFF_FFFF)

else:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    _BYTE = ir.IntType(8)
    _PLACE = ir.IntType(64)
    _VECTOR = ir.VectorType(_BYTE, WIDTH)

    def _pointer(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
        data = context.make_array(array_type)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [at]), _VECTOR.as_pointer())

    def _spread(builder: Any, byte: Any) -> Any:
        one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), byte, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), None)
        return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), zeros)

    @intrinsic
    def places_of(typing: Any, data: Any, at: Any, one: Any, other: Any) -> Any:
        """A bit for each place in the vector at ``at`` that holds one of two bytes, the first one lowest."""

        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            array, at, one, other = values
            vector = builder.load(_pointer(context, builder, signature.args[0], array, at), align=1)
            hits = builder.or_(
                builder.icmp_unsigned("==", vector, _spread(builder, one)),
                builder.icmp_unsigned("==", vector, _spread(builder, other)),
            )
            return builder.bitcast(hits, _PLACE)

        return types.uint64(data, types.int64, types.uint8, types.uint8), code

    @intrinsic
    def lowest(typing: Any, places: Any) -> Any:
        """The index of the lowest bit that is set, or `WIDTH`."""

        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            # if no bit is set, `WIDTH` zeros are counted
            return builder.cttz(values[0], ir.Constant(ir.IntType(1), 0))

        return types.int64(types.uint64), code

    @intrinsic
    def places_within(typing: Any, data: Any, at: Any, least: Any, most: Any) -> Any:
        """A bit for each place in the vector at ``at`` that holds a byte from ``least`` to ``most``; if
        ``most`` is the smaller one, the range wraps around from 255 to 0."""

        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            array, at, least, most = values
            vector = builder.load(_pointer(context, builder, signature.args[0], array, at), align=1)
            above = builder.sub(vector, _spread(builder, least))
            hits = builder.icmp_unsigned("<=", above, _spread(builder, builder.sub(most, least)))
            return builder.bitcast(hits, _PLACE)

        return types.uint64(data, types.int64, types.uint8, types.uint8), code

    @intrinsic
    def copy_vector(typing: Any, data: Any, at: Any, out: Any, to: Any) -> Any:
        """Copy the vector at ``at`` to ``to``; the offset after it there."""

        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            array, at, out, to = values
            vector = builder.load(_pointer(context, builder, signature.args[0], array, at), align=1)
            builder.store(vector, _pointer(context, builder, signature.args[2], out, to), align=1)
            return builder.add(to, ir.Constant(_PLACE, WIDTH))

        return types.int64(data, types.int64, out, types.int64), code

    @intrinsic
    def fold(typing: Any, one: Any, other: Any) -> Any:
        """The product of two numbers (uint64) as 128 bits, its high half xor its low half."""

        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            double = ir.IntType(128)
            product = builder.mul(builder.zext(values[0], double), builder.zext(values[1], double))
            high = builder.lshr(product, ir.Constant(double, 64))
            return builder.trunc(builder.xor(product, high), _PLACE)

        return types.uint64(types.uint64, types.uint64), code
