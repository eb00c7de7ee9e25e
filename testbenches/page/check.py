"""Looks at a page of `scalepool inspect --html` in headless Chromium: rows, filters, the fields under a byte.

    python3 testbenches/page/check.py PAGE.html [PICTURE.png]

Needs `chromium` in the path, as Debian's package of that name brings it. Each view is asked for by the address of the page, and what
the browser shows is compared with the data in the page; with PICTURE it takes a picture of the first broken rule, or of unit 0."""

import json
import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode

page = Path(sys.argv[1]).resolve()
data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)[1])
units = data["units"]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1400,900"]


def chromium(view: dict[str, str], *flags: str) -> str:
    with tempfile.TemporaryDirectory() as profile:
        command = ["chromium", *FLAGS, f"--user-data-dir={profile}", *flags, f"{page.as_uri()}#{urlencode(view)}"]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


class Shown(HTMLParser):
    """Text of the elements with an id or a class that a check asks for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[str] = []
        self.counts = self.what = ""
        self.cells: list[str] = []
        self._into: str | None = None
        self.fields: dict[str, str] = {}
        self._line: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        have = dict(attributes)
        if "data-unit" in have and tag == "div":
            self.rows.append(have["data-unit"])
        if tag == "tr":
            self._line = []
        self._into = {"counts": "counts", "what": "what"}.get(have.get("id", ""), "cell" if "data-byte" in have else "td" if tag == "td" else None)

    def handle_endtag(self, tag):
        if tag == "tr" and len(self._line) == 3:
            self.fields.setdefault(self._line[0], self._line[1])
        self._into = None

    def handle_data(self, text):
        if self._into in ("counts", "what"):
            setattr(self, self._into, text)
        elif self._into == "cell":
            self.cells.append(text)
        elif self._into == "td":
            self._line.append(text)


def shows(view: dict[str, str], expected: list[int]) -> Shown:
    shown = Shown(chromium(view, "--dump-dom"))
    assert shown.counts == f"{len(expected)} of {len(units)} units", (view, shown.counts, len(expected))
    # Rows in sight are those of a window of the list.
    first = expected.index(int(shown.rows[0])) if shown.rows else 0
    assert shown.rows == [str(n) for n in expected[first : first + len(shown.rows)]], (view, shown.rows)
    assert bool(shown.rows) == bool(expected), view
    return shown


def those(test) -> list[int]:
    return [n for n, unit in enumerate(units) if test(unit)]


layout = lambda message: data["layouts"][message[0]]["layout"] if message[0] is not None else ""
shows({}, those(lambda unit: True))
shows({"violations": "1"}, those(lambda unit: unit["v"]))
shows({"messages": "1"}, those(lambda unit: unit["m"]))
checks = 3
for interface, name in enumerate(entry["name"] for entry in data["interfaces"]):
    shows({"interface": name}, those(lambda unit: unit["i"] == interface))
    checks += 1
with_address = next((message for unit in units for message in unit["m"] if message[3] and message[4]), None)
if with_address:
    _, _, opcode, address, tag = with_address
    name = layout(with_address)
    of = lambda unit, test: any(layout(message) == name and test(message) for message in unit["m"])
    shows({"class": name}, those(lambda unit: of(unit, lambda m: True)))
    shows({"class": name, "opcode": opcode}, those(lambda unit: of(unit, lambda m: m[2] == opcode)))
    shows({"class": name, "address": address}, those(lambda unit: of(unit, lambda m: m[3] == address)))
    around = f"0x0-{int(address, 16) + 63:#x}"
    in_range = lambda m: m[3] is not None and int(m[3], 16) <= int(address, 16) + 63
    shows({"class": name, "address": around}, those(lambda unit: of(unit, in_range)))
    shows({"class": name, "tag": tag}, those(lambda unit: of(unit, lambda m: m[4] == tag)))
    shows({"class": name, "tag": "no number"}, [])
    checks += 6
    # The fields that the page takes out of the bytes are those that the list tells.
    chosen = next(n for n, unit in enumerate(units) if with_address in unit["m"])
    shown = shows({"unit": str(chosen)}, those(lambda unit: True))
    assert "".join(shown.cells) == units[chosen]["h"], "the bytes of the chosen unit"
    assert shown.fields["address"] == address and shown.fields["tag"].split(" ")[0] == tag, shown.fields
    assert shown.fields["opcode"] == opcode and f"#{units[chosen]['n']}" in shown.what, (shown.fields, shown.what)
    checks += 1
if len(sys.argv) > 2:
    first = next(iter(those(lambda unit: unit["v"])), 0)
    chromium({"unit": str(first)}, f"--screenshot={Path(sys.argv[2]).resolve()}")
print(f"{checks} views of {len(units)} units")
