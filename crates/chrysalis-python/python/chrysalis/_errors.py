"""What can go wrong: one class per fault, each with a remedy."""

from __future__ import annotations

__all__ = [
    "AuditFailedError",
    "ChrysalisError",
    "ChrysalisWarning",
    "InfeasibleError",
    "InternalError",
    "QuestionError",
    "RequestError",
    "StoppedError",
]


class ChrysalisError(Exception):
    """Something was not done.

    ``message`` says what is wrong in one sentence, and ``remedy`` what to do about it (it may be empty).

    >>> import chrysalis as ch
    >>> try:
    ...     ch.publish(ch.example(100), quasi=["age"], sensitive=["disease"])
    ... except ch.ChrysalisError as error:
    ...     print(error.message)
    ...     print(error.remedy)
    no principle is required
    say what every group must satisfy, for example `require=["k=10"]` `require=["l=4"]`
    """

    message: str
    remedy: str

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.remedy}" if self.remedy else self.message


def natural(**numbers: int | None) -> None:
    """Refuses numbers below 0, which count nothing, and numbers that do not fit into 64 bits."""
    for name, number in numbers.items():
        if isinstance(number, int) and number < 0:
            raise RequestError(f"`{name}` is {number}, which is below 0", "use a number from 0 on")
        if isinstance(number, int) and number >= 1 << 64:
            raise RequestError(f"`{name}` is {number}, which is 2**64 or more", "use a smaller number")


class RequestError(ChrysalisError, ValueError):
    """The request is at fault, or the table or file that it refers to."""


class InfeasibleError(ChrysalisError):
    """The request is fine, but this table cannot meet it."""


class QuestionError(ChrysalisError, ValueError):
    """A question that the release does not answer."""


class StoppedError(ChrysalisError):
    """The work was stopped by its ``progress`` and left nothing behind. (Ctrl-C raises ``KeyboardInterrupt``.)"""


class InternalError(ChrysalisError):
    """A bug of Chrysalis. Please report it."""


class AuditFailedError(ChrysalisError):
    """A release does not keep its promises: raised by ``Audit.raise_if_failed``."""


class ChrysalisWarning(UserWarning):
    """Something that a person should know about a table or a release."""
