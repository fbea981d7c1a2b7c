"""What Python hands to a kernel, declared once, by name: a `Struct` is memory to Python, arrays to a kernel.

    class Line(Struct):  # numbers only, so a record: it may be a row of an array
        start: int = Int
        end: int = Int

    class Block(Struct):
        n_bytes: int = Int
        n_lines: int = Int
        data: Bytes = Const(Byte, "n_bytes")       # never written to: bytes will do
        lines: Rows[Line] = Array(Line, "n_lines")  # the fields that its shape names are set with it
        golds: Golds = Inner(Golds)                 # another struct

    @kernel
    def scan(block: Block) -> int: ...  # block.lines[k].start = at

    ENTRIES = {"scan": (scan, Block)}

    block = Block(data=text, lines=rows_of(Line, 100), golds=golds)
    native.functions("text")["scan"](block)

A name that is misspelt is an error of mypy, of a build, and of plain Python. A struct keeps what it was given
alive, and no function takes it before it has all its arrays.

Importing this loads neither numba nor numpy. What a kernel gets for a struct `relfast_kernels.compiled.views`
makes in machine code, and `relfast_kernels.compiled.plain_views` in plain Python.
"""

from __future__ import annotations

import ctypes
from array import array
from collections import namedtuple
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, Self, TypeAlias, TypeVar, cast, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Buffer: TypeAlias = Any
    """An array of numbers; in plain Python, where they are faster, also bytes, a bytearray or a list."""
    Ints = NDArray[np.int64]
    Ints32 = NDArray[np.int32]
    Ints8 = NDArray[np.int8]
    Bytes = NDArray[np.uint8]
    Words = NDArray[np.uint64]
    Doubles = NDArray[np.float64]
    Singles = NDArray[np.float32]
    _Structure: TypeAlias = object
    _StructureType: TypeAlias = type
else:
    _Structure, _StructureType = ctypes.Structure, type(ctypes.Structure)
    # names of types only, as importing this must not load numpy
    Buffer = Ints = Ints32 = Ints8 = Bytes = Words = Doubles = Singles = "an array"

Kind: TypeAlias = Any
"""What a field is declared with: a type of ctypes. Its static type is that of what the field holds."""
Value: TypeAlias = Any
"""What a field holds: a number, an array or its like, a struct."""

Int: Kind = ctypes.c_int64
Int32: Kind = ctypes.c_int32
Int8: Kind = ctypes.c_int8
Byte: Kind = ctypes.c_uint8
Word: Kind = ctypes.c_uint64
Float: Kind = ctypes.c_double
Float32: Kind = ctypes.c_float
"""Kinds of numbers: of a field, or of an array's items. ``Int * 8`` is a field of eight numbers in place."""

_CODES: Final[Mapping[Kind, str]] = {
    Int: "lq", Int32: "i", Int8: "b", Byte: "B", Word: "LQ", Float: "d", Float32: "f"
}  # fmt: skip
"""The type codes that `numpy.dtype.char` and `array.array` may have for each."""

T = TypeVar("T")
S = TypeVar("S", covariant=True)


class Rows(Protocol[S]):
    """An array of records."""

    @overload
    def __getitem__(self, index: int) -> S: ...
    @overload
    def __getitem__(self, index: slice) -> Rows[S]: ...
    def __len__(self) -> int: ...


class HeldField:
    """A field whose value lies elsewhere: the struct has its address, in the field ``at_`` and its name."""

    name: str
    at: str
    shape: tuple[int | str, ...] = ()
    pointer: Kind = Int

    def __get__(self, struct: Struct | None, owner: object = None) -> Any:
        return self if struct is None else struct._kept[self.name]

    def __set__(self, struct: Struct, value: Value) -> None:
        struct.put(**{self.name: value})

    def place_of(self, value: Value) -> tuple[Any, tuple[int, ...]]:
        """The address of a value (bytes are theirs), and its shape. Raises `TypeError` for another kind."""
        raise NotImplementedError


class ArrayField(HeldField):
    def __init__(self, kind: Kind, *shape: int | str, const: bool = False) -> None:
        self.kind, self.shape, self.const = kind, shape, const
        self.codes = _CODES.get(kind, "")
        self.sizes = [size for size in shape if isinstance(size, str)]
        self.is_text = False
        """Whether bytes can be entered, with a size that no other array of the struct has."""
        if kind is Byte:
            self.pointer = ctypes.c_char_p  # which takes bytes

    def place_of(self, value: Value) -> tuple[Any, tuple[int, ...]]:
        try:  # a third of the time of ``value.ctypes.data``
            if value.dtype.char in self.codes:
                return ctypes.addressof(ctypes.c_char.from_buffer(value)), value.shape
        except (AttributeError, TypeError, ValueError):  # no array, or a read-only or empty one
            pass
        return self._place_of_other(value)

    def __set__(self, struct: Struct, value: Value) -> None:
        if self.is_text and value.__class__ is bytes and struct.arguments is not None:
            # what reward calls do for each response
            setattr(struct, self.at, value)
            setattr(struct, self.sizes[0], len(value))
            struct._kept[self.name] = value
        else:
            struct.put(**{self.name: value})

    def _place_of_other(self, value: Value) -> tuple[Any, tuple[int, ...]]:
        found: Value = type(value).__name__
        if isinstance(value, ctypes.Array):
            item: Kind = value._type_
            shape = [len(value)]
            while issubclass(item, ctypes.Array):
                shape.append(item._length_)
                item = item._type_
            found = item.__name__
            if item is self.kind or (self.kind is Byte and item is ctypes.c_char):
                return ctypes.addressof(value), tuple(shape)
        elif isinstance(value, bytes):
            if self.const and self.kind is Byte:
                return value, (len(value),)
        elif isinstance(value, array):
            found = value.typecode
            if found in self.codes:
                return value.buffer_info()[0], (len(value),)
        elif hasattr(value, "dtype"):
            found = value.dtype
            if found.char in self.codes if self.codes else found == dtype_of(self.kind):
                if not value.flags.c_contiguous:
                    raise ValueError(f"{self.name}: the array is not contiguous")
                if not (value.flags.writeable or self.const):
                    raise ValueError(f"{self.name}: the array is read-only, and kernels write to it")
                return value.ctypes.data, value.shape
        raise TypeError(f"{self.name} is an array of {self.kind.__name__}, not {found}")


class InnerField(HeldField):
    def __init__(self, kind: type[Struct]) -> None:
        self.kind = kind

    def place_of(self, value: Value) -> tuple[Any, tuple[int, ...]]:
        if type(value) is not self.kind or value.arguments is None:
            raise TypeError(f"{self.name} is a whole {self.kind.__name__}, not {value!r}")
        return value.address, ()


def Array(kind: Kind, *shape: int | str) -> Any:
    """A field that is an array of numbers, or of records, of a shape of numbers and names of fields."""
    return ArrayField(kind, *shape)


def Const(kind: Kind, *shape: int | str) -> Any:
    """`Array` that kernels only read, so that its caller may bring bytes or a read-only array."""
    return ArrayField(kind, *shape, const=True)


def Inner(kind: type[T]) -> Any:
    """A field that is another struct; one of numbers only lies in place, and kernels may write to it."""
    return InnerField(cast(Any, kind)) if cast(Any, kind).held else kind


class _Declared(_StructureType):
    """The class of a `Struct`: attributes that are kinds of fields become its fields, in their order."""

    def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Kind]) -> Any:
        declared: dict[str, Kind] = {}
        for field, kind in space.items():
            if isinstance(kind, HeldField) or (isinstance(kind, type) and issubclass(kind, _IN_PLACE)):
                declared[field] = kind
            if isinstance(kind, HeldField):
                kind.name, kind.at = field, f"at_{field}"
        held = {field: kind for field, kind in declared.items() if isinstance(kind, HeldField)}
        space = {field: value for field, value in space.items() if field not in declared or field in held}
        fields = [
            (key, kind) if key not in held else (kind.at, kind.pointer) for key, kind in declared.items()
        ]
        if held:
            fields = [("result", Int), ("failure", ctypes.c_void_p), *fields]
        arrays_of: dict[str, list[str]] = {}
        arrays = {field: kind for field, kind in held.items() if isinstance(kind, ArrayField)}
        for field, kind in arrays.items():
            for size in kind.sizes:
                if declared.get(size) is not Int:
                    raise TypeError(f"{name}.{field}: its shape names {size}, which is no Int of {name}")
                arrays_of.setdefault(size, []).append(field)
        for field, kind in arrays.items():
            own = kind.shape == (*kind.sizes,) and [arrays_of[size] for size in kind.sizes] == [[field]]
            kind.is_text = own and kind.const and kind.kind is Byte
        ours = {
            "declared": declared,
            "held": held,
            "arrays_of": arrays_of,
            "_fields_": fields,
            "__slots__": (),
        }
        return super().__new__(cls, name, bases, {**space, **ours})


class _Base(_Structure):
    __slots__ = ("_kept", "arguments")


_IN_PLACE: Final = (ctypes._SimpleCData, ctypes.Array, _Base)


class Struct(_Base, metaclass=_Declared):
    """Numbers, arrays and other structs by name; see the module.

    ``arguments`` are what a function in machine code takes for it: where its result and its failure go, and
    where the struct is; None as long as an array is missing.

    ``put`` enters several at once, as arrays must be that share a size. Raises `TypeError` for an array of
    another kind, `ValueError` for sizes that do not agree, `AttributeError` for a name that is none.
    """

    declared: ClassVar[Mapping[str, Any]]
    held: ClassVar[Mapping[str, HeldField]]
    arrays_of: ClassVar[Mapping[str, list[str]]]
    """Fields by name with their kinds; those of them that lie elsewhere; by size the arrays that have it."""

    def __init__(self, **values: Value) -> None:
        self._kept: dict[str, Value] = {}
        self.arguments: tuple[Any, ...] | None = None
        self.put(**values)

    @property
    def address(self) -> int:
        return ctypes.addressof(cast(Any, self))

    def put(self, **values: Value) -> Self:
        places: list[tuple[str, str, Any]] = []
        sizes: dict[str, int] = {}
        held, kept = self.held, self._kept
        for name, value in values.items():
            field = held.get(name)
            if field is None:
                if name in self.arrays_of:
                    raise TypeError(f"{name} is set with the arrays that it is a size of")
                setattr(self, name, value)
                continue
            place, shape = field.place_of(value)
            places.append((name, field.at, place))
            if len(shape) != len(field.shape):
                raise ValueError(f"{name} has {len(field.shape)} dimensions, not {len(shape)}")
            for size, n in zip(field.shape, shape, strict=True):
                if size.__class__ is str:
                    if sizes.setdefault(size, n) != n:
                        raise ValueError(f"{name} has the shape {shape}, but {size} is {sizes[size]}")
                elif size != n:
                    raise ValueError(f"{name} has the shape {field.shape}, not {shape}")
        for size, n in sizes.items():
            for other in self.arrays_of[size]:
                if other not in values and other in kept and n != getattr(self, size):
                    raise ValueError(f"{size} is {n}, but {getattr(self, size)} in {other}")
        for name, at, place in places:
            setattr(self, at, place)
            kept[name] = values[name]
        for size, n in sizes.items():
            setattr(self, size, n)
        if self.arguments is None and len(kept) == len(held) > 0:
            here, to_failure = self.address, cast(Any, type(self)).failure.offset
            self.arguments = (*map(ctypes.c_void_p, (here, here + to_failure, here)),)
        return self


def rows_of(kind: type[T], n: int, memory: Value = None) -> Rows[T]:
    """An array of ``n`` records or numbers, all zeros, or in ``memory`` (a writable buffer of that size)."""
    array: Value = cast(Any, kind) * n
    found: Rows[T] = array() if memory is None else array.from_buffer(memory)
    return found


class Spare(list[T]):
    """Structs, or what holds one, for one call each at a time: `take` one, and append it after the call."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make

    def take(self) -> T:
        try:
            return self.pop()
        except IndexError:  # every one is in use by another thread
            return self._make()


@cache
def dtype_of(kind: Kind) -> Any:
    """The NumPy type of a kind of number, or of a record."""
    import numpy as np

    return np.dtype(kind)


@cache
def fields_of(struct: type[Struct]) -> Any:
    """The named tuple that kernels get for a struct that is no record."""
    return namedtuple(struct.__name__, list(struct.declared))
