"""Units of both directions of a link, as two ends of the model send them, for waves that a watched end can be read from.

`run` is what the design's end sends and receives in each flit clock; some of what it sends is hit on its way, so that there
are replays. The others break a rule over time each, in what the end is seen to send or to receive; every flit alone stays
as good as it was.
"""

import random

from cocotbext.scalepool import LinkEnd


def _message(protocol, rng, n, way):
    """A message of the end that sends down (0) or up (1)."""
    data = "".join(f"{rng.randrange(256):02x}" for _ in range(64))
    if protocol == "nvlink":
        return {"op": "WRITE_NONPOSTED", "tag": n % 1024, "address": 64 * n, "data": data}
    if protocol == "ualink":
        # Credits of the transaction layer are nobody's business here: TL flits without a field.
        return {"upper": "00" * 32}
    family = {"cxl-68b": "cxl68", "cxl-256b-pbr": "cxlpbr"}.get(protocol, "cxl256")
    if way:
        return {"layout": f"{family}.s2m_ndr", "fields": {"opcode": "Cmp", "tag": n}}
    return {"layout": f"{family}.m2s_rwd", "fields": {"opcode": "MemWr", "tag": n, "address": 64 * n}, "data": data}


def run(protocol, clocks=1000, hits=(60, 150, 151), seed=1, traffic=True, **peer_config):
    """Rows of (what the end has sent, what comes to it), one a flit clock, each bytes or None. `hits` are the numbers of
    sent units that come damaged to the other end."""
    rng = random.Random(seed)
    config = {} if protocol == "ualink" else {"timeout_flits": 100}
    ends = [LinkEnd(protocol, "down", **config), LinkEnd(protocol, "up", **config, **peer_config)]
    rows, units, messages = [], 0, 0
    for clock in range(clocks):
        if traffic and 40 <= clock < clocks // 2:
            for way, rate in enumerate((0.1, 0.05) if protocol == "nvlink" else (0.5, 0.2)):
                if rng.random() < rate:
                    ends[way].send(_message(protocol, rng, messages, way))
                    messages += 1
        for end in ends:
            end.step()
        sent, comes = (end.sample() for end in ends)
        for end in ends:
            while end.take() is not None:
                pass
        if sent is not None:
            damaged = bytearray(sent)
            if units in hits:
                damaged[-5] ^= 0x10
            ends[1].drive(bytes(damaged))
            units += 1
        if comes is not None:
            ends[0].drive(comes)
        # A control flit in place of a flit has no bytes on this bus.
        rows.append(tuple(unit if unit is not None and len(unit) > 1 else None for unit in (sent, comes)))
    if not all(end.state()["quiet"] for end in ends):
        raise RuntimeError(f"{protocol}: the ends of the model are not at rest after {clocks} flit clocks")
    return rows


def lost(rows, at):
    """The end seems not to have sent one of its units."""
    return [(None, comes) if n == at else (sent, comes) for n, (sent, comes) in enumerate(rows)]


def repeated(rows, at):
    """The end seems to have sent one of its units twice."""
    return rows[:at + 1] + [(rows[at][0], None)] + rows[at + 1:]


def unheard(rows, at):
    """Units that the end acknowledges do not come to it."""
    return [(sent, None if at <= n < at + 40 else comes) for n, (sent, comes) in enumerate(rows)]


def poor(rows, fewer):
    """The peer gives fewer credits than the end spends."""
    return [(sent, comes) for (sent, _), (_, comes) in zip(rows, fewer)]
