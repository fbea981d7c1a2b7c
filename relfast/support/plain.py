"""The base of plain data classes, which keeps ``import relfast`` fast.

`dataclasses` generates and compiles ``__init__``, ``__repr__`` and ``__eq__`` for each class, which takes a
good part of a short run. Only ``__init__`` is called often. With ``@dataclass(slots=True, repr=False,
eq=False)`` a subclass of `Plain` compiles only that one, and inherits the two others.
"""

from __future__ import annotations

from typing import Any, ClassVar


class Plain:
    """``repr`` and ``==`` by the fields, as a dataclass has them; not hashable, since it is mutable."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __repr__(self) -> str:
        fields = self.__dataclass_fields__
        shown = (f"{name}={getattr(self, name)!r}" for name, field in fields.items() if field.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        fields = self.__dataclass_fields__
        names = [name for name, field in fields.items() if field.compare]
        # compared as lists, as dataclasses compare tuples: identical objects (a NaN, say) count as equal
        return [getattr(self, name) for name in names] == [getattr(other, name) for name in names]
