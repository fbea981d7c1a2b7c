"""What machine code gets for a struct of `relfast_kernels.entry`; needs numba, in a process that builds."""

from __future__ import annotations

from typing import Any

import numba
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj

from relfast_kernels.compiled.jit import Ir
from relfast_kernels.entry import ArrayField, InnerField, Kind, Struct, dtype_of, fields_of


def view_of(struct: type[Struct]) -> Any:
    """A function for kernels: from the address of a struct to what `plain_views.view` returns."""
    made = _type_of(struct)

    @intrinsic
    def view(typing: Ir, address: Ir) -> Any:
        def code(context: Ir, builder: Ir, signature: Ir, values: Ir) -> Any:
            return _loaded(context, builder, struct, values[0])

        return made(types.voidptr), code

    return view


def _type_of(kind: Kind) -> Any:
    """Numba's type of a kind of field, or of a struct."""
    if isinstance(kind, ArrayField):
        return types.Array(_type_of(kind.kind), len(kind.shape), "C")
    if isinstance(kind, InnerField):
        return _type_of(kind.kind)
    if not getattr(kind, "held", ()):
        return numba.from_dtype(dtype_of(kind))
    return types.NamedTuple([*map(_type_of, kind.declared.values())], fields_of(kind))


def _loaded(context: Ir, builder: Ir, struct: type[Struct], place: Ir) -> Any:
    """LLVM: what a kernel gets for the struct at a pointer."""
    made = _type_of(struct)
    if not struct.held:
        return builder.bitcast(place, context.get_value_type(made))

    def pointer_to(name: str, kind: Kind) -> Any:
        wanted = context.get_data_type(kind).as_pointer()
        return cgutils.pointer_add(builder, place, getattr(struct, name).offset, wanted)

    def number(name: str, kind: Kind) -> Any:
        return builder.load(pointer_to(name, kind))

    values = []
    for (name, field), kind in zip(struct.declared.items(), made.types, strict=True):
        if isinstance(field, ArrayField):
            shape = [
                number(n, types.int64) if isinstance(n, str) else context.get_constant(types.int64, n)
                for n in field.shape
            ]
            values.append(_array(context, builder, kind, number(field.at, types.int64), shape))
        elif isinstance(field, InnerField):
            inner = builder.inttoptr(number(field.at, types.int64), place.type)
            values.append(_loaded(context, builder, field.kind, inner))
        elif isinstance(kind, types.Record):  # in place
            inner = cgutils.pointer_add(builder, place, getattr(struct, name).offset)
            values.append(builder.bitcast(inner, context.get_value_type(kind)))
        else:
            values.append(number(name, kind))
    return context.make_tuple(builder, made, values)


def _array(context: Ir, builder: Ir, kind: Kind, address: Ir, shape: list[Any]) -> Any:
    """LLVM: an array at an address, as `numba.carray` makes it."""
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides = [size]
    for n in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], n))
    data = builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer())
    array = arrayobj.make_array(kind)(context, builder)
    arrayobj.populate_array(array, data, shape, strides, size, None)
    return array._getvalue()
