#!/usr/bin/env python3
"""Holds the vectors of the CXL fabric against a second spelling of its sheet: compare.py --program target/debug/scalepool

Every answer of every case is compared, and what the cases walk is judged: each number of ways, granularity, arithmetic and split
has to be there, each size of segments, each shape. Then answers are spoiled one after the other, each of which has to be seen, and every identifier at an edge is taken from every
wrong source in turn, which a vector has to contradict; so is every check and step of HDM decoders left out in turn.
Exit status 1 when anything differs.
"""

import argparse
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

import hdm_registers
import spelling

IDS = ["cache_id", "ld_id", "bi_id", "spid", "dpid"]
WAYS = [1, 2, 3, 4, 6, 8, 12, 16]


def number(text):
    return None if text is None else int(text, 16)


def judge_walk(case):
    """Differences of a case of decoder_walk."""
    g, below_g = (case[key].bit_length() - 9 for key in ("granularity", "below_granularity"))
    ways, root_ways, xor = case["ways"], case["root_ways"], case["arithmetic"] == "xor"
    if spelling.below(ways, root_ways, g) != (case["below_ways"], below_g):
        yield f"below: {case['below_ways']} ways of {case['below_granularity']} bytes"
    windows = [(number(d["base"]), number(d["size"])) for d in case["decoders"]]
    if number(case["decoders"][1]["device_base"]) != windows[0][1] // ways or number(case["decoders"][0]["device_base"]):
        yield "the shares of the windows do not follow one another"
    for walk in case["walks"]:
        hpa = number(walk["address"])
        expected = spelling.device_address(hpa, windows, ways, g)
        if number(walk.get("device_address")) != expected:
            yield f"{walk}: device address {expected}"
        if expected is None:
            if len(walk) != 1:
                yield f"{walk}: it leads somewhere without a hit"
            continue
        if walk["root"] != spelling.root_target(hpa, root_ways, g, xor):
            yield f"{walk}: root"
        if walk["below"] != spelling.below_target(hpa, case["below_ways"], below_g):
            yield f"{walk}: below"
        second = hpa >= windows[1][0]
        share = windows[0][1] // ways if second else 0
        back = spelling.host_addresses(expected, windows[second][0], share, ways, g)
        targets = {(spelling.root_target(a, root_ways, g, xor), spelling.below_target(a, case["below_ways"], below_g)) for a in back}
        if hpa not in back or len(targets) != ways:
            yield f"{walk}: the bytes of one device address are not at {ways} targets"


def judge_segments(case):
    """Differences of a case of segment_tables."""
    base, limit = number(case["base"]), number(case["limit"])
    entries = {entry["entry"]: entry for entry in case["entries"]}
    for lookup in case["lookups"]:
        hpa = number(lookup["address"])
        entry = spelling.segment_entry(hpa, base, limit, case["segment_code"], case["depth"])
        dpid = spelling.segment_dpid(hpa, entries[entry]) if entry in entries else None
        if (lookup["entry"], lookup["dpid"]) != (entry, dpid):
            yield f"{lookup}: entry {entry}, DPID {dpid}"


def judge_edge(case):
    """Differences of a case of edge_ids."""
    for row in case["conversions"]:
        expected = spelling.at_edge(case, row["class"], row["towards"], row["before"], row["decoded"])
        wanted = spelling.HBR_IDS if row["towards"] == "pbr" and case["edge"] != "gfd" else spelling.PBR_IDS
        extra = [name for name in IDS if row["before"][name] and name not in wanted[row["class"]]]
        if row["after"] != expected or extra:
            yield f"{case['edge']} {row}: {expected} {extra}"
    for tlp in case["tlps"]:
        expected = spelling.tlp_header(case, tlp["ld_id"], tlp["decoded"], tlp["hierarchical"])
        if tlp["pth"] != expected:
            yield f"{case['edge']} {tlp}: {expected}"


def unseen_mutants(cases):
    """Identifiers taken from a wrong source of which no vector says so."""
    rows = {}
    for case in cases:
        for row in case["conversions"]:
            rows.setdefault((case["edge"], row["class"], row["towards"]), []).append((case, row))
    for edge, name, towards, wrong in spelling.wrong_rows():
        mutant = lambda case, row: spelling.at_edge(case, name, towards, row["before"], row["decoded"], wrong)
        if all(row["after"] == mutant(case, row) for case, row in rows[edge, name, towards]):
            yield f"{edge}, {name} towards {towards}: {wrong}"


def judge_tables(case):
    """Differences of a case of routing_tables."""
    tables = spelling.RoutingTables(case["ports"], case["used"], case["groups"])
    for command in case["commands"]:
        if tables.write(command["table"], command["first"], bytes.fromhex(command["entries"])) != command["written"]:
            yield f"{command}: written the other way"
    for lookup in case["lookups"]:
        if (lookup["port"], lookup["group"]) != tables.look_up(lookup["from"], lookup["dpid"]):
            yield f"{lookup}: {tables.look_up(lookup['from'], lookup['dpid'])}"


JUDGES = {"decoder_commits": hdm_registers.judge_commits, "decoder_walk": judge_walk, "edge_ids": judge_edge, "routing_tables": judge_tables, "segment_tables": judge_segments}


def judge_routes(cases):
    """Differences of all cases of topology_routes, which only together are topologies."""
    nets = {}
    for case in cases:
        nets.setdefault(case["topology"], []).append(case)
    for name, routers in nets.items():
        if [case["router"] for case in routers] != list(range(len(routers))):
            yield f"{name}: the routers are not all there"
            continue
        net = spelling.Net(name, [case["ports"] for case in routers])
        for case in routers:
            for port, peer in enumerate(case["ports"]):
                if "router" in peer and net.routers[peer["router"]][peer["port"]] != {"router": case["router"], "port": port}:
                    yield f"{name}: router {case['router']} port {port} is not led back to"
            for node, ports in enumerate(case["routes"]):
                if ports != net.wanted(case["router"], node):
                    yield f"{name}: router {case['router']} to node {node}: {ports}, {net.wanted(case['router'], node)}"


def judge(name, cases):
    if name == "topology_routes":
        return list(judge_routes(cases))
    return [text for case in cases for text in JUDGES[name](case)]


def missing(name, cases):
    """What a file has to walk and does not."""
    if name == "decoder_commits":
        return hdm_registers.missing_commits(cases)
    if name == "decoder_walk":
        found = {(c["arithmetic"], c["ways"], c["granularity"]) for c in cases}
        wanted = {(a, w, 256 << g) for a in ("modulo", "xor") for w in WAYS for g in range(7)}
        splits = {(c["ways"], c["root_ways"]) for c in cases}
        # HDM-9: a power of two below the root, at most 8.
        wanted_splits = {(w, r) for w in WAYS for r in WAYS if w % r == 0 and w // r in (1, 2, 4, 8)}
        return sorted(wanted - found) + sorted(wanted_splits - splits)
    if name == "segment_tables":
        return sorted(set(range(8)) - {c["segment_code"] for c in cases})
    if name == "edge_ids":
        rows = [(c["edge"], r["class"], r["towards"], r["after"] is None) for c in cases for r in c["conversions"]]
        wanted = {(e, k, "pbr", False) for e, of in spelling.TO_PBR.items() for k in of}
        wanted |= {(e, k, "hbr", False) for e, of in spelling.TO_HBR.items() for k in of}
        # EDG-8: an identifier that no table has.
        for towards, table in (("pbr", spelling.TO_PBR), ("hbr", spelling.TO_HBR)):
            looked_up = ((e, k) for e, of in table.items() for k, row in of.items() if any(":" in (s or "") for s in row or ()))
            wanted |= {(e, k, towards, True) for e, k in looked_up}
        return sorted(wanted - set(rows))
    if name == "routing_tables":
        kinds = {("written", c["written"]) for case in cases for c in case["commands"]}
        kinds |= {("port", l["port"] is not None, l["group"] is not None) for case in cases for l in case["lookups"]}
        wanted = {("written", True), ("written", False), ("port", True, True), ("port", True, False), ("port", False, False)}
        return sorted(wanted - kinds)
    return sorted({"mesh", "torus", "fat-tree", "dragonfly"} - {c["topology"].split(":")[0] for c in cases})


def spoiled(name, cases, number_of):
    """Copies of some cases with one answer changed each, with what was changed."""
    for n in range(number_of):
        changed = copy.deepcopy(cases if name == "topology_routes" else [cases[n * 7919 % len(cases)]])
        case = changed[n * 31 % len(changed)]
        if name == "decoder_commits":
            hdm_registers.spoil_commit(case, n * 101)
        elif name == "decoder_walk":
            walk = [w for w in case["walks"] if "root" in w][n % 5]
            key = ("root", "below", "device_address")[n % 3]
            walk[key] = hex(int(walk[key], 16) ^ 1 << n % 20) if key == "device_address" else walk[key] ^ 1
        elif name == "edge_ids":
            row = case["conversions"][n * 11 % len(case["conversions"])]
            if row["after"] is None:
                row["after"] = {**row["before"], "tag": row["before"]["tag"] ^ 1}
            elif n % 5 == 0:
                row["after"] = None
            else:
                row["after"][[*IDS, "tag"][n % 6]] ^= 1
        elif name == "routing_tables":
            lookup = case["lookups"][n % len(case["lookups"])]
            lookup["port"] = 1 if lookup["port"] is None else lookup["port"] ^ 1
        elif name == "segment_tables":
            lookup = case["lookups"][n % len(case["lookups"])]
            lookup["dpid"] = None if n % 2 and lookup["dpid"] is not None else (lookup["dpid"] or 0) ^ 1 << n % 11
        else:
            route = case["routes"][n * 17 % len(case["routes"])]
            route[n % len(route)] = (route[n % len(route)] + 1) % len(case["ports"])
        yield n, changed


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--program", required=True)
    program = options.parse_args().program
    wrong, compared = [], 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "export", "fabric", "--out", folder], check=True, stdout=subprocess.DEVNULL)
        for path in sorted(pathlib.Path(folder).iterdir()):
            head, *cases = (json.loads(line) for line in path.read_text().splitlines())
            name = path.stem
            if head["cases"] != len(cases) or not cases:
                wrong.append(f"{name}: {len(cases)} cases")
            wrong += [f"{name}: {text}" for text in judge(name, cases)]
            wrong += [f"{name}: no case of {what}" for what in missing(name, cases)]
            number_of = 12 if name == "topology_routes" else 120
            unseen = [n for n, changed in spoiled(name, cases, number_of) if not judge(name, changed)]
            wrong += [f"{name}: spoiled answer {n} is not seen" for n in unseen]
            answers = ("walks", "lookups", "routes", "commands", "conversions", "tlps")
            if name == "edge_ids":
                wrong += [f"{name}: an identifier from a wrong source is not seen: {text}" for text in unseen_mutants(cases)]
            if name == "decoder_commits":
                wrong += [f"{name}: decoders without this are not seen: {what}" for what in hdm_registers.unseen_mutants(cases)]
                compared += sum(len(hdm_registers.answers(case)) for case in cases)
            compared += sum(len(case.get(key, ())) for case in cases for key in answers)
    print("\n".join(wrong[:20] + [f"{compared} answers of decoders, tables and routers, {len(wrong)} differences"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
