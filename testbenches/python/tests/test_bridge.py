"""The bridge as reference model and scoreboard in Python: one read and one write, a bridge that is right and some that are not."""

import copy
import unittest

import cocotbext.scalepool as sp

CONFIG = {
    "protocol": "ualink", "direction": "outbound",
    "windows": [{"class": "MC", "base": 0, "size": 2 << 20, "out_base": 1 << 32}],
}
READ = {"layout": "ualink.tl_req", "fields": {"cmd": "Read", "address": 0x40, "len": 31, "tag": 3}}
WRITE = {"layout": "ualink.tl_req", "fields": {"cmd": "Write", "address": 0x100, "len": 15}, "enables": "0f" + "00" * 31,
         "data": ["a5" * 64]}


def memory(event):
    """What memory answers to a message."""
    fields = event.message["fields"]
    tag, opcode = fields["tag"], fields["opcode"]
    granted = "CmpE" if fields["meta_value"] == "Any" else "Cmp"
    answers = [{"layout": "cxl256.s2m_ndr", "fields": {"opcode": granted, "meta_field": "NoOp", "tag": tag}}]
    if opcode == "MemRd":
        drs = {"opcode": "MemData", "meta_field": "NoOp", "tag": tag}
        answers.append({"layout": "cxl256.s2m_drs", "fields": drs, "data": "5a" * 64})
    return answers


def run(requests):
    """Every message of these requests, in order."""
    passed = []
    with sp.Bridge(CONFIG) as bridge:
        for request in requests:
            passed.append((sp.BridgePoint.REQUEST, request))
            made = bridge.request(request)
            while made:
                event = made.pop(0)
                passed.append((event.point, event.message))
                if event.point == sp.BridgePoint.SENT:
                    for answer in memory(event):
                        passed.append((sp.BridgePoint.ANSWER, answer))
                        made += bridge.answer(answer)
        assert bridge.findings() == []
    return passed


class Bridges(unittest.TestCase):
    def test_a_write_of_a_part_fetches_the_line_and_writes_it_back(self):
        passed = run([WRITE])
        sent = [message for point, message in passed if point == sp.BridgePoint.SENT]
        self.assertEqual([m["fields"]["opcode"] for m in sent], ["MemRd", "MemWr"])
        self.assertEqual(sent[1]["data"], "a5" * 4 + "5a" * 60)
        point, response = passed[-1]
        self.assertEqual((point, response["fields"]["status"]), (sp.BridgePoint.RESPONSE, "OKAY"))

    def test_a_scoreboard_knows_a_bridge_that_is_right(self):
        with sp.BridgeScoreboard(CONFIG) as board:
            self.assertTrue(all(board.passes(*step) for step in run([READ, WRITE])))
            self.assertTrue(board.finish())

    def test_a_scoreboard_finds_what_is_wrong(self):
        passed = run([READ, WRITE])
        for n, (point, message) in enumerate(passed):
            if point not in (sp.BridgePoint.SENT, sp.BridgePoint.RESPONSE):
                continue
            lost = passed[:n]
            other = copy.deepcopy(message)
            name = "address" if point == sp.BridgePoint.SENT else "tag"
            other["fields"][name] = int(other["fields"][name]) + 64
            for steps in (lost, [*lost, (point, other)], [*passed[: n + 1], (point, message)]):
                with sp.BridgeScoreboard(CONFIG) as board:
                    for step in steps:
                        board.passes(*step)
                    self.assertFalse(board.finish())
                    self.assertNotEqual(board.findings(), [])

    def test_windows_are_committed_behind_the_requests_under_way(self):
        moved = [{**CONFIG["windows"][0], "out_base": 1 << 40}]
        with sp.Bridge(CONFIG) as bridge, sp.BridgeScoreboard(CONFIG) as board:
            board.passes(sp.BridgePoint.REQUEST, READ)
            sent = bridge.request(READ)
            self.assertEqual((bridge.commit(moved), board.commit(moved)), (False, False))
            self.assertIsNone(bridge.request(READ))
            self.assertFalse(board.passes(sp.BridgePoint.REQUEST, READ))
            self.assertEqual([finding.rule for finding in board.findings()], ["BRG-WIN-06"])
            with self.assertRaisesRegex(sp.InputError, "an earlier commit that waits"):
                bridge.commit(moved)
            made = [event for step in sent for answer in memory(step) for event in bridge.answer(answer)]
            self.assertEqual([event.point for event in made], [sp.BridgePoint.RESPONSE])
            steps = [(step.point, step.message) for step in sent]
            steps += [(sp.BridgePoint.ANSWER, answer) for step in sent for answer in memory(step)]
            self.assertTrue(all(board.passes(*step) for step in steps))
            # The answer has come, and the response of the bridge has not left.
            self.assertFalse(board.passes(sp.BridgePoint.REQUEST, READ))
            self.assertEqual([finding.rule for finding in board.findings()], ["BRG-WIN-06"])
            self.assertTrue(board.passes(made[0].point, made[0].message))
            self.assertTrue(board.passes(sp.BridgePoint.REQUEST, READ))
            self.assertEqual(int(bridge.request(READ)[0].message["fields"]["address"]) >> 40, 1)
            self.assertFalse(bridge.commit([]))

    def test_a_host_is_asked_by_cxl_cache(self):
        config = {**CONFIG, "windows": [{**CONFIG["windows"][0], "class": "CC"}], "cache": {"capacity_bytes": 512, "ways": 1}}
        go = {"layout": "cxl256.h2d_rsp", "fields": {"opcode": "GO", "rsp_data": 2, "cqid": 0}}
        data = {"layout": "cxl256.h2d_data", "fields": {"cqid": 0}, "data": "5a" * 64}
        snoop = {"layout": "cxl256.h2d_req", "fields": {"opcode": "SnpInv", "address": (1 << 32) + 0x100, "uqid": 9}}
        # A store of a part: the line is owned and read, the host takes it between its GO and its data, and gets what was stored.
        with sp.Bridge(config) as bridge:
            passed = [(sp.BridgePoint.REQUEST, WRITE)] + [(e.point, e.message) for e in bridge.request(WRITE)]
            for answer in (go, snoop, data):
                passed.append((sp.BridgePoint.ANSWER, answer))
                passed += [(e.point, e.message) for e in bridge.answer(answer)]
            self.assertEqual(bridge.findings(), [])
        sent = [message for point, message in passed if point == sp.BridgePoint.SENT]
        self.assertEqual([m["fields"].get("opcode") for m in sent], ["RdOwn", "RspIFwdM", None])
        self.assertEqual((sent[2]["fields"]["uqid"], sent[2]["data"]), (9, "a5" * 4 + "5a" * 60))
        with sp.BridgeScoreboard(config) as board:
            self.assertTrue(all(board.passes(*step) for step in passed) and board.finish())
        sent[1]["fields"]["opcode"] = "RspIHitSE"
        with sp.BridgeScoreboard(config) as board:
            self.assertFalse(all([board.passes(*step) for step in passed]))
            self.assertEqual([finding.rule for finding in board.findings()], ["BRG-INT-02"])

    def test_credits_of_both_sides_are_counted(self):
        data = {"point": "request", "class": "request_data", "vchan": 0, "depth": 2}
        sent = {"point": "sent", "class": "m2s_req", "depth": 1}
        passed = run([WRITE])
        with sp.BridgeScoreboard({**CONFIG, "credits": [data, sent]}) as board:
            self.assertTrue(board.credit(sp.BridgePoint.REQUEST, "request_data", 2, vchan=0))
            self.assertTrue(board.credit(sp.BridgePoint.SENT, "m2s_req"))
            self.assertTrue(all(board.passes(*step) for step in passed))
            self.assertTrue(board.credit(sp.BridgePoint.REQUEST, "request_data", vchan=0))
            self.assertTrue(board.credit(sp.BridgePoint.SENT, "m2s_req"))
            self.assertTrue(board.finish())
        with sp.BridgeScoreboard({**CONFIG, "credits": [data, sent]}) as board:
            self.assertFalse(all([board.passes(*step) for step in passed]))
            self.assertEqual([finding.rule for finding in board.findings()], ["BRG-CRD-01"] * 2)
            self.assertFalse(board.credit(sp.BridgePoint.SENT, "m2s_req", 3))
            self.assertFalse(board.finish())
            self.assertEqual([finding.rule for finding in board.findings()], ["BRG-CRD-02"] + ["BRG-CRD-03"] * 2)
            with self.assertRaisesRegex(sp.InputError, "a pool that `credits` of the configuration names"):
                board.credit(sp.BridgePoint.ANSWER, "s2m_ndr")
        with self.assertRaisesRegex(sp.RangeError, "pools of a model"):
            sp.Bridge({**CONFIG, "credits": [sent]})

    def test_what_is_no_configuration_or_message_is_refused(self):
        with self.assertRaisesRegex(sp.InputError, "key `speed`"):
            sp.Bridge({**CONFIG, "speed": 1})
        with sp.Bridge(CONFIG) as bridge, self.assertRaisesRegex(sp.InputError, "a request of the accelerators"):
            bridge.request({"layout": "cxl256.m2s_req", "fields": {}})


if __name__ == "__main__":
    unittest.main()
