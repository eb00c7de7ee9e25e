#!/usr/bin/env python3
"""Checks the syntax of what `scalepool export tla` writes, by the grammar of tree-sitter for TLA+.

    .venv/bin/python3 testbenches/models/tla_syntax.py --program target/debug/scalepool

Syntax only: nothing is evaluated, and names are not looked up. The grammar takes /\\ beside \\/ without parentheses, which TLA+ does
not, so that is looked for besides. Broken copies of the text have to be refused. Exit status 1 when something is wrong.
"""

import argparse
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import tree_sitter
import tree_sitter_tlaplus

MODEL = "cxl-cache-2-memory"
# What is asked for: as the exploration has it, and with every part filled in.
REQUESTS = [(), ("--agents", "3", "--ops", "RdOwn,DirtyEvict", "--set", "clean_evict=pull", "--set", "silent_drop_e=true")]
# Copies with one thing changed: what is there, and what stands for it.
BROKEN = [
    ("a bracket that is not closed", "Each(value) == [d \\in Devices |-> value]", "Each(value) == [d \\in Devices |-> value"),
    ("an assignment", "Core == 0", "Core := 0"),
    ("a LET without IN", "     IN sys' = [sys EXCEPT !.snp", "     sys' = [sys EXCEPT !.snp"),
    ("a conjunction beside a disjunction", '(sys.at[d] = "S" /\\ DropS) \\/', 'sys.at[d] = "S" /\\ DropS \\/'),
    ("a text that ends early", "=" * 77 + "\n", ""),
]


def parser():
    with warnings.catch_warnings():
        # The grammar gives its address as a number.
        warnings.simplefilter("ignore", DeprecationWarning)
        return tree_sitter.Parser(tree_sitter.Language(tree_sitter_tlaplus.language()))


def operator(node):
    symbol = node.child_by_field_name("symbol") if node.type == "bound_infix_op" else None
    return symbol.type if symbol else None


def faults(text):
    """Of a module, each place that is no TLA+ with its line, counted from 1."""
    found = []
    nodes = [parser().parse(text.encode()).root_node]
    if [node.type for node in nodes[0].named_children if node.type != "comment"] != ["module"]:
        found.append((1, "no module"))
    while nodes:
        node = nodes.pop()
        line = node.start_point[0] + 1
        if node.type == "ERROR" or node.is_missing:
            found.append((line, "missing " + node.type if node.is_missing else "no syntax of TLA+"))
        if any({operator(node), operator(child)} == {"land", "lor"} for child in node.children):
            found.append((line, "/\\ beside \\/ without parentheses"))
        nodes += node.children
    return sorted(found)


def export(program, request):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "export", "tla", MODEL, *request, "--out", folder], check=True, capture_output=True)
        (module,) = Path(folder).glob("*.tla")
        return module.read_text(encoding="utf-8")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", required=True, type=Path)
    program = arguments.parse_args().program.resolve()
    wrong = []
    for request in REQUESTS:
        text = export(program, request)
        wrong += [f"{' '.join((MODEL, *request))}, line {line}: {what}" for line, what in faults(text)]
    text = export(program, ())
    for what, is_there, broken in BROKEN:
        if text.count(is_there) != 1:
            wrong.append(f"{what}: found {text.count(is_there)} times {is_there!r}, expected it once")
        elif not faults(text.replace(is_there, broken)):
            wrong.append(f"{what}: found no fault")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"TLA+: {len(REQUESTS)} texts parse, {len(BROKEN)} broken copies do not; nothing was evaluated")


if __name__ == "__main__":
    main()
