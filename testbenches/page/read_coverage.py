"""Reads the XML of `scalepool coverage` with packages of others: cocotb-coverage merges it, pyucis checks its schema and reads it.

    python3 testbenches/page/read_coverage.py COVERAGE.json COCOTB.xml UCIS.xml

Needs the packages cocotb-coverage and pyucis; prints how many bins were compared."""

import json
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from cocotb_coverage.coverage import merge_coverage
from ucis.scope_type_t import ScopeTypeT
from ucis.cover_type_t import CoverTypeT
from ucis.xml.xml_reader import XmlReader
from ucis.xml import validate_ucis_xml

report, cocotb, ucis = map(Path, sys.argv[1:4])
groups = json.loads(report.read_text(encoding="utf-8"))["groups"]
expected = {(g["protocol"], g["group"], name): hits for g in groups for name, hits in g["bins"].items()}

# A file merged with itself has twice the hits, and the same shares.
with tempfile.TemporaryDirectory() as folder:
    merged = Path(folder) / "merged.xml"
    merge_coverage(lambda text: None, str(merged), str(cocotb), str(cocotb))
    once, twice = (ElementTree.parse(path).getroot() for path in (cocotb, merged))
assert {key: once.get(key) for key in ("size", "coverage")} == {key: twice.get(key) for key in ("size", "coverage")}
hits_of = lambda tree: [(bin_.get("bin"), int(bin_.get("hits"))) for bin_ in tree.iter() if bin_.get("bin") is not None]
assert hits_of(once) == [(name, hits) for (_, _, name), hits in expected.items()]
assert [hits for _, hits in hits_of(twice)] == [2 * hits for _, hits in hits_of(once)]
assert int(once.get("size")) == len(expected) and int(once.get("coverage")) == sum(hits > 0 for hits in expected.values())

validate_ucis_xml(str(ucis))
found = {}
with ucis.open("rb") as file:
    database = XmlReader().read(file)
for instance in database.scopes(ScopeTypeT.INSTANCE):
    for group in instance.scopes(ScopeTypeT.COVERGROUP):
        for inner in [group, *group.scopes(ScopeTypeT.COVERINSTANCE)]:
            for point in inner.scopes(ScopeTypeT.COVERPOINT):
                for bin_ in point.coverItems(CoverTypeT.CVGBIN):
                    key = (instance.getScopeName(), group.getScopeName(), bin_.getName())
                    found[key] = max(found.get(key, 0), bin_.getCoverData().data)
assert found == expected, (len(found), len(expected), list(set(expected.items()) - set(found.items()))[:3])
print(f"{len(expected)} bins in both")
