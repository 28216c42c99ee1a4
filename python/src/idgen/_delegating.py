"""What lazy handles and the generators of idgen.testing share: the methods of a Generator, of one that they hold."""

from __future__ import annotations

from ._core import Generator

TYPE_CHECKING = False  # as in __init__.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, Concatenate, ParamSpec, TypeVar

    from typing_extensions import Self

    from ._core import Layout, TextPattern

    _Arguments = ParamSpec("_Arguments")
    _Result = TypeVar("_Result")


def _delegated(
    method: Callable[Concatenate[Generator, _Arguments], _Result],
) -> Callable[Concatenate[Delegating, _Arguments], _Result]:
    """The same method. A function of the class, so that ``handle.method`` opens nothing, outlives a fork, and can be
    pickled.
    """

    def call(self: Delegating, /, *arguments: _Arguments.args, **keywords: _Arguments.kwargs) -> _Result:
        result: _Result = self._call(method, *arguments, **keywords)
        return result

    call.__name__ = call.__qualname__ = method.__name__
    call.__doc__ = method.__doc__
    return call


class Delegating:
    __slots__ = ()

    def get(self) -> Generator:
        raise NotImplementedError

    def _call(self, method: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
        return method(self.get(), *arguments, **keywords)

    next = _delegated(Generator.next)
    try_next = _delegated(Generator.try_next)
    next_text = _delegated(Generator.next_text)
    next_batch = _delegated(Generator.next_batch)
    next_list = _delegated(Generator.next_list)
    fill = _delegated(Generator.fill)
    next_for = _delegated(Generator.next_for)
    next_batch_for = _delegated(Generator.next_batch_for)
    next_for_each = _delegated(Generator.next_for_each)
    next_wide_for = _delegated(Generator.next_wide_for)
    next_wide_for_each = _delegated(Generator.next_wide_for_each)
    next_block = _delegated(Generator.next_block)
    decode = _delegated(Generator.decode)
    decode_array = _delegated(Generator.decode_array)
    describe = _delegated(Generator.describe)
    stats = _delegated(Generator.stats)
    close = _delegated(Generator.close)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> int:
        return self.next()

    @property
    def layout(self) -> Layout:
        """The generator's Layout."""
        return self.get().layout

    @property
    def text_pattern(self) -> TextPattern:
        """The TextPattern by which next_text writes ids."""
        return self.get().text_pattern

    @property
    def name(self) -> str:
        """The property name."""
        return self.get().name

    @property
    def kind(self) -> str:
        """'snowflake', 'segment', 'business' or 'serial'."""
        return self.get().kind

    @property
    def closed(self) -> bool:
        """True once close was called."""
        return self.get().closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None, /
    ) -> None:
        self.close()
