#!/usr/bin/env python3
"""Holds the TLPs and DLLPs of the non-flit form against cocotbext-pcie: check.py PROGRAM VECTORS

Random packets, the same ones in every run, go both ways:

    client -> bytes -> `scalepool decode` -> fields as the client has them -> `scalepool encode` -> the same bytes
    fields -> `scalepool encode` -> bytes -> client -> the same fields -> bytes of the client, the same

VECTORS is written: every packet with its checksum, for testbenches/tests/pcie_vectors.rs. CRC-16 is the client's. The
client has no LCRC and no ECRC: they are zlib's CRC-32. It knows the types of messages, but does not pack them: a message
goes through it as the 64-bit memory request with the same DW0, and byte 0 is put in afterwards.

Not covered, because the client has none of it: prefixes, deferrable writes, framing tokens, AT = 3, reserved completion
status. `check.py --sample` prints the few packets that are committed as vectors.txt.

Exit 0: no difference; 1: there are some; 2: wrong usage.
"""
import json
import random
import struct
import subprocess
import sys
import zlib
from importlib.metadata import version
from pathlib import Path

from cocotbext.pcie.core.dllp import Dllp, DllpType, FcScale
from cocotbext.pcie.core.tlp import CplStatus, MsgType, Tlp, TlpAt, TlpAttr, TlpFmt, TlpTc, TlpType
from cocotbext.pcie.core.utils import PcieId

SEED = 2026
TLPS = 12000  # in each direction
DLLPS = 6000  # in each direction
SHOWN = 20  # differences that are printed
SAMPLE = 300  # packets of the committed file

TYPES = [kind for kind in TlpType if kind.value[0] != TlpFmt.TLP_PREFIX]
MESSAGES = [kind for kind in TYPES if kind.name.startswith("MSG_")]
FLOW_CONTROL = [kind for kind in DllpType if kind.name.startswith(("INIT_FC", "UPDATE_FC"))]
# Types without fields: their bytes count for the CRC alone.
BARE = [DllpType.NOP, DllpType.PM_ENTER_L1, DllpType.PM_ENTER_L23, DllpType.PM_ACT_ST_REQ_L1, DllpType.PM_REQ_ACK]


def four_dw(kind):
    return kind.value[0] in (TlpFmt.FOUR_DW, TlpFmt.FOUR_DW_DATA)


def has_data(kind):
    return kind.value[0] in (TlpFmt.THREE_DW_DATA, TlpFmt.FOUR_DW_DATA)


# ---- TLPs ----


def tlp_layout(kind):
    name = kind.name
    for beginning, layout in [("MSG_", "nfm_msg"), ("CFG_", "nfm_cfg"), ("CPL", "nfm_cpl")]:
        if name.startswith(beginning):
            return "cxlio." + layout
    return "cxlio.nfm_mem64" if four_dw(kind) else "cxlio.nfm_mem32"


def number(rng, bits):
    """A number of so many bits; now and then all zeros or all ones."""
    return rng.choice([0, (1 << bits) - 1]) if rng.random() < 0.1 else rng.getrandbits(bits)


def random_tlp(rng, kind, small=False):
    tlp = Tlp()
    tlp.fmt_type = kind
    tlp.tc = TlpTc(number(rng, 3))
    tlp.attr = TlpAttr(number(rng, 3))
    tlp.at = rng.choice(list(TlpAt))
    tlp.th, tlp.td, tlp.ep = (rng.random() < 0.5 for _ in range(3))
    tlp.ln = rng.random() < 0.05  # reserved today
    tlp.tag = number(rng, 10)
    tlp.requester_id = PcieId.from_int(number(rng, 16))
    if kind.name.startswith(("CFG_", "IO_")):
        tlp.length = 1
    elif small or rng.random() < 0.9:
        tlp.length = rng.randint(1, 16)
    else:
        tlp.length = rng.choice([1024, rng.randint(1, 1024)])
    if kind.name.startswith("CPL"):
        tlp.completer_id = PcieId.from_int(number(rng, 16))
        tlp.status = rng.choice(list(CplStatus))
        tlp.bcm = rng.random() < 0.5
        tlp.byte_count = rng.choice([4096, rng.randint(1, 4096)])
        tlp.lower_address = number(rng, 7)
    else:
        tlp.first_be, tlp.last_be = number(rng, 4), number(rng, 4)
        if kind.name.startswith("CFG_"):
            tlp.completer_id = PcieId.from_int(number(rng, 16))
            tlp.address = number(rng, 12) & ~3
        else:
            tlp.address = number(rng, 64 if four_dw(kind) else 32) & ~3
            tlp.ph = number(rng, 2)
        if kind in MESSAGES and rng.random() < 0.5:
            code = rng.choice(list(MsgType))
            tlp.first_be, tlp.last_be = code & 15, code >> 4
    if has_data(kind):
        tlp.data = rng.getrandbits(32 * tlp.length).to_bytes(4 * tlp.length, "big")
    elif kind.name.startswith(("CPL", "MSG_")):
        tlp.length = 0  # reserved without data
    return tlp


def tlp_fields(tlp):
    """What the client's object says, in the names of the layout."""
    kind = tlp.fmt_type
    fields = {
        "tag": tlp.tag & 0xFF, "tag_8": tlp.tag >> 8 & 1, "tag_9": tlp.tag >> 9, "requester": int(tlp.requester_id),
        "length": tlp.length % 1024, "at": int(tlp.at), "attr": tlp.attr & 3, "attr_2": tlp.attr >> 2,
        "ep": int(tlp.ep), "td": int(tlp.td), "th": int(tlp.th), "rsvd": int(tlp.ln), "tc": int(tlp.tc),
        "tlp_type": tlp.type, "fmt": int(tlp.fmt),
    }
    if kind.name.startswith("CPL"):
        fields |= {
            "completer": int(tlp.completer_id), "status": tlp.status.name, "bcm": int(tlp.bcm), "rsvd1": 0,
            "byte_count": tlp.byte_count % 4096, "lower_addr": tlp.lower_address,
        }
    elif kind in MESSAGES:
        fields |= {
            "message_code": tlp.last_be << 4 | tlp.first_be,
            "dw2": tlp.address >> 32, "dw3": tlp.address & 0xFFFFFFFF | tlp.ph,
        }
    else:
        fields |= {"first_be": tlp.first_be, "last_be": tlp.last_be}
        if kind.name.startswith("CFG_"):
            fields |= {"completer": int(tlp.completer_id), "ext_reg": tlp.address >> 8, "reg_dw": tlp.address >> 2 & 63}
            fields |= {"rsvd1": 0, "rsvd2": 0}
        else:
            fields |= {"address": tlp.address, "ph": tlp.ph}
    return fields


def stand_in(kind):
    """The type under which the client packs and unpacks."""
    if kind in MESSAGES:
        return TlpType.MEM_WRITE_64 if has_data(kind) else TlpType.MEM_READ_64
    return kind


def tlp_header(tlp):
    kind = tlp.fmt_type
    tlp.fmt_type = stand_in(kind)
    header = tlp.pack_header()
    tlp.fmt_type = kind
    header[0] = tlp.fmt << 5 | tlp.type
    return bytes(header)


def tlp_from(header):
    kind = TlpType((header[0] >> 5, header[0] & 31))
    fmt, code = stand_in(kind).value
    tlp = Tlp.unpack_header(bytes([fmt << 5 | code]) + header[1:])
    tlp.fmt_type = kind
    return tlp


def crc32(data):
    return struct.pack("<L", zlib.crc32(data))


def tlp_line(rng, tlp, header):
    """Sequence number, TLP with its ECRC if it says that it has one, LCRC."""
    whole = header + bytes(tlp.data)
    if tlp.td:
        whole += crc32(bytes([whole[0] | 1, whole[1], whole[2] | 0x40]) + whole[3:])
    sequence = number(rng, 12)
    return f"tlp {sequence} {whole.hex()} {crc32(struct.pack('>H', sequence) + whole).hex()}"


# ---- DLLPs ----


def dllp_layout(kind):
    if kind in FLOW_CONTROL:
        return "cxlio.dllp_fc"
    return "cxlio.dllp_feature" if kind == DllpType.DATA_LINK_FEATURE else "cxlio.dllp_ack_nak"


def random_dllp(rng):
    choice = rng.random()
    if choice < 0.3:
        return rng.choice([Dllp.create_ack, Dllp.create_nak])(number(rng, 12))
    dllp = Dllp()
    if choice < 0.4:
        dllp.type = DllpType.DATA_LINK_FEATURE
        dllp.feature_support = number(rng, 23)
        dllp.feature_ack = rng.random() < 0.5
        return dllp
    dllp.type = rng.choice(FLOW_CONTROL)
    dllp.vc = number(rng, 3)
    dllp.hdr_scale, dllp.data_scale = rng.choice(list(FcScale)), rng.choice(list(FcScale))
    dllp.hdr_fc, dllp.data_fc = number(rng, 8), number(rng, 12)
    return dllp


def dllp_fields(dllp):
    kind = dllp.type
    name = "".join(word.capitalize() for word in kind.name.split("_"))
    if kind in FLOW_CONTROL:
        return {
            "fc_type": name, "vc": dllp.vc, "shared": 0, "hdr_scale": int(dllp.hdr_scale), "hdr_fc": dllp.hdr_fc,
            "data_scale": int(dllp.data_scale), "data_fc": dllp.data_fc,
        }
    if kind == DllpType.DATA_LINK_FEATURE:
        return {"dllp_type": "Feature", "feature": dllp.feature_support, "feature_ack": int(dllp.feature_ack)}
    return {"dllp_type": name, "seq": dllp.seq, "rsvd": 0}


def dllp_line(packed):
    """DLLP and CRC-16, as `pack_crc` of the client puts them one behind the other."""
    return f"dllp {packed[:4].hex()} {packed[4:].hex()}"


# ---- both ways ----


class Tlps:
    """How the check handles a TLP; `Dllps` has the same names."""

    fields = staticmethod(tlp_fields)
    unpack = staticmethod(tlp_from)
    pack = staticmethod(tlp_header)

    @staticmethod
    def layout(tlp):
        return tlp_layout(tlp.fmt_type)

    @staticmethod
    def violations(tlp):
        return int(tlp.ln)


class Dllps:
    fields = staticmethod(dllp_fields)
    unpack = staticmethod(Dllp.unpack)
    pack = staticmethod(Dllp.pack)

    @staticmethod
    def layout(dllp):
        return dllp_layout(dllp.type)

    @staticmethod
    def violations(_):
        return 0


class Program:
    def __init__(self, path):
        self.path = str(Path(path).resolve())

    def answers(self, verb, objects):
        """One answer for each object, through one run of the program."""
        text = "".join(json.dumps(o) + "\n" for o in objects)
        # Exit status 1 says that a rule is broken, which is looked at packet by packet.
        run = subprocess.run([self.path, verb, "--jsonl"], input=text, stdout=subprocess.PIPE, text=True, check=False)
        found = [json.loads(line) for line in run.stdout.splitlines()]
        if run.returncode not in (0, 1) and not any("error" in answer for answer in found):
            sys.exit(f"pcie: `{verb} --jsonl` ended with status {run.returncode}")
        if len(found) != len(objects):
            sys.exit(f"pcie: `{verb} --jsonl` gave {len(found)} answers to {len(objects)} lines")
        return found

    def decode(self, layouts, packets):
        found = self.answers("decode", [{"layout": l, "hex": p.hex()} for l, p in zip(layouts, packets)])
        for answer in found:
            answer.setdefault("fields", {})
            answer.setdefault("violations", [])
        return found

    def encode(self, layouts, fields):
        found = self.answers("encode", [{"layout": l, "fields": f} for l, f in zip(layouts, fields)])
        return [bytes.fromhex(answer.get("hex", "")) for answer in found]


def value(field):
    """A field of the program's answer: numbers that JSON readers may round are strings of hexadecimal."""
    return int(field, 16) if isinstance(field, str) and field.startswith("0x") else field


def differences(want, answer):
    """Fields that are not the same, those that only one side has included."""
    found = {name: value(field) for name, field in answer.items()}
    names = sorted(want.keys() | found.keys())
    return [f"{n}: client {want.get(n)}, program {found.get(n)}" for n in names if want.get(n) != found.get(n)]


def to_program(program, kit, objects):
    """Client first. What is wrong, a line each."""
    packets = [kit.pack(o) for o in objects]
    layouts = [kit.layout(o) for o in objects]
    decoded = program.decode(layouts, packets)
    again = program.encode(layouts, [answer["fields"] for answer in decoded])
    wrong = []
    for o, packet, layout, answer, encoded in zip(objects, packets, layouts, decoded, again):
        found = differences(kit.fields(o), answer["fields"])
        if len(answer["violations"]) != kit.violations(o):
            found.append(f"violations: {answer}")
        if encoded != packet:
            found.append(f"encoded again: {encoded.hex()}")
        wrong += [f"decode {layout} {packet.hex()}: {difference}" for difference in found]
    return wrong


def to_client(program, kit, objects):
    """Program first: only the fields of `objects` are used. What is wrong, a line each, and the bytes."""
    wanted = [kit.fields(o) for o in objects]
    layouts = [kit.layout(o) for o in objects]
    packets = program.encode(layouts, wanted)
    wrong = []
    for layout, want, packet in zip(layouts, wanted, packets):
        try:
            back = kit.unpack(packet)
        except Exception as error:  # the client raises the class Exception itself
            wrong.append(f"encode {layout} {want}: {packet.hex()}: the client refuses it: {error!r}")
            continue
        found = differences(kit.fields(back), want)
        if kit.pack(back) != packet:
            found.append(f"packed again: {kit.pack(back).hex()}")
        wrong += [f"encode {layout} {packet.hex()}: {difference}" for difference in found]
    return wrong, packets


def blind_spots(program, kit, objects):
    """Every bit of one packet of each layout, flipped, must be seen as a difference."""
    first = {kit.layout(o): o for o in reversed(objects)}
    layouts, packets, wanted = [], [], []
    for layout, o in first.items():
        packet = kit.pack(o)
        for bit in range(8 * len(packet)):
            flipped = int.from_bytes(packet, "big") ^ 1 << bit
            layouts.append(layout)
            packets.append(flipped.to_bytes(len(packet), "big"))
            wanted.append(kit.fields(o))
    decoded = program.decode(layouts, packets)
    return [
        f"blind {layout} {packet.hex()}: one wrong bit goes unnoticed"
        for layout, packet, want, answer in zip(layouts, packets, wanted, decoded)
        if len(differences(want, answer["fields"])) != 1
    ], len(packets)


def sample():
    rng = random.Random(SEED)
    lines = []
    for n in range(SAMPLE // 2):
        tlp = random_tlp(rng, TYPES[n % len(TYPES)], small=True)
        lines.append(tlp_line(rng, tlp, tlp_header(tlp)))
        lines.append(dllp_line(random_dllp(rng).pack_crc()))
    return lines


def main():
    if sys.argv[1:] == ["--sample"]:
        print("\n".join(sample()))
        return 0
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    program = Program(sys.argv[1])
    rng = random.Random(SEED)
    lines, wrong, flipped = [], [], 0

    down, up = ([random_tlp(rng, rng.choice(TYPES)) for _ in range(TLPS)] for _ in range(2))
    wrong += to_program(program, Tlps, down)
    found, packets = to_client(program, Tlps, up)
    wrong += found
    headers = [tlp_header(tlp) for tlp in down] + packets
    lines += [tlp_line(rng, tlp, header) for tlp, header in zip(down + up, headers)]
    found, bits = blind_spots(program, Tlps, down)
    wrong += found
    flipped += bits
    kinds = {tlp.fmt_type for tlp in down} & {tlp.fmt_type for tlp in up}
    messages = sum(tlp.fmt_type in MESSAGES for tlp in down + up)

    down, up = ([random_dllp(rng) for _ in range(DLLPS)] for _ in range(2))
    wrong += to_program(program, Dllps, down)
    found, packets = to_client(program, Dllps, up)
    wrong += found
    found, bits = blind_spots(program, Dllps, down)
    wrong += found
    flipped += bits
    bare = []
    for kind in BARE:
        dllp = Dllp()
        dllp.type = kind
        bare.append(dllp)
    lines += [dllp_line(dllp.pack_crc()) for dllp in down + bare]
    lines += [dllp_line(Dllp.unpack(packet).pack_crc()) for packet in packets]

    Path(sys.argv[2]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    for line in wrong[:SHOWN]:
        print(f"pcie: {line}", file=sys.stderr)
    print(f"cocotbext-pcie {version('cocotbext-pcie')}: {TLPS} TLPs and {DLLPS} DLLPs from it, as many to it; "
          f"{len(kinds)} of {len(TYPES)} types of TLP, {messages} messages through their stand-in")
    print(f"{flipped} packets with one wrong bit; {len(lines)} checksums for the library; {len(wrong)} differences")
    return 1 if wrong or len(kinds) != len(TYPES) else 0


if __name__ == "__main__":
    sys.exit(main())
