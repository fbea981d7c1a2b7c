"""From numba's LLVM assembly to the machine code of a unit, optimised as a whole.

Numba compiles function by function, and counts references to every array that it hands on: nine calls in ten
of its code. The arrays of kernels are views of memory that others own, so there is nothing to count. Without
these calls, and with all functions in sight of each other, the same code runs a third faster.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, Final

_COUNTING: Final = re.compile(r"^\s*(?:tail )?call void @NRT_(?:incref|decref)\(.*\n", re.MULTILINE)

_FREE: Final = re.compile(r"^declare void @NRT_MemInfo_call_dtor\(([\w*]+).*$", re.MULTILINE)
_NEVER: Final = r"""declare void @abort()

define linkonce_odr void @NRT_MemInfo_call_dtor(\1) {
  call void @abort()
  unreachable
}"""


def module_of(texts: Sequence[str], symbols: Collection[str]) -> Any:
    """An LLVM module of all texts of assembly in which others see ``symbols`` only."""
    import llvmlite.binding as llvm

    linked = llvm.parse_assembly(_standing_alone(texts[0]))
    for text in texts[1:]:
        linked.link_in(llvm.parse_assembly(_standing_alone(text)))
    for value in (*linked.functions, *linked.global_variables):
        if not value.is_declaration and value.name not in symbols:
            value.linkage = "internal"
    if hasattr(llvm, "create_pass_builder"):  # llvmlite before 0.44 leaves it as numba has made it
        options = llvm.create_pipeline_tuning_options(3)
        options.loop_vectorization = True
        options.slp_vectorization = False  # as numba has it
        builder = llvm.create_pass_builder(_target(reloc="pic", codemodel="default"), options)
        builder.getModulePassManager().run(linked, builder)
    return linked


def compiled(module: Any, **options: Any) -> bytes:
    """The object code of a module for this processor."""
    code: bytes = _target(**options).emit_object(module)
    return code


def _standing_alone(text: str) -> str:
    """LLVM assembly that needs the C library only. Numba declares a function of its own runtime to free
    memory; the kernels allocate none, so it is never called, and nobody counts references."""
    return _COUNTING.sub("", _FREE.sub(_NEVER, text, count=1))


def _target(**options: Any) -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        jit=options["reloc"] == "static",
        **options,
    )
