"""Decoders, segment tables and routes of the CXL fabric, spelled a second time from its sheet (`fabric` 2.2 to 2.4, 3.3, 6.3 to 6.5).

Modelled: the arithmetic of one address or one destination. Left out: registers, order, time. Nothing here was taken from the model:
decoders are the formulas that the sheet prints, routes are judged by distances that are counted in breadth.

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
