"""Decoders, tables, identifiers and routes of the CXL fabric, spelled again from its sheet (`fabric` 2.2 to 3.4, 6.3 to 6.5).

Modelled: the arithmetic of one address, message or destination. Left out: registers but for routing tables, order, time. Nothing
here was taken from the model: decoders are the formulas that the sheet prints, identifiers are its table of conversions, routes
are judged by distances that are counted in breadth.

A walk through one address: `root_target` takes the bits, the remainder or the parities; `below_target` the bits above them;
`device_address` the offset without the interleave, behind the shares of earlier windows; `host_addresses` is the way back.
"""

import collections

#: 2.5: maps of the published vectors, for 256 bytes; larger chunks shift them.
XORMAPS = [0x2020900, 0x4041200, 0x1010400, 0x800]
#: 2.2: how many of them a number of ways uses.
MAPS_OF = {1: 0, 2: 1, 3: 0, 4: 2, 6: 1, 8: 3, 12: 2, 16: 4}
#: 2.1: the code of a number of ways; codes from 8 on have a factor of three.
CODE_OF = {1: 0, 2: 1, 4: 2, 8: 3, 16: 4, 3: 8, 6: 9, 12: 10}


def parity(value):
    return value.bit_count() & 1


def root_target(hpa, n, g, xor):
    """2.2, CFMWS: the target at the root, of `n` ways with granularity code `g`."""
    bits = MAPS_OF[n]
    if xor:
        low = sum(parity(hpa & (XORMAPS[i] << g)) << i for i in range(bits))
    elif n in (1, 2, 4, 8, 16):
        low = (hpa >> (8 + g)) & (n - 1)
    else:
        low = (hpa >> (8 + g)) & ((1 << bits) - 1)
    if n == 3:
        return (hpa >> (8 + g)) % 3
    if n == 6:
        return low + 2 * ((hpa >> (9 + g)) % 3)
    if n == 12:
        return low + 4 * ((hpa >> (10 + g)) % 3)
    return low


def below(ways, root_ways, g):
    """HDM-8: ways and granularity code of decoders below the root: parent granularity x ways, of 3, 6, 12 a third."""
    factor = root_ways // 3 if root_ways % 3 == 0 else root_ways
    return ways // root_ways, g + factor.bit_length() - 1


def below_target(hpa, ways, g):
    """2.2, switch and host bridge."""
    return (hpa >> (8 + g)) & (ways - 1)


def device_offset(offset, ways, ig):
    """2.3, by the code of the ways of the whole set."""
    iw, low = CODE_OF[ways], offset & ((1 << (8 + ig)) - 1)
    if iw < 8:
        return (offset >> (8 + ig + iw)) << (8 + ig) | low
    return ((offset >> (ig + iw)) // 3) << (8 + ig) | low


def device_address(hpa, windows, ways, ig):
    """2.3 with dpa_base without skips; None without a hit."""
    base_of_share = 0
    for base, size in windows:
        if base <= hpa < base + size:
            return base_of_share + device_offset(hpa - base, ways, ig)
        base_of_share += size // ways
    return None


def host_addresses(dpa, base, share_base, ways, ig):
    """2.3, the way back: the address of this device byte at each position of the set."""
    share = dpa - share_base
    chunk, low = share >> (8 + ig), share & ((1 << (8 + ig)) - 1)
    return [base + ((chunk * ways + position) << (8 + ig)) + low for position in range(ways)]


def segment_entry(hpa, base, limit, code, depth):
    """EDG-1: the number of the segment modulo the depth; base inclusive, limit exclusive (EDG-4)."""
    if not base <= hpa < limit:
        return None
    return (hpa >> (36 + code)) % depth


def segment_dpid(hpa, entry):
    """EDG-2: the DPID, or the one that the bits above the granularity select."""
    return entry["dpids"][(hpa // entry["granularity"]) % len(entry["dpids"])]


#: 1.7 BIR-1, 3.4 and the layouts: the identifiers that a message has on a link of an edge, and in the fabric.
HBR_IDS = {
    "D2H Req": ["cache_id"], "H2D Req": ["cache_id"], "H2D Rsp": ["cache_id"], "H2D Data": ["cache_id"],
    "D2H Rsp": [], "D2H Data": [],
    "M2S Req": ["ld_id"], "M2S RwD": ["ld_id"], "S2M NDR": ["ld_id"], "S2M DRS": ["ld_id"],
    "S2M BISnp": ["bi_id"], "M2S BIRsp": ["bi_id"],
}
PBR_IDS = {name: ["dpid"] for name in HBR_IDS}
for _both in ("D2H Req", "H2D Req", "M2S Req", "M2S RwD", "S2M BISnp", "M2S BIRsp"):
    PBR_IDS[_both] = ["spid", "dpid"]

#: 3.4, HBR -> PBR by class and edge: where SPID and DPID come from. No entry: the class does not come from there.
#: own, root: PIDs of the edge; hosts, caches, buses: a table by an identifier; decoded: FAST, LDST or the binding.
_UP_CACHE, _UP_MEM = ("D2H Rsp", "D2H Data"), ("S2M NDR", "S2M DRS")
TO_PBR = {
    "usp": {
        "H2D Req": ("own", "caches:cache_id"),
        "H2D Rsp": (None, "caches:cache_id"),
        "H2D Data": (None, "caches:cache_id"),
        "M2S Req": ("own", "decoded"),
        "M2S RwD": ("own", "decoded"),
        "M2S BIRsp": ("own", "bi_id"),
    },
    "sld": {
        "D2H Req": ("own", "root"),
        **{name: (None, "root") for name in _UP_CACHE + _UP_MEM},
        "S2M BISnp": ("own", "root"),
    },
    "mld": {
        **{name: (None, "hosts:ld_id") for name in _UP_MEM},
        "S2M BISnp": ("own", "hosts:bi_id"),
    },
    "switch": {
        "D2H Req": ("caches:cache_id", "root"),
        **{name: (None, "root") for name in _UP_CACHE + _UP_MEM},
        "S2M BISnp": ("buses:bi_id", "root"),
    },
}
#: 3.4, PBR -> HBR: the identifier that the message gets, and from where: a table by a PID, or the PID itself.
TO_HBR = {
    "usp": {
        "D2H Req": ("cache_id", "caches:spid"),
        "S2M BISnp": ("bi_id", "spid"),
        **{name: None for name in _UP_CACHE + _UP_MEM},
    },
    "sld": {name: None for name in ("H2D Req", "H2D Rsp", "H2D Data", "M2S Req", "M2S RwD", "M2S BIRsp")},
    "mld": {
        "M2S Req": ("ld_id", "hosts:spid"),
        "M2S RwD": ("ld_id", "hosts:spid"),
        "M2S BIRsp": ("bi_id", "hosts:spid"),
    },
    "switch": {
        **{name: ("cache_id", "caches:dpid") for name in ("H2D Req", "H2D Rsp", "H2D Data")},
        "M2S Req": None,
        "M2S RwD": None,
        "M2S BIRsp": ("bi_id", "buses:dpid"),
    },
}
#: 3.6: what a GFD sends and gets, all of CXL.mem, stays as it is.
GFD = {"pbr": ("S2M NDR", "S2M DRS", "S2M BISnp"), "hbr": ("M2S Req", "M2S RwD", "M2S BIRsp")}


def taken(source, edge, message, forward):
    """An identifier from its source; None: it is in no table, so the message is dropped (EDG-8)."""
    name, _, key = source.partition(":")
    if not key:
        return message[name] if name in message else edge[name]
    pairs = edge[name] if forward else [[pid, number] for number, pid in edge[name]]
    return next((to for of, to in pairs if of == message[key]), None)


#: What an identifier could be taken from by mistake.
SOURCES = {
    "pbr": ["own", "root", "decoded", "bi_id", "ld_id", "cache_id", "hosts:ld_id", "hosts:bi_id", "caches:cache_id", "buses:bi_id"],
    "hbr": ["own", "spid", "dpid", *(f"{table}:{pid}" for table in ("caches", "hosts", "buses") for pid in ("spid", "dpid"))],
}


def wrong_rows():
    """Every row of both tables with one source exchanged, or none: edge, class, direction, and the wrong row."""
    for edge, rows in TO_PBR.items():
        for name, row in rows.items():
            for place, right in enumerate(row):
                for source in SOURCES["pbr"]:
                    if right and source != right:
                        yield edge, name, "pbr", tuple(source if n == place else old for n, old in enumerate(row))
    for edge, rows in TO_HBR.items():
        for name, row in rows.items():
            for identifier in HBR_IDS[name]:
                for source in [*SOURCES["hbr"], None]:
                    # Without a field for the SPID it is 0, which is right where nothing is looked up.
                    is_absent = source == "spid" and source not in PBR_IDS[name]
                    if source != (row[1] if row else None) and not is_absent:
                        yield edge, name, "hbr", (identifier, source) if source else None


def at_edge(edge, kind_of_message, towards, before, decoded, wrong_row=()):
    """3.4: the identifiers of a message behind an edge; None where it is dropped. `wrong_row` takes the place of that of the sheet."""
    empty = {"cache_id": 0, "ld_id": 0, "bi_id": 0, "spid": 0, "dpid": 0, "tag": before["tag"]}
    if edge["edge"] == "gfd":
        return before if kind_of_message in GFD[towards] else None
    rows = (TO_PBR if towards == "pbr" else TO_HBR)[edge["edge"]]
    if kind_of_message not in rows:
        return None
    row = rows[kind_of_message] if wrong_row == () else wrong_row
    if towards == "pbr":
        pairs = [(name, source) for name, source in zip(("spid", "dpid"), row) if source]
    else:
        pairs = [row] if row else []
    for name, source in pairs:
        found = taken(source, {**edge, "decoded": decoded}, before, towards == "pbr")
        if found is None:
            return None
        empty[name] = found
    return empty


def tlp_header(edge, ld_id, decoded, hierarchical):
    """`cxl-io` 3.8: C0h with Hie and DSAR, then SPID and DPID of 12 bits each; ISL-2: DSAR of a host's edge alone."""
    if edge["edge"] == "gfd":
        return None
    dpid = {"usp": decoded, "mld": dict(edge["hosts"]).get(ld_id)}.get(edge["edge"], edge["root"])
    if dpid is None:
        return None
    return f"{0xC0 | hierarchical << 2 | (edge['edge'] == 'usp') << 1:02x}{edge['own'] << 12 | dpid:06x}"


class RoutingTables:
    """3.2: the tables of a switch with `ports` ports."""

    def __init__(self, ports, used, groups):
        self.ports, self.used, self.groups = ports, used, groups
        self.tables = [[(0, 0)] * 4096 for _ in range(3)]

    def write(self, table, first, entries):
        """Whether a Set command is taken: DRT-4 refuses the whole of it."""
        pairs = [(kind & 3, value) for kind, value in zip(entries[::2], entries[1::2])]
        # Type 0 takes any value, type 3 none.
        behind = {0: 256, 1: self.ports, 2: len(self.groups), 3: 0}
        if table >= len(self.tables) or first + len(pairs) > 4096 or any(value >= behind[kind] for kind, value in pairs):
            return False
        self.tables[table][first : first + len(pairs)] = pairs
        return True

    def look_up(self, port, dpid):
        """DRT-1, RGT-2: the port of what is routed statically, and the ports of its group."""
        kind, value = self.tables[self.used[port]][dpid] if dpid < 4096 else (0, 0)
        if kind == 1:
            return value, None
        return (self.groups[value][0], self.groups[value]) if kind == 2 else (None, None)


class Net:
    """A topology by the ports of its routers."""

    def __init__(self, name, routers):
        self.name, self.routers = name, routers
        self.shape, numbers = name.split(":")
        self.numbers = [int(n) for n in numbers.replace(",", "x").split("x")]
        self.at = {}
        for router, ports in enumerate(routers):
            for peer in ports:
                if "node" in peer:
                    self.at[peer["node"]] = router
        self.distances = {}

    def distance(self, source, target):
        """Channels between routers, counted in breadth from the target."""
        if target not in self.distances:
            found, queue = {target: 0}, collections.deque([target])
            while queue:
                here = queue.popleft()
                for peer in self.routers[here]:
                    if "router" in peer and peer["router"] not in found:
                        found[peer["router"]] = found[here] + 1
                        queue.append(peer["router"])
            self.distances[target] = found
        return self.distances[target][source]

    def coordinates(self, router):
        found = []
        for size in self.numbers:
            found.append(router % size)
            router //= size
        return found

    def wanted(self, router, node):
        """The ports that the sheet gives: 6.4 dimension order and up-down, 6.5 local, global, local."""
        target = self.at[node]
        ports = range(len(self.routers[router]))
        if router == target:
            return [port for port in ports if self.routers[router][port].get("node") == node]
        onward = [(port, self.routers[router][port]["router"]) for port in ports if "router" in self.routers[router][port]]
        if self.shape == "dragonfly":
            group = lambda at: at // self.numbers[1]
            if group(router) == group(target):
                return [port for port, peer in onward if peer == target]
            leads = lambda at: any("router" in p and group(p["router"]) == group(target) for p in self.routers[at])
            if leads(router):
                return [port for port, peer in onward if group(peer) == group(target)]
            return [port for port, peer in onward if group(peer) == group(router) and leads(peer)]
        closer = [(port, peer) for port, peer in onward if self.distance(peer, target) < self.distance(router, target)]
        if self.shape == "fat-tree":
            return [port for port, _ in closer]
        here, there = self.coordinates(router), self.coordinates(target)
        first = next(d for d in range(len(here)) if here[d] != there[d])
        return [port for port, peer in closer if self.coordinates(peer)[first] != here[first]]
