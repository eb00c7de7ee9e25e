"""Golden vectors as the benches read them: the .hex files as they are, and beside them what the .jsonl files say of each
flit, in files of the same kind for $readmemh."""

import json
import pathlib
import random
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Vectors:
    """Finds vector sets and writes what is derived from them below `out`. A family that golden/ does not hold is made by
    the program, with the default seed and size."""

    def __init__(self, program, out):
        self.program, self.out = program, out
        out.mkdir(parents=True, exist_ok=True)

    def folder(self, family):
        committed = ROOT / "golden" / family
        if committed.is_dir():
            return committed
        made = self.out / "golden" / family
        if not made.is_dir():
            subprocess.run(
                [self.program, "golden", "--protocol", family, "--out", str(made.parent)],
                check=True, stdout=subprocess.DEVNULL,
            )
        return made

    def flits(self, family, name):
        """Path of the .hex file of a set of flits, and the objects of its .jsonl file, one a flit."""
        base = self.folder(family) / name
        with open(f"{base}.jsonl", encoding="ascii") as lines:
            records = [json.loads(line) for line in lines]
        with open(f"{base}.hex", encoding="ascii") as lines:
            count = sum(1 for line in lines if not line.startswith("//"))
        if count != len(records):
            raise ValueError(f"{base}: {count} flits in .hex, {len(records)} in .jsonl")
        return f"{base}.hex", records

    def write(self, name, numbers, bits):
        """A file for $readmemh; numbers of so many bits."""
        path = self.out / name
        digits = (bits + 3) // 4
        path.write_text("".join(f"{number:0{digits}x}\n" for number in numbers), encoding="ascii")
        return str(path)


def number(record):
    """The flit of a record as a number, byte 0 lowest."""
    return int.from_bytes(bytes.fromhex(record["hex"]), "little")


def cxl68_crc(vectors, name):
    """Flits that carry a CRC: those of CXL.cache and CXL.mem by what the decoder made of the protocol ID."""
    path, records = vectors.flits("cxl68", name)
    kept = [record for record in records if "crc" in record]
    flits = vectors.write(f"{name}.crc.hex", map(number, kept), 544)
    good = vectors.write(f"{name}.good.hex", (int(record["crc"]["ok"]) for record in kept), 1)
    return [f"+flits={flits}", f"+good={good}", f"+count={len(kept)}"], len(kept)


def cxl256_check(vectors, family, name, lopt):
    path, records = vectors.flits(family, name)
    fixed, verdicts = [], []
    for record in records:
        flit = bytearray.fromhex(record["hex"])
        fec, crc = record["fec"], record["crc"]
        for repair in fec["corrected"]:
            flit[repair["byte"]] = int(repair["expected"], 16)
        fixed.append(int.from_bytes(flit, "little"))
        even, odd = (crc["even"]["ok"], crc["odd"]["ok"]) if lopt else (crc["ok"], crc["ok"])
        verdict = fec["ok"] | even << 1 | odd << 2
        if "uncorrectable_group" in fec:
            verdict |= 1 << 6 | fec["uncorrectable_group"] << 4
        verdicts.append(verdict)
    arguments = [
        f"+flits={path}",
        "+fixed=" + vectors.write(f"{name}.fixed.hex", fixed, 2048),
        "+verdict=" + vectors.write(f"{name}.verdict.hex", verdicts, 8),
        f"+count={len(records)}",
    ]
    return arguments + ["+lopt"] * lopt, len(records)


def ual_crc(vectors, name):
    path, records = vectors.flits("ualink", name)
    good = vectors.write(f"{name}.good.hex", (int(record["crc"]["ok"]) for record in records), 1)
    return [f"+flits={path}", f"+good={good}", f"+count={len(records)}"], len(records)


def arbiter(vectors, kind, name):
    """The decision traces of the model's arbiters, `slot asks grant`, as testbenches/tests/arbiters/ commits them."""
    snapshot = ROOT / "testbenches/tests/arbiters/snapshots" / f"system__arbiters__traces__{name}.snap"
    slots = re.findall(r"^ *\d+ ([01]{4}) ([0-3-])( not used)?$", snapshot.read_text(encoding="ascii"), re.MULTILINE)
    numbers = [
        int(asks, 2) | (0 if grant == "-" else 16 << int(grant)) | (0 if unused else 256) for asks, grant, unused in slots
    ]
    trace = vectors.write(f"arbiter_{kind}.hex", numbers, 9)
    return [f"+trace={trace}", f"+kind={kind}", f"+count={len(numbers)}"], len(numbers)


def switch_slice(vectors):
    """The decisions of the model's crossbar at one output, as testbenches/tests/fab_hbr/ commits them."""
    snapshot = ROOT / "testbenches/tests/fab_hbr/snapshots/system__fab_hbr__slice_trace__switch_port_slice.snap"
    numbers = []
    for line in snapshot.read_text(encoding="ascii").splitlines():
        fields = line.split()
        if not fields or not fields[0].isdigit():
            continue
        _, credits, *pushes, grant = fields
        number = int(credits, 2) << 21
        for place, push in enumerate(pushes):
            if push != "-":
                which, word = map(int, push.split(":"))
                number |= (1 | which << 1 | word << 3) << 24 + 20 * place
        if grant != "-":
            place, which, word = map(int, grant.split(":"))
            number |= place | which << 2 | 1 << 4 | word << 5
        numbers.append(number)
    return ["+trace=" + vectors.write("switch_slice.hex", numbers, 104), f"+count={len(numbers)}"], len(numbers)


def nvl_crc(vectors, name):
    """All flits of a set in order; the CRC of a header covers the payload before it."""
    # One flit a line: other than elsewhere, a record has several of them.
    with open(vectors.folder("nvlink") / f"{name}.jsonl", encoding="ascii") as lines:
        records = [json.loads(line) for line in lines]
    # Behind a header that is wrong in itself nobody knows how much payload follows: these come last and are left out.
    wrong = [n for n, r in enumerate(records) if any(not b["rule"].startswith("NVL-CRC") for b in r["violations"])]
    records = records[:min(wrong, default=len(records))]
    flits = [
        int.from_bytes(packet[at:at + 16], "little") | (at == 0) << 128 | (at == 0 and record["crc"]["ok"]) << 129
        for record in records for packet in [bytes.fromhex(record["hex"])] for at in range(0, len(packet), 16)
    ]
    return ["+flits=" + vectors.write(f"{name}.crc.hex", flits, 130), f"+count={len(flits)}"], len(flits)


NVL_DATA_OPS = (0x02, 0x03, 0x04, 0x05, 0x07, 0x10)
NVL_OPS = (*NVL_DATA_OPS, 0x01, 0x06, 0x08, 0x11, 0x12)


def nvl_channel(op):
    """Channel of an operation (nvlink §6.1)."""
    return 6 if op in (0x02, 0x05, 0x07) else 5 if op in (0x10, 0x11, 0x12) else 0


def nvl_packetizer(vectors, seed):
    """Random transactions, and the packets that `flit encode nvlink` makes of them. An AE goes with a packet when it
    differs from the last one of its channel, an IDLE behind some of the packets with a payload."""
    draw = random.Random(seed)
    last = {}
    packets, forms, data = [], [], []
    after_payload = False
    for _ in range(400):
        link = {"crvc": draw.randrange(8), "crh": draw.randrange(16), "crd": draw.randrange(32),
                "ackv": draw.randrange(2), "ackid": draw.randrange(4096)}
        word = (link["crvc"] << 259 | link["crh"] << 262 | link["crd"] << 266 | link["ackv"] << 271
                | link["ackid"] << 272)
        if after_payload and draw.randrange(4) == 0:
            after_payload = False
            packets.append(word)
            forms.append({"packet": {"header": {"op": 0, **link}}})
            continue
        op = draw.choice(NVL_OPS)
        # Few regions, so that some addresses need no AE; the all-zero one is the state after reset.
        address = draw.randrange(3) << 38 | draw.randrange(1 << 34) << 4
        attr, route = draw.choice(((0, 0), (0, 0), (draw.randrange(64), draw.randrange(1 << 32))))
        header = {"op": op, "vc": nvl_channel(op), "tag": draw.randrange(1024), "rid": draw.randrange(512),
                  "address": address & (1 << 38) - 1, "size": draw.randrange(16), "ep": draw.randrange(2),
                  "atag": draw.randrange(4), **link}
        form = {"header": header}
        enables = 0
        be = op in NVL_DATA_OPS and header["size"] < 8 and draw.randrange(3) == 0
        if last.get(header["vc"], (0, 0, 0)) != (address >> 38, attr, route):
            last[header["vc"]] = (address >> 38, attr, route)
            form["ae"] = {"address": address >> 38 << 38, "attr": attr, "route": route}
        if be:
            enables = draw.getrandbits(128)
            form["be"] = enables.to_bytes(16, "little").hex()
        flits = header["size"] + 1 if op in NVL_DATA_OPS else 0
        values = [draw.getrandbits(128) for _ in range(flits)]
        data += values
        form["data"] = b"".join(value.to_bytes(16, "little") for value in values).hex()
        after_payload = flits > 0 or "ae" in form
        forms.append({"packet": form})
        packets.append(word | enables | route << 128 | attr << 160 | address >> 4 << 166 | op << 226
                       | header["tag"] << 232 | header["rid"] << 242 | header["size"] << 251 | be << 255
                       | header["ep"] << 256 | header["atag"] << 257)
    answer = subprocess.run(
        [vectors.program, "flit", "encode", "nvlink", "--dir", "down"], input="\n".join(map(json.dumps, forms)),
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout
    flits = []
    for line in answer.splitlines():
        packet = bytes.fromhex(json.loads(line)["hex"])
        for at in range(0, len(packet), 16):
            flits.append(int.from_bytes(packet[at:at + 16], "little") | (at == 0) << 128)
    name = f"nvl_{seed}"
    return [
        "+packets=" + vectors.write(f"{name}.packets.hex", packets, 320), f"+count={len(packets)}",
        "+data=" + vectors.write(f"{name}.data.hex", data, 128), f"+data_count={len(data)}",
        "+flits=" + vectors.write(f"{name}.flits.hex", flits, 129), f"+flit_count={len(flits)}",
    ], len(packets)


def ual_frames(vectors, name):
    """Flits whose header and segment headers break no rule; the TL flits in them, in order."""
    _, records = vectors.flits("ualink", name)
    kept = [r for r in records if not any(re.match("UAL-(FLH|SEG)", broken["rule"]) for broken in r["violations"])]
    tl = []
    for record in kept:
        for flit in record["tl_flits"] if record["crc"]["ok"] else ():
            halves = [int.from_bytes(bytes.fromhex(flit[half]["hex"]), "little") for half in ("lower", "upper")]
            marks = [flit[half]["kind"] in ("message", "poison") for half in ("lower", "upper")]
            tl.append(halves[0] | halves[1] << 256 | marks[0] << 512 | marks[1] << 513)
    return ual_files(vectors, name, kept, tl)


def ual_files(vectors, name, kept, tl):
    return [
        "+flits=" + vectors.write(f"{name}.kept.hex", map(number, kept), 5120), f"+count={len(kept)}",
        "+good=" + vectors.write(f"{name}.kept_good.hex", (int(r["crc"]["ok"]) for r in kept), 1),
        "+tl=" + vectors.write(f"{name}.tl.hex", tl, 514), f"+tl_count={len(tl)}",
    ], len(kept)


UAL_SECTORS = (32, 32, 32, 31, 30)


def ual_forms(draw):
    """Flits as forms, and the TL flits in them with their message indicators in bits 513:512, with what the golden flits
    lack: TL flits that start in the second half alone, all message indicators with content, and flits without payload
    while a TL flit is carried over."""
    forms, tl, carried = [], [], b""
    for n in range(40):
        last = n == 39
        header = {"seq": n % 511 + 1, "payload": int(last or draw.randrange(4) > 0), "op": "Original"}
        segments = []
        for segment, sectors in enumerate(UAL_SECTORS if header["payload"] else ()):
            size = 4 * sectors
            word = draw.randrange(3) == 0
            data = draw.randbytes(4 * word) + carried
            fields = {"alt": int(word)}
            for which in (0, 1):
                # At the second half, or behind what is there already; where that is full, it is still the first one.
                begin = len(data) if which == 0 else max(len(data), 64)
                starts = begin < size and draw.randrange(2) and not (which == 1 and len(data) == 64 and not fields["start0"])
                starts = starts and not (last and segment == 4 and begin + 64 > size)
                fields[f"start{which}"] = int(starts)
                fields[f"message{which}"] = draw.randrange(4) if starts else 0
                if starts:
                    flit = draw.randbytes(64)
                    tl.append(int.from_bytes(flit, "little") | fields[f"message{which}"] << 512)
                    data = data.ljust(begin, b"\0") + flit
            carried = data[size:]
            segments.append({"segment": segment, "header": fields, "data": data[:size].ljust(size, b"\0").hex()})
        forms.append({"header": header, "segments": segments})
    return forms, tl


def ual_made(vectors, seed):
    """The flits of `ual_forms`, encoded by the program, which has to find the same TL flits in them."""
    forms, tl = ual_forms(random.Random(seed))
    answer = subprocess.run(
        [vectors.program, "flit", "encode", "ualink", "--dir", "down"], input="\n".join(map(json.dumps, forms)),
        stdout=subprocess.PIPE, text=True, check=False,
    ).stdout
    # Content at random breaks rules of the layers above, so the exit status says nothing.
    records = [json.loads(line) for line in answer.splitlines()]
    # The program finds the same TL flits.
    found = [half["hex"] for record in records for flit in record["tl_flits"] for half in (flit["lower"], flit["upper"])]
    sent = [(flit >> bits & (1 << 256) - 1).to_bytes(32, "little").hex() for flit in tl for bits in (0, 256)]
    if sent != found:
        raise ValueError("the program finds other TL flits than were put in")
    return ual_files(vectors, f"ual_made_{seed}", records, tl)


CXL68_CLASS = {"h2d_req": 1, "d2h_req": 1, "h2d_rsp": 2, "d2h_rsp": 2, "h2d_data": 3, "d2h_data": 3,
               "m2s_req": 4, "s2m_ndr": 4, "m2s_rwd": 5, "s2m_drs": 5}


def cxl68_unpack(vectors, name):
    """The flits of CXL.cache and CXL.mem before the first that breaks a rule. A message's bits come from `encode`."""
    _, records = vectors.flits("cxl68", name)
    first_broken = next(i for i, record in enumerate(records) if record["violations"])
    kept = [r for r in records[:first_broken] if r["kind"] in ("protocol", "all-data", "control")]
    places = [
        (n, 5 * slot["slot"] + place, message)
        for n, record in enumerate(kept) for slot in record.get("slots", ()) if "messages" in slot
        for place, message in enumerate(slot["messages"]) if message["fields"]["valid"]
    ]
    answer = subprocess.run(
        [vectors.program, "encode", "--jsonl"], input="\n".join(json.dumps(message) for _, _, message in places),
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout.splitlines()
    expected = [0] * len(kept)
    for (n, place, message), line in zip(places, answer, strict=True):
        bits = int.from_bytes(bytes.fromhex(json.loads(line)["hex"]), "little")
        expected[n] |= bits << 87 * place | CXL68_CLASS[message["layout"].split(".")[1]] << 1740 + 3 * place
    for n, record in enumerate(kept):
        for slot in record.get("slots", ()):
            # A head slot with `data` holds a MAC, which is no chunk.
            if "data" in slot and not slot.get("format", "").startswith("H"):
                expected[n] |= 1 << 1800 + slot["slot"]
        expected[n] |= (record["kind"] == "all-data") << 1804 | (record["kind"] == "control") << 1805
    return [
        "+flits=" + vectors.write(f"{name}.slots.hex", (number(r) >> 16 & (1 << 512) - 1 for r in kept), 512),
        "+expected=" + vectors.write(f"{name}.unpacked.hex", expected, 1806), f"+count={len(kept)}",
    ] + ["+up"] * name.endswith("up"), len(kept)


def cxl68_pack(vectors, count):
    """Messages of the host's five classes that are valid in their golden sets; each set is used over and over."""
    arguments = [f"+count={count}"]
    for layout in ("h2d_req", "h2d_rsp", "h2d_data", "m2s_req", "m2s_rwd"):
        with open(vectors.folder("cxl68") / f"{layout}.jsonl", encoding="ascii") as lines:
            records = [json.loads(line) for line in lines]
        values = [number(r) for r in records if r["result"] == "valid" and r["fields"]["valid"]]
        values = [values[i % len(values)] for i in range(count)]
        arguments.append(f"+{layout}=" + vectors.write(f"pack_{layout}.hex", values, 87))
    return arguments, count


def retry_cases(vectors, name):
    """The cases of a set of retry flits: number of the first retryable flit, and the records of the flits."""
    path, records = vectors.flits("cxl68", name)
    cases, first, at = [], 0, 0
    for line in pathlib.Path(path).with_suffix(".rsp").read_text(encoding="ascii").splitlines():
        if line.startswith("[Context"):
            number_in_it = re.search(r" has number (\d+)", line)
            first = int(number_in_it[1]) if number_in_it else 0
        elif line.startswith("Count"):
            cases.append((first, []))
        elif line.startswith("Flit"):
            cases[-1][1].append(records[at])
            at += 1
    return cases


def retry_kind(record):
    """Req, Ack, Frame, Idle, or nothing for a flit that is retryable."""
    name = record["control"]["name"] if record["kind"] == "control" else ""
    return name.removeprefix("RETRY.") if name.startswith("RETRY.") else ""


def acknowledged(record):
    """Flits that one acknowledges: 8 with Ak, Full_Ack of an LLCRD."""
    if record["kind"] == "control":
        return record["control"]["fields"].get("full_ack", 0)
    return 8 * record["header"]["ak"] if record["kind"] == "protocol" else 0


def retry_transmitted(first, records):
    """Steps of the transmitter for a case: [(step, flit)], see cxl68_retry_tb.sv. None for what it never sends."""
    steps, numbers, again = [(first << 16, 0)], 0, 0
    for i, record in enumerate(records):
        kind = retry_kind(record)
        if kind == "Frame":
            # The last flit of the sequence says what has been asked for.
            last = next((r for r in records[i:] if retry_kind(r) != "Frame"), None)
            length = 1 + next((n for n, r in enumerate(reversed(records[:i])) if retry_kind(r) != "Frame"), i)
            if last is None or retry_kind(last) not in ("Req", "Ack") or length > 5:
                return None
            fields = last["control"]["fields"]
            asked = (fields.get("eseq", 0) << 16 | fields.get("num_retry", 0) << 24 | fields.get("num_phy_reinit", 0) << 29
                     | fields.get("viral", 0) << 34 | fields.get("viral_ld_id", 0) << 35)
            step = (3 if retry_kind(last) == "Ack" else 4) | asked if length == 1 else 1 | asked
        elif kind in ("Req", "Ack"):
            if i < 5 or retry_kind(records[i - 1]) != "Frame" or retry_kind(records[i - 5]) != "Frame":
                return None
            fields = record["control"]["fields"]
            step = 1 | fields.get("viral", 0) << 34 | fields.get("viral_ld_id", 0) << 35
            if kind == "Ack":
                again = (first + numbers - fields.get("eseq", 0)) % 128
        elif kind == "Idle" or again:
            step = 1
            again -= again > 0
        else:
            run = next((n for n, r in enumerate(records[i + 1:]) if r["kind"] != "all-data"), 0)
            step = 2 | (record["kind"] == "all-data") << 4 | run << 5 | (acknowledged(record) > 0) << 8
            numbers += 1
        steps.append((step, number(record) >> 16))
    return steps


def retry_received(first, records):
    """Steps of the receiver: the flit that the RETRY.Ack of the case asks for comes damaged, and those behind it are
    refused until the Ack has come."""
    ack = next((r for r in records if retry_kind(r) == "Ack"), None)
    framed = ack and records.index(ack) >= 5 and all(retry_kind(r) == "Frame" for r in records[records.index(ack) - 5:records.index(ack)])
    replayed = framed and any(not retry_kind(r) for r in records[:records.index(ack)])
    fields = ack["control"]["fields"] if replayed else {}
    lost = (fields.get("eseq", 0) - first) % 128 if replayed else None
    steps, numbers, frames, normal, all_data = [(first << 16, 0)], 0, 0, True, 0
    for record in records:
        kind = retry_kind(record)
        damaged = 0
        if normal:
            all_data = int(record["kind"] == "all-data")
            # An Ack with Empty: it was no retryable flit that came damaged, but the first of the Frames.
            damaged = int(lost is not None and numbers == lost and (not kind or (kind == "Frame" and fields.get("empty"))))
        taken = normal and not kind and not damaged
        step = 1 | damaged << 4 | all_data << 5 | taken << 6 | (acknowledged(record) << 7 if taken else 0)
        frames = frames + 1 if kind == "Frame" else frames
        if kind == "Req" and frames >= 5:
            asked = record["control"]["fields"]
            step |= 1 << 15 | asked.get("eseq", 0) << 16 | asked.get("num_retry", 0) << 24
        if kind == "Ack" and frames >= 5 and not replayed:
            step |= 1 << 29
        if kind != "Frame":
            frames = 0
        steps.append((step | damaged << 30, number(record) >> 16))
        numbers += taken
        if damaged:
            lost, normal = None, False
            steps.append((2 | fields.get("eseq", 0) << 16 | fields.get("num_retry", 0) << 24, 0))
            # The damaged Frame of an Ack with Empty is one more than the five.
            steps += [(1, number(record) >> 16)] if kind else []
        if kind == "Ack":
            normal = True
    return steps


def cxl68_retry(vectors, name):
    """Sequences and replays out of the transmitter and into the receiver."""
    sent, received = [], []
    for first, records in retry_cases(vectors, name):
        sent += retry_transmitted(first, records) or []
        received += retry_received(first, records)
    return retry_scripts(vectors, name, sent, received)


def cxl68_control(vectors, name):
    """Control flits into the receiver, each on its own: retryable, not retryable, or as good as damaged."""
    _, records = vectors.flits("cxl68", name)
    received = []
    for record in records:
        rules = {broken["rule"] for broken in record["violations"]}
        # What a flit of an unlisted kind is, nobody says (rule CTL-02).
        if record["kind"] == "control" and "CXL68-CTL-02" not in rules:
            taken = not rules and not retry_kind(record)
            step = 1 | taken << 6 | (acknowledged(record) << 7 if taken else 0) | bool(rules) << 30
            received += [(0, 0), (step, number(record) >> 16)]
    return retry_scripts(vectors, name, [], received)


def retry_scripts(vectors, name, sent, received):
    arguments = []
    for which, steps in (("tx", sent), ("rx", received)):
        arguments += [
            f"+{which}=" + vectors.write(f"{name}.{which}.hex", (step << 528 | flit for step, flit in steps), 592),
            f"+{which}_count={len(steps)}",
        ]
    return arguments, len(sent) + len(received)


def no_rule_is_broken(folder, program, protocol):
    """Has the program judge the flits that a bench left in `packed.txt`; what is wrong, or None."""
    answer = subprocess.run(
        [program, "flit", "decode", protocol, "--dir", "down"], input=(folder / "packed.txt").read_text(encoding="ascii"),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
    ).stdout.splitlines()
    for record in map(json.loads, answer):
        if record["violations"]:
            return f"the program says of flit {record['index']}: {record['violations'][0]}"
    return None if answer else "the program answers nothing"


def field_bits(program, messages):
    """Each message of these JSON forms as a number, by `scalepool encode`."""
    lines = "".join(json.dumps({"layout": m["layout"], "fields": m["fields"]}) + "\n" for m in messages)
    result = subprocess.run([program, "encode", "--jsonl"], input=lines, check=True, stdout=subprocess.PIPE, text=True)
    return [int.from_bytes(bytes.fromhex(json.loads(line)["hex"]), "little") for line in result.stdout.splitlines()]


def little(text):
    return int.from_bytes(bytes.fromhex(text), "little")


#: Commands of the slice of a bridge, and others, which it refuses.
BRIDGE_COMMANDS = re.compile(r"\d+$|Read$|Write$|WriteFull$|Vendor|Atomic")
#: What the enables of a request that has none show.
BRIDGE_ENABLES = int("5a" * 32, 16)
#: Templates of the slice.
BRIDGE_TEMPLATES = 16


def bridge_slice(vectors, every):
    """One in so many cases of one request to the first window by a source with all rights, with their lines; which conversions are kept, follows from the
    sheet: block, operation, lines that are sent, lines that are written whole."""
    folder = vectors.out / "conversions"
    if not folder.is_dir():
        subprocess.run([vectors.program, "export", "conversions", "--out", str(folder)], check=True, stdout=subprocess.DEVNULL)
    with open(folder / "ualink_to_cxl_mn.jsonl", encoding="ascii") as lines:
        head, *cases = map(json.loads, lines)
    other = [(w["base"], w["base"] + w["size"]) for w in head["config"]["windows"][1:]]

    def is_taken(case):
        points = [event["point"] for event in case["events"]]
        request = case["events"][0]["message"]["fields"]
        address = int(str(request["address"]), 0)
        return points.count("request") == 1 and str(request["src"]) not in head["config"]["groups"] \
            and BRIDGE_COMMANDS.match(str(request["cmd"])) and not any(low <= address < high for low, high in other)

    cases = [case for case in cases if is_taken(case)][::every]
    numbers = iter(field_bits(vectors.program, [event["message"] for case in cases for event in case["events"]]))
    requests, lines, responses, kept = [], [], [], {}
    for case in cases:
        open_ = {}
        for event in case["events"]:
            message, bits = event["message"], next(numbers)
            data = sum(little(beat) << 512 * n for n, beat in enumerate(message["data"])) \
                if isinstance(message.get("data"), list) else little(message.get("data", ""))
            enables = little(message["enables"]) if "enables" in message else None
            poison = sum(1 << n for n in message.get("poison", []))
            tag = message["fields"].get("tag")
            if event["point"] == "request":
                block = int(str(message["fields"]["address"]), 0) // 256
                command = message["fields"]["cmd"]
                # A request without enables heeds none.
                requests.append(data << 388 | poison << 384 | (BRIDGE_ENABLES if enables is None else enables) << 128 | bits)
            elif event["point"] == "sent":
                rwd = message["layout"].endswith("rwd")
                mask = (1 << 64) - 1 if enables is None else enables
                open_[tag] = [int(str(message["fields"]["address"]), 0) // 64 % 4, mask,
                              data << 169 | mask << 105 | rwd << 104 | bits]
            elif event["point"] == "answer":
                drs = message["layout"].endswith("drs")
                open_[tag][2] |= 1 << 1234 | data << 722 | drs << 721 | bits << 681
            else:
                place, key = block % BRIDGE_TEMPLATES, None
                if open_:
                    full = 0 if command == "Read" else sum((mask == (1 << 64) - 1) << n for n, mask, _ in open_.values())
                    key = (block, command == "Read", sum(1 << n for n, _, _ in open_.values()), full)
                hit = key is not None and kept.get(place) == key
                if key is not None:
                    kept[place] = key
                responses.append(hit << 2119 | len(open_) << 2116 | data << 68 | poison << 64 | bits)
        of_case = [line for _, _, line in open_.values()]
        lines += of_case + [0] * (4 - len(of_case))
    arguments = [
        f"+requests={vectors.write(f'brg.{every}.requests.hex', requests, 2436)}",
        f"+lines={vectors.write(f'brg.{every}.lines.hex', lines, 1235)}",
        f"+responses={vectors.write(f'brg.{every}.responses.hex', responses, 2120)}",
        f"+count={len(cases)}",
    ]
    return arguments, len(cases)
