"""What calls of the library raise: one class for each kind of refusal, with the library's own text.

A call that raises has changed nothing. A broken rule is no error: it comes as a `Violation` beside the result.
"""


class ScalepoolError(Exception):
    """A call of the library was refused. The text says what was found, what was expected, where.

    `function` is the C function, `status` its answer (`SP_ERR_..` of scalepool.h).
    """

    def __init__(self, text: str, function: str = "", status: int = 0) -> None:
        super().__init__(text)
        self.function = function
        self.status = status


class LibraryError(ScalepoolError, ImportError):
    """The shared library is missing, or its version does not go with this package."""


class InputError(ScalepoolError, ValueError):
    """An input cannot be read: a text, a name, a field, a flit."""


class RangeError(ScalepoolError, ValueError):
    """A number or a length is out of its range."""


class HandleError(ScalepoolError):
    """The object was closed."""


class BusyError(ScalepoolError):
    """Another thread is inside a call with the same object."""


class KindError(ScalepoolError):
    """The object cannot do this: a passive end does not send, an encoder does not decode."""


class InternalError(ScalepoolError):
    """A mistake of the library or of this package."""


class ComparisonError(ScalepoolError, AssertionError):
    """`LinkEnd.expect` found something else than the twin has sent."""
