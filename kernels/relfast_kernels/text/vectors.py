"""Blocks of 64 bytes as values: `load` one, ask it where bytes are, loop over the places.

    block = load(data, at)                      # zeros after the end of the array
    places = equal(block, BAR) | within(block, 0, 31)
    while places != 0:
        place = at + first(places)
        places &= places - np.uint64(1)

In compiled code a block is LLVM's ``<64 x i8>``, which becomes the instructions of whatever processor it is
compiled for; in plain Python it is `bytes`. As `load` never reads past the end of an array, no loop needs a
second one for the tail and no buffer needs padding; but an end *within* the array is the caller's to heed
(see `relfast_kernels.text.find.find_either`). Load all blocks that a loop needs before the first branch: on a
processor without AVX-512 single bits that live across a branch take a register each.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np

from relfast_kernels.compiled.jit import BUILDING, COMPRESSES, Ir, step
from relfast_kernels.entry import Bytes

WIDTH: Final = 64
"""Bytes of a block; also what `first` returns if there is no place."""

Block: TypeAlias = bytes
"""A block, as plain Python has it."""

if not BUILDING:

    def load(data: Bytes, at: int) -> Block:
        """The block at ``at`` of an array of bytes, zeros after its end."""
        return bytes(data[at : at + WIDTH]).ljust(WIDTH, b"\0")

    def store(block: Block, out: Bytes, to: int) -> None:
        """Write a whole block to ``to``; the caller makes sure that there is room for all of it."""
        out[to : to + WIDTH] = block if isinstance(out, bytearray) else np.frombuffer(block, np.uint8)

    @lru_cache(maxsize=256)
    def _digits(least: int, most: int) -> bytes:
        """For each byte the digit 1 if it is one of those sought, else 0."""
        return bytes(48 + ((byte - least) & 255 <= (most - least) & 255) for byte in range(256))

    def within(block: Block, least: int, most: int) -> np.uint64:
        """A bit (of a uint64) for each place that holds a byte from ``least`` to ``most``, the first place
        lowest; if ``most`` is the smaller one, the range wraps around from 255 to 0."""
        return np.uint64(int(block[::-1].translate(_digits(int(least), int(most))), 2))

    def equal(block: Block, byte: int) -> np.uint64:
        """A bit (of a uint64) for each place that holds a byte, the first place lowest."""
        return within(block, byte, byte)

    _LOWER: Final = bytes(byte | 32 for byte in range(256))

    def lower(block: Block) -> Block:
        """A block with bit 5 set in each byte: ASCII letters in lower case (other bytes change too)."""
        return block.translate(_LOWER)

    def lowered(block: Block) -> Block:
        """A block with its ASCII letters in lower case."""
        return block.lower()

    def replaced(block: Block, places: np.uint64, byte: int) -> Block:
        """A block with a byte in some places."""
        return bytes(byte if int(places) >> k & 1 else block[k] for k in range(WIDTH))

    def only(block: Block, places: np.uint64) -> Block:
        """The bytes of a block in some places, one behind the other; what comes after them is any."""
        kept = bytes(block[k] for k in range(WIDTH) if int(places) >> k & 1)
        return kept.ljust(WIDTH, b"\0")

    def count(places: np.uint64) -> int:
        """How many bits are set."""
        return int(places).bit_count()

    def last(places: np.uint64) -> int:
        """The index of the highest bit that is set, or -1."""
        return int(places).bit_length() - 1

    def first(places: np.uint64) -> int:
        """The index of the lowest bit that is set, or `WIDTH`."""
        bits = int(places)
        return (bits & -bits).bit_length() - 1 if bits else WIDTH

    def fold(one: np.uint64, other: np.uint64) -> np.uint64:
        """The product of two numbers (uint64) as 128 bits, its high half xor its low half."""
        product = int(one) * int(other)
        return np.uint64((product ^ product >> 64) & 0xFFFF_FFFF_FFFF_FFFF)

else:
    from inspect import Parameter, Signature

    from llvmlite import ir
    from llvmlite.binding import get_host_cpu_features
    from numba import config, types
    from numba.core import cgutils
    from numba.extending import intrinsic, models, register_model

    _BYTE, _PLACES = ir.IntType(8), ir.IntType(64)
    _VECTOR, _CHOICE = ir.VectorType(_BYTE, WIDTH), ir.VectorType(ir.IntType(1), WIDTH)

    class _Block(types.Type):  # type: ignore[misc]
        # numba's type of a block; not without code, as sources are compared without comments
        def __init__(self) -> None:
            super().__init__("Block")

    class _Model(models.PrimitiveModel):  # type: ignore[misc]
        def __init__(self, manager: Ir, kind: Ir) -> None:
            super().__init__(manager, kind, _VECTOR)

    _BLOCK: Final = _Block()
    register_model(_Block)(_Model)

    def _made(result: Ir, *declared: Ir) -> Ir:
        """An intrinsic from a function of (builder, values), whose types are declared; None: any array."""

        def decorate(emit: Ir) -> Ir:
            def typing(_: Ir, *given: Ir) -> Ir:
                kinds = [own if kind is None else kind for kind, own in zip(declared, given, strict=True)]

                def code(context: Ir, builder: Ir, signature: Ir, values: Ir) -> Ir:
                    arrays = [
                        context.make_array(own)(context, builder, value) if kind is None else value
                        for kind, own, value in zip(declared, signature.args, values, strict=True)
                    ]
                    return emit(builder, *arrays)

                return result(*kinds), code

            # numba takes no variable number of arguments here
            names = ("context", *(f"a{k}" for k in range(len(declared))))
            named: Ir = typing
            named.__signature__ = Signature([Parameter(a, Parameter.POSITIONAL_OR_KEYWORD) for a in names])
            return intrinsic(named)

        return decorate

    def _number(value: int) -> Ir:
        return ir.Constant(_PLACES, value)

    def _pointer(builder: Ir, data: Ir, at: Ir) -> Ir:
        return builder.bitcast(builder.gep(data, [at]), _VECTOR.as_pointer())

    def _spread(builder: Ir, byte: Ir) -> Ir:
        one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), byte, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), None)
        return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), zeros)

    @_made(_BLOCK, None, types.int64)
    def load(builder: Ir, data: Ir, at: Ir) -> Ir:
        """See the plain one."""
        left = builder.sub(data.nitems, at)
        room = cgutils.alloca_once(builder, _VECTOR)
        whole = builder.icmp_signed(">=", left, _number(WIDTH))
        with builder.if_else(whole, likely=True) as (then, otherwise):
            with then:
                block = builder.load(_pointer(builder, data.data, at), align=1)
                there = builder.block
            with otherwise:
                builder.store(ir.Constant(_VECTOR, None), room)
                some = builder.select(builder.icmp_signed(">", left, _number(0)), left, _number(0))
                to = builder.bitcast(room, _BYTE.as_pointer())
                cgutils.raw_memcpy(builder, to, builder.gep(data.data, [at]), some, 1)
                part = builder.load(room)
                here = builder.block
        found = builder.phi(_VECTOR)
        found.add_incoming(block, there)
        found.add_incoming(part, here)
        return found

    @_made(types.void, _BLOCK, None, types.int64)
    def store(builder: Ir, block: Ir, out: Ir, to: Ir) -> Ir:
        """See the plain one."""
        builder.store(block, _pointer(builder, out.data, to), align=1)
        return ir.Constant(_BYTE.as_pointer(), None)

    @_made(types.uint64, _BLOCK, types.uint8, types.uint8)
    def within(builder: Ir, block: Ir, least: Ir, most: Ir) -> Ir:
        """See the plain one."""
        above = builder.sub(block, _spread(builder, least))
        hits = builder.icmp_unsigned("<=", above, _spread(builder, builder.sub(most, least)))
        return builder.bitcast(hits, _PLACES)

    @_made(types.uint64, _BLOCK, types.uint8)
    def equal(builder: Ir, block: Ir, byte: Ir) -> Ir:
        """See the plain one."""
        return builder.bitcast(builder.icmp_unsigned("==", block, _spread(builder, byte)), _PLACES)

    @_made(_BLOCK, _BLOCK)
    def lower(builder: Ir, block: Ir) -> Ir:
        """See the plain one."""
        return builder.or_(block, ir.Constant(_VECTOR, [32] * WIDTH))

    @_made(_BLOCK, _BLOCK)
    def lowered(builder: Ir, block: Ir) -> Ir:
        """See the plain one."""
        above = builder.sub(block, ir.Constant(_VECTOR, [65] * WIDTH))
        is_capital = builder.icmp_unsigned("<", above, ir.Constant(_VECTOR, [26] * WIDTH))
        bits = builder.and_(builder.sext(is_capital, _VECTOR), ir.Constant(_VECTOR, [32] * WIDTH))
        return builder.or_(block, bits)

    @_made(_BLOCK, _BLOCK, types.uint64, types.uint8)
    def replaced(builder: Ir, block: Ir, places: Ir, byte: Ir) -> Ir:
        """See the plain one."""
        return builder.select(builder.bitcast(places, _CHOICE), _spread(builder, byte), block)

    @_made(_BLOCK, _BLOCK, types.int64)
    def _without(builder: Ir, block: Ir, place: Ir) -> Ir:
        # a block with the bytes behind a place moved to it by one
        behind = builder.bitcast(builder.shl(_number(-1), place), _CHOICE)
        following = [*range(1, WIDTH), WIDTH - 1]
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), following)
        return builder.select(behind, builder.shuffle_vector(block, block, lanes), block)

    @_made(_BLOCK, _BLOCK, types.uint64)
    def _compressed(builder: Ir, block: Ir, places: Ir) -> Ir:
        kind = ir.FunctionType(_VECTOR, [_VECTOR, _VECTOR, _CHOICE])
        compress = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx512.mask.compress.v64i8")
        return builder.call(compress, [block, block, builder.bitcast(places, _CHOICE)])

    @_made(types.boolean)
    def _compresses(builder: Ir) -> Ir:
        # a function, so that `builder.emitted` can have it say no for other processors
        flag = ir.IntType(1)
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(flag, []), COMPRESSES)
        if function.is_declaration:
            function.linkage = "linkonce_odr"
            function.attributes.add("alwaysinline")
            own = not config.CPU_NAME and get_host_cpu_features().get("avx512vbmi2", False)
            ir.IRBuilder(function.append_basic_block()).ret(flag(int(own)))
        return builder.call(function, [])

    @step
    def only(block: Block, places: np.uint64) -> Block:
        """See the plain one."""
        if _compresses():
            block = _compressed(block, places)
        else:
            one = np.uint64(1)
            gaps = ~places & ((one << np.uint64(last(places | one))) - one)
            # from the last one on, so that places before it stay
            while gaps != 0:
                place = last(gaps)
                gaps ^= one << np.uint64(place)
                block = _without(block, place)
        return block

    @_made(types.int64, types.uint64)
    def count(builder: Ir, places: Ir) -> Ir:
        """See the plain one."""
        return builder.ctpop(places)

    @_made(types.int64, types.uint64)
    def last(builder: Ir, places: Ir) -> Ir:
        """See the plain one."""
        return builder.sub(_number(WIDTH - 1), builder.ctlz(places, ir.Constant(ir.IntType(1), 0)))

    @_made(types.int64, types.uint64)
    def first(builder: Ir, places: Ir) -> Ir:
        """See the plain one."""
        # if no bit is set, `WIDTH` zeros are counted
        return builder.cttz(places, ir.Constant(ir.IntType(1), 0))

    @_made(types.uint64, types.uint64, types.uint64)
    def fold(builder: Ir, one: Ir, other: Ir) -> Ir:
        """See the plain one."""
        double = ir.IntType(128)
        product = builder.mul(builder.zext(one, double), builder.zext(other, double))
        high = builder.lshr(product, ir.Constant(double, 64))
        return builder.trunc(builder.xor(product, high), _PLACES)
