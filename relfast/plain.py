"""What classes of plain data have in common.

`dataclasses` writes and compiles a method of its own for each class and purpose, which is a good part of a
short run. Of plain data only the first of these is called often: ``@dataclass(slots=True, repr=False,
eq=False)`` above a class that is a `Plain` compiles nothing else.
"""

from __future__ import annotations

from typing import Any, ClassVar


class Plain:
    """Shows, and is compared by, its fields, as a dataclass is; not hashable, as it may change."""

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
        # as tuples: what is the same object is equal
        return [getattr(self, name) for name in names] == [getattr(other, name) for name in names]
