"""What agents with calls instead of messages have in common: `TransactionAgent` takes the messages of a link end, `Requester` gives out
tags and waits for answers, `Completer` answers in order.

A walk through one request: `Requester._begin` waits for a free tag, queues the message, and keeps an `OpenRequest`. Behind each flit
clock the agents of an end look at what the end has judged since, and take what has arrived; each message goes to the agent that has
said that it takes its layout. A message that breaks a rule is no answer: it is an exception, in the call whose request it concerns, or
where no request does in all that wait and in the task that steps the link.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .errors import AnswerTimeoutError, InputError, KindError, ScalepoolError, TransactionError
from .model import Event
from .stepped import SteppedLink, Waitable

Form: TypeAlias = dict[str, Any]
"""A message of a link end, as `LinkEnd.send` takes it and `LinkEnd.take` returns it."""

_LATE = "TXN-END-02"
# Broken by an answer that ends its request.
_ANSWERED = ("TXN-DAT-01", "TXN-DAT-02", "TXN-DAT-03", "TXN-ANS-03")


@dataclass
class OpenRequest:
    """A request that is open: what has come of its data by number of the part, and all of it once it is done."""

    tag: int
    address: int
    done: Waitable
    parts: dict[int, bytes] = field(default_factory=dict)
    poison: bool = False
    data: bytes | None = None
    error: BaseException | None = None
    is_done: bool = False

    def finish(self, data: bytes | None = None, error: BaseException | None = None) -> None:
        """Wakes the call that waits for it."""
        self.data, self.error, self.is_done = data, error, True
        self.done.set()


@dataclass(frozen=True)
class Wanted:
    """A request to be made: its address, layout and fields, and what else stands in the message."""

    address: int
    layout: str
    fields: Mapping[str, int | str]
    more: Form = field(default_factory=dict)


class TransactionAgent:
    """An agent on one end of a link: messages are taken behind each flit clock, and each is judged by itself."""

    # Family of the layouts by protocol, what the protocols are called, what the end has to judge, layouts that the agent takes.
    _families: Mapping[str, str] = {}
    _protocols = ""
    _transactions = ""
    # Whether the end need not judge, since the agent does.
    _judges_itself = False
    _layouts_taken: tuple[str, ...] = ()
    # Field of a message that has its tag.
    _tag = "tag"
    # Whether what is open is lost when the link goes down.
    _is_lost_with_the_link = False
    rules_judged: tuple[str, ...] = ("TXN-",)
    """Beginnings of the ids of the rules that the agent makes exceptions of."""

    def __init__(self, link: SteppedLink) -> None:
        self.link = link
        self._layouts = self._family()
        self._seen = len(link.events)
        for layout in self._layouts_taken:
            if layout in link.takers:
                raise KindError(f"link: found another agent that takes {layout}, expected none")
            link.takers[layout] = self
        link.on_step.append(self._on_step)
        link.on_error.append(self._fail)

    def _family(self) -> str:
        """Returns the family of the layouts. Raises `KindError` for an end that cannot carry transactions."""
        state = self.link.end.state()
        family = self._families.get(state["protocol"])
        if family is None or state["passive"]:
            found = f"{'a passive' if state['passive'] else 'an active'} end of {state['protocol']}"
            raise KindError(f"link: found {found}, expected an active end of {self._protocols}")
        if state["transactions"] != self._transactions and not (self._judges_itself and state["transactions"] is None):
            found, wanted = state["transactions"], self._transactions
            raise KindError(f'link: found transactions={found!r}, expected an end made with transactions="{wanted}"')
        return family

    def _form(self, layout: str, fields: Mapping[str, int | str], **more: object) -> Form:
        return {"layout": f"{self._layouts}.{layout}", "fields": dict(fields), **more}

    def _layout_of(self, form: Form) -> str:
        """Returns what `_form` has as its first argument."""
        layout: str = form["layout"]
        return layout.split(".")[1]

    def _fields_of(self, form: Form) -> Form:
        """Returns the fields of a message."""
        fields: Form = form["fields"]
        return fields

    def _news(self) -> list[Event]:
        """Returns what the end has noticed since the last call."""
        self.link.collect()
        fresh = self.link.events[self._seen :]
        self._seen = len(self.link.events)
        return fresh

    def _of_transactions(self, events: list[Event], by: str = "peer") -> list[Event]:
        """Returns the rules of transactions that the other end, or this one, has broken."""
        judged = [event for event in events if event.by == by and event.violation.rule.startswith(self.rules_judged)]
        return [event for event in judged if self.concerns(event)]

    def concerns(self, event: Event) -> bool:
        """Whether a broken rule is about what this agent takes, and not about what another one on the same end does."""
        return True

    def _look(self) -> None:
        news = self._news()
        for event in self._of_transactions(news):
            self._broken(event)
        if self._is_lost_with_the_link and any(event.severity == "retrain" for event in news):
            self._lose()

    def _on_step(self) -> None:
        agents = list(dict.fromkeys(self.link.takers.values()))
        for agent in agents:
            agent._look()
        while (form := self.link.end.take()) is not None:
            layout = self._layout_of(form)
            taker = self.link.takers.get(layout)
            if taker is None:
                # A rule that such a message breaks says more.
                for event in self.link.collect():
                    if event.by == "peer" and event.violation.rule.startswith(self.rules_judged):
                        raise error_of(event)
                raise KindError(f"flit {self.link.received - 1}: found {layout}, expected one of {tuple(self.link.takers)}")
            taker._take(form)

    def _take(self, form: Form) -> None:
        """A message has come; one that breaks a rule is not taken for what it says."""
        broken = self._of_transactions(self._news())
        if broken:
            self._broken(broken[0], form)
        else:
            self._message(form)

    def _send(self, form: Form) -> None:
        """Queues a message; what is wrong with it is an exception here."""
        self.link.end.send(form)
        for event in self._of_transactions(self._news(), "end"):
            raise error_of(event)

    def _broken(self, event: Event, form: Form | None = None) -> None:
        """A rule is broken: by a message that has come, or by none."""
        raise error_of(event)

    def _message(self, form: Form) -> None:
        raise NotImplementedError

    def _fail(self, error: BaseException) -> None:
        """The link cannot go on."""

    def _lose(self) -> None:
        """The link has gone down, and what was open with it."""


class Requester(TransactionAgent):
    """An agent that makes requests, as many at a time as `outstanding` says, each with a tag of its own."""

    def __init__(self, link: SteppedLink, outstanding: int, tags: int) -> None:
        if not 1 <= outstanding <= tags:
            raise InputError(f"outstanding: found {outstanding}, expected 1 to {tags}")
        super().__init__(link)
        self._free = deque(range(outstanding))
        self._open: dict[int, OpenRequest] = {}
        self._lost: set[int] = set()
        self._waiting: deque[Waitable] = deque()
        self._failed: BaseException | None = None
        self._is_down = False

    def outstanding(self) -> int:
        """Returns the number of requests that are open."""
        return len(self._open)

    def _own_fields(self) -> Mapping[str, int | str]:
        """Fields that are the same in all requests of this agent."""
        raise NotImplementedError

    def _answer(self, request: OpenRequest, form: Form) -> None:
        """An answer to an open request has come."""
        raise NotImplementedError

    async def _all(self, wanted: Iterable[Wanted]) -> list[bytes | None]:
        """Makes requests, as many at a time as may be outstanding, and returns their data."""
        begun: list[OpenRequest] = []
        for one in wanted:
            begun.append(await self._begin(one))
        for request in begun:
            while not request.is_done:
                await request.done.wait()
        for request in begun:
            if request.error is not None:
                raise request.error
        return [request.data for request in begun]

    async def _room(self, address: int) -> None:
        """Waits until a tag is free."""
        while self._failed is None and (self._is_down or not self._free):
            if not self._is_down and not self._open:
                self._wake()
                lost = ", ".join(f"{tag:#x}" for tag in sorted(self._lost))
                raise TransactionError(f"tags {lost}: found no answer to any, expected a free one", None, address, None)
            turn = self.link.event()
            self._waiting.append(turn)
            try:
                await turn.wait()
            except BaseException:
                # Whoever is called off passes the turn on, if it has got it.
                if turn in self._waiting:
                    self._waiting.remove(turn)
                else:
                    self._wake()
                raise
        if self._failed is not None:
            raise self._failed

    async def _begin(self, wanted: Wanted) -> OpenRequest:
        await self._room(wanted.address)
        tag = self._free.popleft()
        request = OpenRequest(tag, wanted.address, self.link.event())
        self._open[tag] = request
        try:
            self._send(self._form(wanted.layout, {**wanted.fields, **self._own_fields(), self._tag: tag}, **wanted.more))
        except BaseException:
            self._close(request)
            raise
        return request

    def _wake(self) -> None:
        if self._waiting:
            self._waiting.popleft().set()

    def _close(self, request: OpenRequest, *, answered: bool = True) -> None:
        self._open.pop(request.tag, None)
        if answered:
            self._free.append(request.tag)
        else:
            self._lost.add(request.tag)
        self._wake()

    def _on_step(self) -> None:
        # A link that was reset goes on.
        self._failed = None
        if self._is_down and self.link.end.state()["up"]:
            self._is_down = False
            for _ in range(len(self._waiting)):
                self._wake()
        super()._on_step()

    def _message(self, form: Form) -> None:
        tag = self._fields_of(form)[self._tag]
        request = self._open.get(tag)
        if request is not None:
            self._answer(request, form)
        elif tag in self._lost and self._is_last(form):
            # The end has judged it: it answers a request that has failed here.
            self._found(tag)

    def _found(self, tag: int) -> None:
        """The last answer to a request that has failed here has come: its tag is free."""
        self._lost.discard(tag)
        self._free.append(tag)
        self._wake()

    def _is_last(self, form: Form) -> bool:
        """Whether an answer is the last one to its request, behind which the tag is free."""
        return True

    def _where(self, request: OpenRequest) -> str:
        return f"line {request.address:#x}, tag {request.tag:#x}, flit {self.link.received - 1}"

    def _broken(self, event: Event, form: Form | None = None) -> None:
        error = error_of(event)
        request = self._open.get(error.tag) if error.tag is not None else None
        if request is None:
            raise error
        # Other data than was written ends the request all the same.
        self._close(request, answered=error.rule in _ANSWERED and form is not None and self._is_last(form))
        request.finish(error=error)

    def _fail(self, error: BaseException) -> None:
        self._failed = error
        for request in list(self._open.values()):
            self._close(request)
            request.finish(error=error)
        self._free.extend(self._lost)
        self._lost.clear()
        while self._waiting:
            self._wake()

    def _lose(self) -> None:
        self._is_down = True
        self._fail(ScalepoolError(f"flit {self.link.received - 1}: the link has gone down, and every open request is lost"))


class Completer(TransactionAgent):
    """An agent that answers requests in their order, `latency` flit clocks behind each."""

    def __init__(self, link: SteppedLink, latency: int) -> None:
        if latency < 0:
            raise InputError(f"latency: found {latency}, expected 0 or more flit clocks")
        super().__init__(link)
        self.latency = latency
        self.served = 0
        self._clock = 0
        self._answers: deque[tuple[int, Form]] = deque()

    def answers(self, request: Form) -> list[Form]:
        """Carries out a request and returns the messages that answer it."""
        raise NotImplementedError

    def _on_step(self) -> None:
        self._clock += 1
        super()._on_step()
        while self._answers and self._answers[0][0] <= self._clock:
            self.link.end.send(self._answers.popleft()[1])

    def _lose(self) -> None:
        self._answers.clear()

    def _fail(self, error: BaseException) -> None:
        # Behind a reset nobody waits for them.
        self._answers.clear()

    def _message(self, form: Form) -> None:
        self.served += 1
        self._answers.extend((self._clock + self.latency, answer) for answer in self.answers(form))


def error_of(event: Event) -> TransactionError:
    """Returns the exception of a broken rule."""
    at = event.violation.at
    address = int(at.removeprefix("line "), 0) if at.startswith("line ") else None
    kind = AnswerTimeoutError if event.violation.rule == _LATE else TransactionError
    return kind(str(event.violation), event.tag, address, event.unit, event.violation)


def number_of(value: int | str) -> int:
    """Returns a number of a form: one above 2^53 is spelled in hex."""
    return value if isinstance(value, int) else int(value, 0)
