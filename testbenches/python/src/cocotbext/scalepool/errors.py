"""Exceptions: one class for each kind of error of the library, with the library's own text.

A call that raises one has changed nothing. A broken rule is not an error: it is a `Violation` beside the result.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .message import Violation
    from .model import Event


class ScalepoolError(Exception):
    """A call of the library was refused. The text says where, what was found and what was expected.

    `function` is the C function, `status` the status that it returned (`SP_ERR_..` of scalepool.h).
    """

    def __init__(self, text: str, function: str = "", status: int = 0) -> None:
        super().__init__(text)
        self.function = function
        self.status = status


class LibraryError(ScalepoolError, ImportError):
    """The shared library is missing, or its version does not match this package."""


class InputError(ScalepoolError, ValueError):
    """An input cannot be read: a text, a name, a field or a flit."""


class RangeError(ScalepoolError, ValueError):
    """A number or a length is out of range."""


class HandleError(ScalepoolError):
    """The object has been closed."""


class BusyError(ScalepoolError):
    """Another call with the same object is still running: in another thread, or around the hook that makes this call."""


class KindError(ScalepoolError):
    """The object does not support this call: a passive end does not send, an encoder does not decode."""


class InternalError(ScalepoolError):
    """Internal error of the library or of this package."""


class ComparisonError(ScalepoolError, AssertionError):
    """The unit given to `LinkEnd.expect` or `System.expect` differs from the one that the model has, or there is none."""


class RuleError(ScalepoolError, AssertionError):
    """A design has broken a rule. `event` has the whole verdict, `rule` is the id of the rule."""

    def __init__(self, event: "Event") -> None:
        super().__init__(f"flit {event.unit} on {event.port}: {event.violation}")
        self.event = event
        self.rule = event.violation.rule


class TransactionError(ScalepoolError):
    """A transaction breaks a rule. `rule` is its id, `tag` that of the request, `address` its line and `flit` the number of the
    flit that shows it, in its direction from 0; `None` where there is none.

    `violation` has the whole verdict.
    """

    def __init__(
        self, text: str, tag: int | None, address: int | None, flit: int | None, violation: "Violation | None" = None
    ) -> None:
        where = [] if flit is None else [f"flit {flit}"]
        super().__init__(": ".join([*where, text]) if violation is not None else text)
        self.tag = tag
        self.address = address
        self.flit = flit
        self.violation = violation

    @property
    def rule(self) -> str | None:
        """Id of the rule, or `None` where none is broken."""
        return None if self.violation is None else self.violation.rule


class AnswerTimeoutError(TransactionError, TimeoutError):
    """A request has not had all its answers within the time that was stated."""


class PoisonError(TransactionError):
    """The data of a read is poisoned: known to be wrong."""


class NoMemoryError(TransactionError):
    """A read of an address at which no memory is."""
