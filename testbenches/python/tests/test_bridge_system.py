"""A bridge of a system that stands outside by its flits: link ends of both sides with the reference model between them are the bridge between
UALink and CXL of `supercluster-small`, and a scoreboard watches them. What accelerators, GPUs and the host read is judged
by the system."""

import unittest
from collections import Counter, deque

import cocotbext.scalepool as sp

MIB, GIB = 1 << 20, 1 << 30
SETTINGS = ["traffic.operations=60", "gpu.requests=60", "host.accesses=30"]
# The number of the bridge among the accelerators, and its windows, as the description has them.
OWN = 4
OUTBOUND = {
    "protocol": "ualink", "direction": "outbound", "own": OWN,
    "windows": [
        {"class": "MN", "base": 0, "size": 5 * MIB, "out_base": 64 * MIB, "targets": [0]},
        {"class": "MN", "base": 5 * MIB, "size": 5 * MIB, "out_base": 16 * GIB, "targets": [1]},
    ],
}
INBOUND = {
    "protocol": "ualink", "direction": "inbound", "own": OWN,
    "windows": [{"class": "NH", "base": 32 * GIB, "size": GIB, "out_base": 8 * GIB, "targets": [0, 1, 2, 3], "granule": 4096}],
}
X, CXL, TARGET = "ubridge.x[0]", ["ubridge.cxl[0]", "ubridge.cxl[1]"], "ubridge.target[0]"
PORTS = {X: ("ualink", "down", {"layer": "tl"}), TARGET: ("cxl-256b-pbr", "up", {"classes": "mem"})}
PORTS |= {name: ("cxl-256b-pbr", "down", {"classes": "mem"}) for name in CXL}
# Port identifiers on a link of port based routing without a switch: who asks, and who is asked.
ASKS, ASKED = 1, 2
LINE = 64


def of_ualink(form):
    """A message of a link end as the model takes it: data in beats, the numbers of those that are poisoned."""
    message = {"layout": form["layout"], "fields": dict(form["fields"])}
    if data := form.get("data"):
        message["data"] = [data[at : at + 2 * LINE] for at in range(0, len(data), 2 * LINE)]
    if "be" in form:
        message["enables"] = form["be"]
    if poisoned := form.get("poisoned"):
        message["poison"] = [n for n in range(8) if poisoned >> n & 1]
    return message


def to_ualink(message):
    form = {"layout": message["layout"], "fields": message["fields"]}
    if "data" in message:
        form["data"] = "".join(message["data"])
    if "enables" in message:
        form["be"] = message["enables"]
    if "poison" in message:
        form["poisoned"] = sum(1 << n for n in message["poison"])
    return form


def of_cxl(form):
    """The same for CXL, whose port identifiers the model does not know."""
    fields = {name: value for name, value in form["fields"].items() if name not in ("spid", "dpid")}
    message = {"layout": form["layout"].replace("cxlpbr", "cxl256"), "fields": fields}
    if "data" in form:
        message["data"] = form["data"]
    if "be" in form:
        # Numbers that JSON does not hold are texts.
        message["enables"] = int(str(form["be"]), 0).to_bytes(8, "little").hex()
    return message


def to_cxl(message, spid, dpid):
    fields = {name: value for name, value in message["fields"].items() if name not in ("ld_id", "spid")}
    layout = message["layout"].replace("cxl256", "cxlpbr")
    fields["dpid"] = dpid
    if layout.startswith("cxlpbr.m2s_r"):
        fields["spid"] = spid
    form = {"layout": layout, "fields": fields}
    if "data" in message:
        form["data"] = message["data"]
    if "enables" in message:
        form["be"] = int.from_bytes(bytes.fromhex(message["enables"]), "little")
    return form


class Outside:
    """The bridge: four link ends, and a half of the model for each direction."""

    def __init__(self, set=SETTINGS, outbound=OUTBOUND):
        self.system = sp.System("supercluster-small", set=set, external={"ubridge": "flits"})
        self.ends = {name: sp.LinkEnd(protocol, way, **config) for name, (protocol, way, config) in PORTS.items()}
        for name in PORTS:
            self.system.watch(name)
            self.system.watch(name, "tx")
        self.arrived = {name: deque() for name in PORTS}
        self.driven, self.passed = Counter(), Counter()
        self.outbound, self.inbound = sp.Bridge(outbound), sp.Bridge(INBOUND)
        self.board = sp.BridgeScoreboard(OUTBOUND)
        # Requests that wait for an entry of the model.
        self.waiting = deque()
        self.found = []

    def step(self):
        """One cycle of the reference clock; whether the system has something left to do."""
        is_going_on = self.system.step()
        for name, end in self.ends.items():
            while (sample := self.system.sample(name)) is not None:
                self.arrived[name].append(sample.unit)
            while self.system.sample(name, "tx") is not None:
                self.driven[name] -= 1
            while self.driven[name] < 2:
                if self.arrived[name]:
                    end.drive(self.arrived[name].popleft())
                end.step()
                if (unit := end.sample()) is not None:
                    self.system.drive(name, unit)
                    self.driven[name] += 1
                if not self.arrived[name]:
                    break
            self.found += [event for event in end.events() if event.by != "line"]
            while (form := end.take()) is not None:
                self.take(name, form)
        for _ in range(len(self.waiting)):
            self.request(*self.waiting.popleft())
        return is_going_on

    def take(self, name, form):
        """A message comes at a port."""
        self.passed[name, form["layout"]] += 1
        if name in CXL:
            port, answer = CXL.index(name), of_cxl(form)
            self.board.passes(sp.BridgePoint.ANSWER, answer, port)
            return self.made(self.outbound.answer(answer, port), self.board)
        if form["layout"] == "ualink.tl_rsp":
            return self.made(self.inbound.answer(of_ualink(form)), None)
        self.waiting.append((name, of_ualink(form) if name == X else of_cxl(form)))

    def request(self, name, message):
        half = self.outbound if name == X else self.inbound
        made = half.request(message)
        if made is None:
            return self.waiting.append((name, message))
        if name == X:
            self.board.passes(sp.BridgePoint.REQUEST, message)
        self.made(made, self.board if name == X else None)

    def made(self, events, board):
        """What the model has made leaves at a port."""
        for event in events:
            message, layout = event.message, event.message["layout"]
            if board:
                board.passes(event.point, message, event.port)
            if layout.startswith("ualink"):
                self.ends[X].send(to_ualink(message))
            elif event.point == sp.BridgePoint.SENT:
                self.ends[CXL[event.port]].send(to_cxl(message, ASKS, ASKED))
            else:
                self.ends[TARGET].send(to_cxl(message, ASKED, ASKS))

    def run(self, cycles=12_000):
        """Runs for so many cycles of the reference clock: enough for all that is asked for in `SETTINGS`."""
        for _ in range(cycles):
            self.step()


class Systems(unittest.TestCase):
    def test_the_model_is_the_bridge_of_a_system(self):
        outside, model = Outside(), sp.System("supercluster-small", set=SETTINGS)
        outside.run()
        model.run()
        found, expected = outside.system.metrics(), model.metrics()
        # What accelerators, GPUs and the host have done is what they do beside a bridge of the system itself.
        for name in ("operations", "line accesses", "READ", "WRITE_POSTED", "FLUSH", "answers"):
            self.assertEqual(found["counts"][name], expected["counts"][name], name)
        self.assertEqual((found["counts"]["operations"], found["counts"]["line accesses"]), (4 * 60, 30))
        self.assertEqual((found["violations"], outside.found), ([], []))
        findings = outside.outbound.findings() + outside.inbound.findings()
        self.assertTrue(outside.board.finish(), outside.board.findings())
        self.assertEqual((findings, len(outside.waiting)), ([], 0))
        for kind in ((X, "ualink.tl_req"), (X, "ualink.tl_rsp"), (CXL[0], "cxlpbr.s2m_drs"), (CXL[0], "cxlpbr.s2m_ndr"),
                     (CXL[1], "cxlpbr.s2m_drs"), (CXL[1], "cxlpbr.s2m_ndr"), (TARGET, "cxlpbr.m2s_req"), (TARGET, "cxlpbr.m2s_rwd")):
            self.assertGreater(outside.passed[kind], 10, kind)

    def test_a_bridge_that_leads_elsewhere_is_noticed(self):
        window = dict(OUTBOUND["windows"][1], out_base=16 * GIB + 4096)
        outside = Outside(outbound={**OUTBOUND, "windows": [OUTBOUND["windows"][0], window]})
        outside.run()
        # The scoreboard knows the windows, and the accelerators know what they have written.
        self.assertIn("BRG-INT-02", {finding.rule for finding in outside.board.findings()})
        self.assertNotEqual(outside.system.metrics()["violations"], [])


if __name__ == "__main__":
    unittest.main()
