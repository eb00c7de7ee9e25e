#!/usr/bin/env python3
"""Holds the vectors of the bridge against a second spelling of its sheet: compare.py --program target/debug/scalepool

    python3 testbenches/bridge/compare.py --program target/debug/scalepool [--set FOLDER]

Every message of every case is compared: what is sent for a request, to which port, line and bytes, and what it is answered with. Between
two messages that come, exactly those leave that the sheet says, in any order. Then the walk itself is judged: each legal command of each
side, each status and error has to be there, and so have the illegal ones. At last each file is spoiled in a few places, each of which
has to be seen. Exit status 1 when anything differs.
"""

import argparse
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import spelling
import spelling_bar
import spelling_cc
import spelling_db


#: About so many messages of a file are spoiled, one after the other.
SPOILED = 150
#: Files of vectors.
FILES = 38


def asked(event):
    """What leaves for CXL."""
    layout = event["message"]["layout"]
    if layout.startswith("cxl256.d2h_"):
        return spelling_cc.message(event)
    return (spelling.tlp if layout.startswith("cxlio.") else spelling.cxl_request)(event)


#: Halves by the class of their windows; all others are from accelerators to memory.
HALVES = {"NH": spelling.Inbound, "BR": spelling_bar.Bar, "DB": spelling_db.Home, "CC": spelling_cc.HostLines}


def class_of(config):
    return config["windows"][0]["class"]


class Judge:
    """One case against the spelling."""

    def __init__(self, config):
        self.inbound = config["direction"] == "inbound"
        is_cached = class_of(config) == "NH" and "cache" in config
        self.model = (spelling.CachedInbound if is_cached else HALVES.get(class_of(config), spelling.Outbound))(config)

    def left(self, event):
        """A message leaves: it is one that is wanted, or a text says what is wrong."""
        model, point = self.model, event["point"]
        if self.inbound or point == "response":
            if self.inbound:
                found = model.access(event) if point == "sent" else model.response(event)
            else:
                found = (spelling.nvlink_response if model.nvlink else spelling.upli_response)(event)
            for wanted in model.wanted:
                if spelling.fits(found, wanted):
                    model.wanted.remove(wanted)
                    return None
            return f"{point}: {found}, the sheet says {model.wanted}"
        found = asked(event)
        texts = []
        # TLPs of a case have one source, so they leave in their order (6.2, O4).
        tlps = [m for m in model.wanted if isinstance(m, spelling.Tlp)][:1]
        for message in [m for m in model.wanted if isinstance(m, spelling.Cxl)] + tlps:
            text = message.differs(found)
            if text is None:
                model.wanted.remove(message)
                if message.line_of is not None:
                    model.by_tag[event["port"], spelling.tag_of(event)] = message.line_of
                return None
            texts.append(f"{message}: {text}")
        return f"sent {found}, the sheet says {texts or model.wanted}"

    def run(self, events):
        """What is wrong with a case; nothing if all is well."""
        for event in events:
            if event["point"] in ("request", "answer"):
                if self.model.wanted:
                    return f"not sent: {self.model.wanted}"
                if event["point"] == "request":
                    self.model.request(event)
                else:
                    self.model.answer(event)
            else:
                text = self.left(event)
                if text:
                    return text
        return f"not sent: {self.model.wanted}" if self.model.wanted else None


def judged(config, case):
    try:
        return Judge(config).run(case["events"])
    except (KeyError, ValueError, IndexError, AttributeError, TypeError) as error:
        return f"{type(error).__name__}: {error}"


def met(config, cases):
    """What a file has walked: words for commands with their ends."""
    words = set()
    for case in cases:
        for event in case["events"]:
            fields = event["message"]["fields"]
            # A case is named by its first request; where holders make a record before, by each.
            if event is case["events"][0] or event["point"] == "request" and class_of(config) == "DB":
                name = fields.get("cmd", fields.get("op", fields.get("opcode")))
                if event["message"]["layout"].startswith("cxlio."):
                    name = spelling.TLP_NAMES[fields["fmt"] >> 1 & 1, fields["tlp_type"]]
                words.add(f"asked {name}")
            if event["point"] == "sent" and config["direction"] == "outbound":
                found = asked(event)
                words.add(f"{name} sent {found.words}" + (" Bogus" if fields.get("bogus") else ""))
            elif event["point"] == "response":
                end = fields.get("status", fields.get("opcode", fields.get("op")))
                if end == "RSP_ERROR":
                    end = f"error {fields['size']}"
                words.add(f"{name} ended {end}")
                if config.get("single_beat") and len(event["message"].get("data", [])) == 1:
                    words.add((fields["offset"], fields["last"]))
            elif event["point"] == "answer" and event["message"]["layout"] == "cxl256.h2d_rsp" and fields["opcode"] == "GO":
                words.add(f"told GO-{spelling_cc.GO[fields['rsp_data'] % 16]}")
            elif event["point"] == "answer" and event["message"]["layout"] == "cxl256.h2d_data":
                words.add("told H2D Data error" if fields["go_err"] else "told H2D Data")
            elif event["point"] == "answer":
                words.add(f"told {fields.get('status', fields.get('opcode', fields.get('op')))} {fields.get('size', '')}".strip())
    return words


def missing(config, words):
    """What the walk has to have, as the sheet lists it, and has not."""
    beside = missing_beside(config, words)
    if beside is not None:
        return beside
    want = set()
    coherent = class_of(config) == "MC"
    lacks = spelling_cc.missing(config, words) if class_of(config) == "CC" else []
    if class_of(config) == "DB":
        want |= spelling_db.missing(config)
    elif class_of(config) == "BR":
        want |= spelling_bar.missing()
        want |= {f"told {status}" for status in spelling.STATUS} if config["protocol"] == "ualink" else {
            f"told RSP_ERROR {status}" for status in range(1, 16)}
    elif config["direction"] == "inbound" and "cache" in config:
        want |= {f"asked {opcode}" for opcode in ("MemRd", "MemWr", "MemWrPtl")}
    elif config["direction"] == "inbound":
        want |= {f"asked {opcode}" for opcode in spelling.LEGAL}
        # Reserved and foreign opcodes too.
        want |= {"asked MemClnEvct", "asked BIConflict", "MemRd ended MemDataNXM", "MemRd ended MemData", "MemWr ended Cmp"}
        if config["protocol"] == "ualink":
            want |= {f"told {status}" for status in spelling.STATUS}
        else:
            want |= {f"told RSP_ERROR {status}" for status in range(1, 16)}
    elif class_of(config) == "IO":
        want |= missing_io(config["protocol"])
    elif config.get("single_beat"):
        want |= {f"Read ended {end}" for end in ("OKAY", "TargetAbort", "DecodeError", "ProtectionViolation")}
        lacks += sorted({(n, last) for n in range(4) for last in (0, 1)} - {word for word in words if isinstance(word, tuple)})
        want |= {"WriteFull ended OKAY", "AtomicR ended OKAY"}
    elif config["protocol"] == "ualink" and "cache" not in config:
        known = {code: name for name, code in spelling.COMMAND.items()}
        want |= {f"asked {known.get(code, code)}" for code in range(64)}
        for command in ("Read", "Write", "WriteFull", "AtomicR", "AtomicNR"):
            want |= {f"{command} ended {end}" for end in ("TargetAbort", "DecodeError", "ProtectionViolation")}
            want |= {f"{command} ended OKAY"} if class_of(config) != "MN" or "Atomic" not in command else set()
        want |= {f"{code} ended TargetAbort" for code in range(64) if code not in known}
    elif config["protocol"] == "nvlink" and "cache" not in config:
        for op in ("READ", "WRITE_NONPOSTED", "ATOMIC_RETURN"):
            want |= {f"{op} ended error {status}" for status in (2, 3, 6)}
        want |= {"asked WRITE_POSTED", "asked ATOMIC_POSTED", "asked MULTICAST_WRITE", "REDUCE_READ ended error 2",
                 "WRITE_NONPOSTED ended RSP_DONE", "READ ended RSP_DATA", "WRITE_POSTED ended error 3"}
    if config["direction"] == "outbound" and "cache" not in config and "single_beat" not in config:
        reads, writes = ("READ", "WRITE_NONPOSTED") if config["protocol"] == "nvlink" else ("Read", "Write")
        for (kind, op), steps in spelling.FLOWS.items():
            if kind == class_of(config) and op != "atomic":
                want |= {f"{reads if op == 'read' else writes} sent {step[0]}" for step in steps}
    elif config["direction"] == "outbound" and class_of(config) != "CC" and "single_beat" not in config:
        kind = class_of(config)
        fills = {words for (of, _, _), (words, _) in spelling.FILLS.items() if of == kind}
        evicts = {spelling.EVICTS[state] for state in ("SEM" if coherent else "D")}
        heard = {word.split(" sent ", 1)[1] for word in words if " sent " in word}
        return sorted((fills | evicts) - heard)
    return lacks + sorted(want - words)


def missing_beside(config, words):
    """What the walk of a cache that writes through, or that streams pass by, has to have beside that of a cache alone; errors and snoops
    are walked there. `None`: it is no such walk."""
    cache, kind = config.get("cache", {}), class_of(config)
    if config["direction"] == "inbound" or "cache" not in config:
        return None
    alone, kept, leaves = {
        "CC": (set(spelling_cc.ALONE.values()), set(spelling_cc.KEPT.values()), set(spelling_cc.LEAVES.values())),
        "MC": ({step[0] for (of, _), steps in spelling.FLOWS.items() if of == "MC" for step in steps},
               {fill for (of, _, _), (fill, _) in spelling.FILLS.items() if of == "MC"}, {spelling.EVICTS["E"]}),
        "MN": ({step[0] for (of, _), steps in spelling.FLOWS.items() if of == "MN" for step in steps},
               {fill for (of, _, _), (fill, _) in spelling.FILLS.items() if of == "MN"}, set()),
    }[kind]
    heard = {word.split(" sent ", 1)[1] for word in words if " sent " in word}
    if cache.get("stores") == "through":
        return sorted((kept | leaves | ({"D2H Data"} if kind == "CC" else {"MemWr Any/NoOp"})) - heard)
    if cache.get("stream_blocks"):
        # One block enters, by a read; all that comes behind it passes by.
        enters = {"RdShared"} if kind == "CC" else {fill for (of, op, _), (fill, _) in spelling.FILLS.items() if (of, op) == (kind, "read")}
        return sorted((alone | enters) - heard)
    return None


def missing_io(protocol):
    """What the walk of class IO has to have."""
    want = {f"told {status}" for status in spelling.COMPLETION}
    reads, writes, atomics = ("Read",), ("Write", "WriteFull"), ("AtomicR", "AtomicNR")
    good, bad = {"OKAY"}, {"TargetAbort", "DecodeError", "ProtectionViolation"}
    if protocol == "nvlink":
        reads, writes, atomics = ("READ",), ("WRITE_NONPOSTED", "WRITE_POSTED"), ("ATOMIC_RETURN", "ATOMIC_POSTED")
        bad = {f"error {status}" for status in (2, 3, 6)}
        want |= {"READ ended RSP_DATA", "WRITE_NONPOSTED ended RSP_DONE", "ATOMIC_RETURN ended RSP_DATA"}
        # The FLUSH behind a posted write tells its error (6.3); a case is named by its first request.
        want |= {"WRITE_POSTED ended RSP_DONE", "WRITE_POSTED ended error 2", "WRITE_POSTED ended error 3"}
        ends = {f"{command} ended {end}" for command in ("READ", "WRITE_NONPOSTED", "ATOMIC_RETURN") for end in bad}
    else:
        ends = {f"{command} ended {end}" for command in ("Read", "WriteFull") for end in good | bad}
        ends |= {f"{command} ended TargetAbort" for command in atomics}
    want |= {f"{command} sent MRd" for command in reads + writes} | {f"{command} sent MWr" for command in writes}
    return want | ends | {f"{command} sent {name}" for command in atomics for name in spelling.IO_ATOMICS.values()}


def flipped(text):
    return bytes(byte ^ 0x10 for byte in bytes.fromhex(text)).hex()


def spoiled(event):
    """The event with one thing changed, several times: data, places, words, status."""
    fields = event["message"]["fields"]
    for name in ("status", "opcode", "address", "snp_type", "meta_value", "tc", "dst", "rdwr", "poison", "tag", "vchan", "rid",
                 "op", "size", "ep", "first_be", "last_be", "attr", "uqid", "bogus", "offset", "last"):
        if name not in fields or event["point"] == "sent" and name == "tag":
            continue
        changed = copy.deepcopy(event)
        old = fields[name]
        other = {"op": "RSP_DONE" if old != "RSP_DONE" else "RSP_DATA", "opcode": "MemRdData", "status": 9,
                 "snp_type": "SnpData" if old != "SnpData" else "SnpInv", "rdwr": "Write" if old == "Read" else "Read",
                 "meta_value": "Shared" if old != "Shared" else "Any", "poison": int(not old),
                 "bogus": int(not old), "last": int(not old)}
        changed["message"]["fields"][name] = other.get(name, 64 + spelling.number(old) if name == "address" else
                                                       old + 1 if isinstance(old, int) else 1)
        yield name, changed
    for key in ("data", "enables", "be"):
        if key in event["message"]:
            changed = copy.deepcopy(event)
            value = changed["message"][key]
            # All bytes: some lanes of an atomic mean nothing.
            changed["message"][key] = list(map(flipped, value)) if isinstance(value, list) else flipped(value)
            yield key, changed


def blind(config, cases):
    """Changes that nobody sees. A field that means nothing in its message is no change."""
    unseen, tried = [], 0
    nothing = {("cxl256.s2m_ndr", "meta_value"), ("cxl256.s2m_drs", "meta_value"), ("nvlink.header", "size"),
               ("nvlink.header", "ep")}
    messages = sum(len(case["events"]) for case in cases)
    for case in cases[::max(1, messages // SPOILED)]:
        if judged(config, case):
            continue
        for n, event in enumerate(case["events"]):
            if event["point"] in ("request", "answer"):
                continue
            layout, fields = event["message"]["layout"], event["message"]["fields"]
            for name, changed in spoiled(event):
                no_meta = name == "meta_value" and fields.get("meta_field") == "NoOp"
                no_channel = name == "tc" and event["point"] == "response"
                request = case["events"][0]["message"]
                no_lane = name == "data" and not any(bytes.fromhex(request.get("enables", request.get("be", "01"))))
                # Bytes of a line that was taken away before mean nothing.
                no_bytes = fields.get("bogus") and name in ("data", "poison", "enables")
                no_address = name == "address" and event["point"] == "response"
                # Of UALink they are byte enables of reads, which are compared nowhere else.
                no_attributes = name == "attr" and not layout.startswith("cxlio.")
                if no_meta or no_channel or no_address or no_attributes or no_lane or no_bytes or (layout, name) in nothing:
                    continue
                tried += 1
                other = dict(case, events=case["events"][:n] + [changed] + case["events"][n + 1:])
                if judged(config, other) is None:
                    unseen.append(f"case {case['case']} ({case['what']}): {name} of message {n}")
    return unseen, tried


def check(path):
    """Lines of what is wrong with a file, and what was done."""
    with open(path, encoding="ascii") as lines:
        head, *cases = map(json.loads, lines)
    config, wrong = head["config"], []
    if head["format"] != 1 or head["cases"] != len(cases):
        wrong.append(f"format {head['format']} with {len(cases)} cases, expected format 1 with {head['cases']}")
    for case in cases:
        text = judged(config, case)
        if text:
            wrong.append(f"case {case['case']} ({case['what']}): {text}")
    wrong += [f"the walk lacks: {what}" for what in missing(config, met(config, cases))]
    unseen, tried = blind(config, cases)
    wrong += [f"not seen: {what}" for what in unseen]
    messages = sum(len(case["events"]) for case in cases)
    return wrong, f"{len(cases)} cases, {messages} messages, {tried} spoiled messages seen"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--set", type=pathlib.Path, help="vectors that are there already")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = options.set or pathlib.Path(made)
        if not options.set:
            subprocess.run([options.program, "export", "conversions", "--out", made], check=True, stdout=subprocess.DEVNULL)
        files = sorted(folder.glob("*.jsonl"))
        if len(files) != FILES:
            print(f"bridge: found {len(files)} files of vectors, expected {FILES}", file=sys.stderr)
            return 1
        status = 0
        for path in files:
            wrong, done = check(path)
            print(f"{path.stem}: {done}, {len(wrong)} differences")
            for line in wrong[:8]:
                print(f"    {line[:600]}")
            status |= bool(wrong)
    return status


if __name__ == "__main__":
    sys.exit(main())
