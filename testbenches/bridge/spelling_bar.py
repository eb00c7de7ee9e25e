"""Requests of CXL.io to memory of accelerators behind a BAR, spelled a second time from the sheet (`bridge` 2, 3.5, 4.2, 4.4, 5.3, 5.4, 6.4,
8.2, 8.3; `cxl-io` 1).

Modelled: which blocks of 256 bytes a request touches, what each is asked at which accelerator, byte by byte, who waits for whom, and what is
completed in which order. Left out: time-outs, requests of one line that are under way together. Nothing here was taken from the model.

A walk: a read of 300 bytes wants two reads; when the second one is answered nothing is wanted, when the first one is, two completions are.
"""

from spelling import ANY, STATUS, TLP_NAMES, Windows, bits, number, octets, tag_of

BLOCK, LINE, UNIT = 256, 64, 16
#: 3.5: most bytes of NVLink with byte enables.
ENABLED = 128
#: 8.2, the column of CXL.io; all others are CA.
COMPLETED = {0: "SC", 3: "UR"}
#: 5.3: operations of AtomicR and of ATOMIC_RETURN.
OPERATION = {"FetchAdd": 0, "Swap": 1, "CAS": 2}


class Access:
    """One access to an accelerator."""

    def __init__(self, target, address, count, kind, data=None, enabled=None, attr=ANY, poison=False):
        self.target, self.address, self.count, self.kind = target, address, count, kind
        self.data, self.enabled, self.attr, self.poison = data, enabled, attr, poison

    def words(self, channel):
        return ("access", self.target, self.address, self.count, self.kind, self.data, self.enabled, self.attr, self.poison, channel)


class Block:
    """The bytes of a request in one block: from `place` of the BAR on, so many, at `out` of the accelerator."""

    def __init__(self, place, count):
        self.place, self.count, self.status, self.left = place, count, 0, []
        self.bytes, self.marks = [0] * count, [False] * count


class Request:
    def __init__(self, message):
        fields = message["fields"]
        self.kind = TLP_NAMES[fields["fmt"] >> 1 & 1, fields["tlp_type"]]
        self.address, self.requester = number(fields["address"]), number(fields["requester"])
        self.data = octets(message["data"]) if "data" in message else None
        dw = fields["length"] or 1024
        self.count = 4 * dw
        if self.kind in ("FetchAdd", "Swap", "CAS"):
            self.count = len(self.data) // (2 if self.kind == "CAS" else 1)
        first, last = fields["first_be"], fields["last_be"]
        ends = {0: first} | ({dw - 1: last} if dw > 1 else {})
        self.enabled = [ends.get(n // 4, 15) >> n % 4 & 1 == 1 for n in range(4 * dw)]
        self.relaxed, self.poison = bool(fields["attr"] & 2), bool(fields["ep"])
        self.tag, self.tc = tag_of({"message": message}), fields["tc"]
        self.attr = (fields["attr"], fields["attr_2"])
        self.blocks, self.done, self.started = [], 0, False

    def touched(self):
        return set(range(self.address // BLOCK, (self.address + self.count - 1) // BLOCK + 1))


class Bar:
    """The half from CXL.io to accelerators."""

    def __init__(self, config):
        self.nvlink, self.own = config["protocol"] == "nvlink", config["own"]
        self.windows = Windows(config, 1 << (36 if self.nvlink else 57))
        self.wanted, self.requests, self.open, self.by_tag = [], [], [], {}
        # Completions leave in their order: each is wanted with its number.
        self.made = self.seen = 0

    def request(self, event):
        self.requests.append(Request(event["message"]))
        self.advance()

    def waits(self, request, earlier):
        """6.4, I2."""
        writes = [other for other in earlier if other.kind == "MWr" and other.requester == request.requester]
        if request.kind == "MWr" and request.relaxed:
            writes = [other for other in writes if other.touched() & request.touched()]
        return bool(writes)

    def advance(self):
        for n, request in enumerate(list(self.requests)):
            earlier = [other for other in self.requests if other in self.requests[:n]]
            if not request.started and not self.waits(request, earlier):
                self.start(request)
                self.finish(request)

    def start(self, request):
        request.started = True
        at, end = request.address, request.address + request.count
        while at < end:
            stop = min((at // BLOCK + 1) * BLOCK, end)
            block = Block(at, stop - at)
            request.blocks.append(block)
            self.ask(request, block)
            at = stop
            # 5.3: nothing behind the first block that fails.
            if block.status and request.kind == "MRd":
                break

    def ask(self, request, block):
        right = {"MRd": "r", "MWr": "w"}.get(request.kind, "rwa")
        route = self.windows.route(request.requester, block.place, right)
        if isinstance(route, int):
            block.status = route
            return
        _, target, out = route
        block.out, skip = out, block.place - request.address
        if request.kind == "MRd":
            # A read of no byte (3.2) asks for nothing.
            block.left = [self.read(target, out, block.count)] if any(request.enabled) else []
        elif request.kind == "MWr":
            part = slice(skip, skip + block.count)
            block.left = self.writes(target, out, request.data[part], request.enabled[part], request.poison)
        elif request.count in (4, 8) and request.address % request.count == 0:
            block.left = [self.atomic(target, out, request)]
        else:
            block.status = 2
        for access in block.left:
            self.open.append((access, request, block))
            # NVLink has no channel for a traffic class.
            self.wanted.append(access.words(ANY if self.nvlink else request.tc & 3))

    def grain(self):
        return UNIT if self.nvlink else 4

    def read(self, target, out, count):
        low, high = out // self.grain() * self.grain(), -(-(out + count) // self.grain()) * self.grain()
        return Access(target, low, high - low, "read")

    def writes(self, target, out, data, enabled, poison):
        low, high = out // self.grain() * self.grain(), -(-(out + len(data)) // self.grain()) * self.grain()
        on = [0 <= at - out < len(data) and enabled[at - out] for at in range(low, high)]
        if self.nvlink and not all(on):
            cuts = [low] + [at for at in range(low + 1, high) if at % ENABLED == 0] + [high]
        else:
            cuts = [low, high]
        made = []
        for start, stop in zip(cuts, cuts[1:]):
            some = on[start - low:stop - low]
            if not any(some):
                continue
            value = [data[at - out] if some[at - start] else ANY for at in range(start, stop)]
            # UALink: whole lines are WriteFull; NVLink: a part has a BE flit.
            whole = all(some) and (self.nvlink or start % LINE == 0 and stop % LINE == 0)
            made.append(Access(target, start, stop - start, "full" if whole else "part", value, None if whole else some, ANY, poison))
        return made

    def atomic(self, target, out, request):
        size = request.count
        low = out // self.grain() * self.grain()
        count = max(size, self.grain()) if self.nvlink else size
        value = [ANY] * count
        if request.kind == "CAS":
            # 4.2: both operands stand at the beginning, wherever the element is.
            value = request.data + [ANY] * max(0, count - len(request.data))
        else:
            value[out - low:out - low + size] = request.data
        on = [low + n >= out and low + n < out + size for n in range(count)]
        op = OPERATION[request.kind]
        # 4.2, 4.4: UALink has the size in bits 3:2 and the operation in 7:4, NVLink in 5:4 and 3:0; 32 bits are 0, 64 bits are 1.
        attr = op | (size == 8) << 4 if self.nvlink else op << 4 | (size == 8) << 2
        return Access(target, low, count, "atomic", value, on, attr, request.poison)

    # What passes.

    def access(self, event):
        """What an accelerator is asked, in words; its tag is kept."""
        message, fields = event["message"], event["message"]["fields"]
        data = message.get("data")
        if self.nvlink:
            whole = number(fields["address"]) | number(message.get("ae", {}).get("address", 0))
            target, address, channel = whole >> 36, whole % (1 << 36), ANY
            data = octets(data) if data else None
            kind = {"READ": "read", "WRITE_NONPOSTED": "part" if "be" in message else "full", "ATOMIC_RETURN": "atomic"}[fields["op"]]
            count = 16 * (fields["size"] + 1) if kind == "read" else len(data)
            on = bits(message["be"])[:count] if "be" in message else None
            if on and any(bits(message["be"])[count:]):
                raise ValueError("byte enables behind the data")
            attr, poison = message.get("ae", {}).get("attr", 0) if kind == "atomic" else ANY, bool(fields["ep"])
            if fields["rid"] != self.own:
                raise ValueError(f"requester {fields['rid']}")
        else:
            target, address, count = fields["dst"], number(fields["address"]), 4 * (fields["len"] + 1)
            channel, kind = fields["vchan"], {"Read": "read", "WriteFull": "full", "Write": "part", "AtomicR": "atomic"}[fields["cmd"]]
            lines = (address + count - 1) // LINE - address // LINE + 1
            if fields["src"] != self.own or kind != "read" and (len(data) != lines or fields["numbeats"] != lines - 1):
                raise ValueError(f"source and beats of an access: {fields}")
            on = None
            if "enables" in message:
                block, skip = bits(message["enables"]), address % BLOCK
                on = block[skip:skip + count]
                if any(block[:skip]) or any(block[skip + count:]):
                    raise ValueError("enables outside of the request")
            attr = fields["attr"] if kind == "atomic" else ANY
            # Beats by number: all of them or none.
            beats = message.get("poison", [])
            poison = bool(beats)
            if poison and beats != list(range(lines)):
                raise ValueError(f"poisoned beats {beats} of {lines}")
            if data:
                every, skip = [byte for line in data for byte in octets(line)], address % LINE
                # The operands of CAS stand at the beginning of the beat.
                is_swap = kind == "atomic" and attr >> 4 == 2
                data = every[:2 * count] if is_swap else every[skip:skip + count]
        found = ("access", target, address, count, kind, data, on, attr, poison, channel)
        self.by_tag[fields["tag"]] = found
        return found

    def answer(self, event):
        message, fields = event["message"], event["message"]["fields"]
        found = self.by_tag.pop(fields["tag"])
        place = next(n for n, (access, *_) in enumerate(self.open) if (access.target, access.address) == found[1:3])
        access, request, block = self.open.pop(place)
        if self.nvlink:
            status = fields["size"] if fields["op"] == "RSP_ERROR" else 0
            data = octets(message["data"]) if "data" in message else []
            marks, base = [bool(fields["ep"])] * len(data), access.address
        else:
            status, base = number(fields["status"], STATUS), access.address // LINE * LINE
            lines = message.get("data", [])
            data = [byte for line in lines for byte in octets(line)]
            marks = [n in message.get("poison", []) for n in range(len(lines)) for _ in range(LINE)]
        block.left.remove(access)
        if status:
            block.status = block.status or status
        elif access.kind in ("read", "atomic"):
            for n in range(block.count):
                block.bytes[n] = data[block.out + n - base]
                # A mark of NVLink is that of the packet, one of UALink that of a beat.
                block.marks[n] = marks[block.out + n - base]
        self.finish(request)
        self.advance()

    def finish(self, request):
        """5.3, 8.2: what of a request is over."""
        if request not in self.requests:
            # It has ended with an earlier block.
            return
        if request.kind == "MWr":
            if not any(block.left for block in request.blocks):
                self.requests.remove(request)
            return
        while request.done < len(request.blocks):
            block = request.blocks[request.done]
            if block.left and not block.status:
                return
            request.done += 1
            if block.status:
                self.complete(request, block.place, None, COMPLETED.get(block.status, "CA"), False)
                break
            # 8.3: poison marks its own lines alone.
            start = 0
            for n in range(1, block.count + 1):
                if n == block.count or block.marks[n] != block.marks[start]:
                    self.complete(request, block.place + start, block.bytes[start:n], "SC", block.marks[start])
                    start = n
        self.requests.remove(request)

    def complete(self, request, place, data, status, poison):
        on = [n for n, is_on in enumerate(request.enabled) if is_on] or [0]
        first, end = request.address + on[0], request.address + on[-1] + 1
        lower = max(first, place) & 127
        count = end - max(first, place)
        if request.kind != "MRd":
            lower, count = 0, request.count
        count = max(count, 1)
        self.wanted.append(("completion", self.made, status, request.tag, request.requester, count % 4096, lower, data, int(poison),
                            request.tc, request.attr))
        self.made += 1

    def response(self, event):
        message, fields = event["message"], event["message"]["fields"]
        data = octets(message["data"]) if "data" in message else None
        self.seen += 1
        if (fields["fmt"] >> 1 & 1 == 1) != (data is not None) or data is not None and 4 * (fields["length"] or 1024) != len(data):
            raise ValueError("the length does not say what the data are")
        return ("completion", self.seen - 1, fields["status"], tag_of(event), number(fields["requester"]), fields["byte_count"],
                fields["lower_addr"], data, fields["ep"], fields["tc"], (fields["attr"], fields["attr_2"]))


def missing():
    """What the walk has to have."""
    want = {f"{kind} ended {end}" for kind in ("MRd", "FetchAdd") for end in ("SC", "CA")} | {"MRd ended UR", "Swap ended UR", "CAS ended CA"}
    return want | {"asked MWr", "asked Swap", "asked CAS"}
