"use strict";
// Rows are made of the units in sight alone, so that a page with 100,000 of them scrolls as one with ten.
const data = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
const form = by("filters");
const ROW_PX = 21;
const NAMES = ["interface", "kind", "class", "opcode", "address", "tag", "text", "messages", "violations"];
let shown = [];
let chosen = -1;

function made(tag, text, name) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
}

const layoutOf = (message) => (message[0] === null ? "" : data.layouts[message[0]].layout);

// ---- filters ----------------------------------------------------------------------------------------------------------

function options(select, values) {
  const all = made("option", "all");
  all.value = "";
  select.replaceChildren(all, ...[...new Set(values)].filter((value) => value !== "").sort().map((value) => made("option", value)));
}

// A number, or null where the text is none.
function number(text) {
  return /^(0x[0-9a-f]+|[0-9]+)$/i.test(text) ? BigInt(text) : null;
}

// The first and last address of `0x40` or `0x40-0x7f`; null for another text.
function range(text) {
  const [first, last] = text.split("-").map((part) => number(part.trim()));
  return first === null || last === null ? null : [first, last === undefined ? first : last];
}

function wanted() {
  const get = (name) => form.elements[name];
  const want = { messages: get("messages").checked, violations: get("violations").checked };
  for (const name of ["interface", "kind", "class", "opcode", "tag", "text", "address"]) want[name] = get(name).value.trim();
  return want;
}

function matches(unit, want) {
  if (want.interface && data.interfaces[unit.i].name !== want.interface) return false;
  if (want.kind && unit.k !== want.kind) return false;
  if (want.violations && unit.v.length === 0) return false;
  if (want.messages && unit.m.length === 0) return false;
  if (want.text && !textOf(unit).toLowerCase().includes(want.text.toLowerCase())) return false;
  if (!want.class && !want.opcode && !want.address && !want.tag) return true;
  const addresses = want.address ? range(want.address) : null;
  const tag = want.tag ? number(want.tag) : null;
  // One message has to be all that is asked for.
  return unit.m.some((message) => {
    if (want.class && layoutOf(message) !== want.class) return false;
    if (want.opcode && message[2] !== want.opcode) return false;
    if (want.address) {
      if (!addresses || message[3] === null) return false;
      const address = BigInt(message[3]);
      if (address < addresses[0] || address > addresses[1]) return false;
    }
    return !want.tag || (tag !== null && message[4] !== null && number(message[4]) === tag);
  });
}

function filter() {
  const want = wanted();
  shown = [];
  data.units.forEach((unit, n) => { if (matches(unit, want)) shown.push(n); });
  by("counts").textContent = `${shown.length} of ${data.units.length} units`;
  by("space").style.height = `${shown.length * ROW_PX}px`;
  remember();
  rows();
}

// Filters and the chosen unit stand in the address of the page, so that a view can be kept or passed on.
function remember() {
  const state = new URLSearchParams();
  const want = wanted();
  for (const name of NAMES) if (want[name]) state.set(name, want[name] === true ? "1" : want[name]);
  if (chosen >= 0) state.set("unit", chosen);
  try { history.replaceState(null, "", `#${state}`); } catch { /* A page that was opened from a file may not. */ }
}

function recall() {
  const state = new URLSearchParams(location.hash.slice(1));
  for (const name of NAMES) {
    const element = form.elements[name];
    if (element.type === "checkbox") element.checked = state.has(name);
    else element.value = state.get(name) || "";
  }
  filter();
  const unit = Number(state.get("unit"));
  if (state.has("unit") && Number.isInteger(unit) && unit >= 0 && unit < data.units.length) choose(unit, true);
}

// ---- the list ---------------------------------------------------------------------------------------------------------

// What it does, where, under which tag, then all else.
function contentOf(message) {
  const [, rest, opcode, address, tag] = message;
  return [opcode, address, tag === null ? "" : `tag ${tag}`, rest].filter(Boolean).join(" ");
}

function textOf(unit) {
  const messages = unit.m.map((message) => `${layoutOf(message)} ${contentOf(message)}`.trim());
  return [...unit.v.map((found) => found[0]), ...messages].join("; ");
}

function rows() {
  const scroll = by("scroll");
  const first = Math.max(0, Math.floor(scroll.scrollTop / ROW_PX) - 5);
  const last = Math.min(shown.length, first + Math.ceil((scroll.clientHeight || 400) / ROW_PX) + 10);
  by("rows").style.top = `${first * ROW_PX}px`;
  by("rows").replaceChildren(...shown.slice(first, last).map((n) => row(n)));
}

function row(n) {
  const unit = data.units[n];
  const { name, dir } = data.interfaces[unit.i];
  const line = made("div", undefined, `row ${dir}${unit.v.length ? " broken" : ""}${n === chosen ? " chosen" : ""}`);
  const content = made("span");
  for (const found of unit.v) content.append(made("span", `${found[0]} `, "rule"));
  unit.m.forEach((message, k) => content.append(k ? "; " : "", made("b", layoutOf(message)), ` ${contentOf(message)}`));
  content.title = textOf(unit);
  line.append(made("span", unit.n === null ? "" : unit.n), made("span", unit.t), made("span", `${name} ${dir === "down" ? "\u2193" : "\u2191"}`), made("span", unit.k), content);
  line.dataset.unit = n;
  return line;
}

// ---- the chosen unit --------------------------------------------------------------------------------------------------

// Bits of a part of the unit that one field takes, as [bit of the unit, bit of the field] pairs.
function bitsOf(part, lsb, width) {
  const found = [];
  for (const [unitBit, partBit, bits] of part[2]) {
    const first = Math.max(partBit, lsb);
    const last = Math.min(partBit + bits, lsb + width);
    for (let bit = first; bit < last; bit++) found.push([unitBit + bit - partBit, bit - lsb]);
  }
  return found;
}

function valueOf(bytes, bits) {
  let value = 0n;
  for (const [unitBit, fieldBit] of bits) if (bytes[unitBit >> 3] >> (unitBit & 7) & 1) value |= 1n << BigInt(fieldBit);
  return value;
}

function told(field, value) {
  if (field.address_lsb) return `0x${(value << BigInt(field.address_lsb)).toString(16)}`;
  const code = Object.entries(field.codes || {}).find(([, code]) => BigInt(code) === value);
  if (code) return code[0];
  return value < 10n ? `${value}` : `${value} (0x${value.toString(16)})`;
}

// The fields of the chosen unit: text, value, bytes.
function fieldsOf(unit, bytes) {
  const found = [];
  unit.p.forEach((part, n) => {
    const layout = part[1] === null ? null : data.layouts[part[1]];
    const all = new Set();
    for (const [unitBit, , bits] of part[2]) for (let bit = unitBit; bit < unitBit + bits; bit++) all.add(bit >> 3);
    found.push({ part: n, head: layout ? `${part[0]}: ${layout.layout}` : part[0], bytes: all });
    for (const field of layout ? layout.fields : []) {
      const bits = bitsOf(part, field.lsb, field.width);
      const value = valueOf(bytes, bits);
      found.push({ part: n, field, value: told(field, value), quiet: value === 0n || field.reserved, bytes: new Set(bits.map(([bit]) => bit >> 3)) });
    }
  });
  return found;
}

function choose(n, scroll) {
  chosen = n;
  const unit = data.units[n];
  const at = shown.indexOf(n);
  const list = by("scroll");
  if (scroll && at >= 0 && (at * ROW_PX < list.scrollTop || (at + 1) * ROW_PX > list.scrollTop + list.clientHeight)) list.scrollTop = Math.max(0, at * ROW_PX - list.clientHeight / 2);
  const { name, protocol, dir } = data.interfaces[unit.i];
  by("what").textContent = `${name} (${protocol} ${dir}) #${unit.n === null ? "-" : unit.n}, ${unit.k}, ${unit.t} ns, edge ${unit.c}`;
  const bytesOf = (hex) => (hex.match(/../g) || []).map((digits) => parseInt(digits, 16));
  const bytes = bytesOf(unit.h);
  // Fields are those behind the FEC.
  const behind = unit.r === null ? bytes : bytesOf(unit.r);
  const fields = fieldsOf(unit, behind);
  const bad = new Set(unit.v.map((found) => /^byte (\d+)$/.exec(found[1])).filter(Boolean).map((found) => Number(found[1])));
  const cells = [];
  bytes.forEach((byte, k) => {
    if (k % 16 === 0) cells.push(made("i", k.toString().padStart(3, " ")));
    const isRepaired = behind[k] !== byte;
    const cell = made("span", byte.toString(16).padStart(2, "0"), bad.has(k) || isRepaired ? "bad" : "");
    cell.dataset.byte = k;
    const here = fields.filter((entry) => entry.field && entry.bytes.has(k)).map((entry) => `${entry.field.name} = ${entry.value}`);
    const repair = isRepaired ? [`the FEC repairs it to ${behind[k].toString(16).padStart(2, "0")}`] : [];
    cell.title = `byte ${k}: ${[...repair, ...fields.filter((entry) => entry.head && entry.bytes.has(k)).map((entry) => entry.head), ...here].join("\n")}`;
    cells.push(cell);
  });
  by("bytes").replaceChildren(...cells);
  const table = made("table");
  const say = (found, remark) => {
    const line = made("tr", undefined, remark ? "quiet" : "");
    const cell = made("td");
    cell.colSpan = 3;
    cell.append(remark, made("span", found[0], "rule"), ` ${sentence(found)}`);
    line.append(cell);
    table.append(line);
  };
  unit.v.forEach((found) => say(found, ""));
  unit.w.forEach(([found, reason]) => say(found, reason === null ? "warning: " : `waived, ${reason}: `));
  unit.l.forEach((found) => say(found, "not tight: "));
  fields.forEach((entry, k) => {
    const line = made("tr", undefined, entry.quiet ? "quiet" : "");
    line.dataset.part = k;
    if (entry.head) {
      const cell = made("th", entry.head);
      cell.colSpan = 3;
      line.append(cell);
    } else {
      line.append(made("td", entry.field.name), made("td", entry.value, "hex"), made("td", entry.field.doc));
    }
    table.append(line);
  });
  by("fields").replaceChildren(table);
  const light = (on) => {
    for (const cell of by("bytes").querySelectorAll("span")) cell.classList.toggle("on", on(Number(cell.dataset.byte)));
  };
  table.onclick = (event) => {
    const line = event.target.closest("tr[data-part]");
    if (!line) return;
    for (const other of table.rows) other.classList.toggle("on", other === line);
    light((byte) => fields[line.dataset.part].bytes.has(byte));
  };
  by("bytes").onclick = (event) => {
    if (event.target.dataset.byte === undefined) return;
    const byte = Number(event.target.dataset.byte);
    light((other) => other === byte);
    let first = null;
    for (const line of table.rows) {
      const on = line.dataset.part !== undefined && fields[line.dataset.part].bytes.has(byte);
      line.classList.toggle("on", on);
      first = first || (on ? line : null);
    }
    if (first) first.scrollIntoView({ block: "nearest" });
  };
  remember();
  rows();
}

// ---- findings ---------------------------------------------------------------------------------------------------------

function sentence([rule, at, found, expected, text]) {
  const known = data.rules[rule];
  return `${text}: ${at}: found ${found}, expected ${expected}${known ? ` (${known[0]}; ${known[1]})` : ""}`;
}

function findings() {
  const items = [];
  data.units.forEach((unit, n) => unit.v.forEach((found) => {
    const item = made("li");
    item.append(made("span", found[0], "rule"), ` ${found[5]} ns ${found[6]} `, made("small", sentence(found)));
    item.dataset.unit = n;
    items.push(item);
  }));
  const section = by("findings");
  section.querySelector("h2").textContent = items.length === 1 ? "1 broken rule" : `${items.length} broken rules`;
  section.querySelector("ol").replaceChildren(...items);
  section.onclick = (event) => {
    const item = event.target.closest("li");
    if (!item) return;
    if (!shown.includes(Number(item.dataset.unit))) { form.reset(); filter(); }
    choose(Number(item.dataset.unit), true);
  };
}

// ---- start ------------------------------------------------------------------------------------------------------------

const messages = data.units.flatMap((unit) => unit.m);
options(form.elements.interface, data.interfaces.map((interface_) => interface_.name));
options(form.elements.kind, data.units.map((unit) => unit.k));
options(form.elements.class, messages.map(layoutOf));
options(form.elements.opcode, messages.map((message) => message[2]));
form.oninput = filter;
form.onreset = () => setTimeout(filter);
form.onsubmit = (event) => event.preventDefault();
by("scroll").onscroll = rows;
window.onresize = rows;
window.onhashchange = recall;
by("rows").onclick = (event) => {
  const line = event.target.closest(".row");
  if (line) choose(Number(line.dataset.unit), false);
};
by("list").onkeydown = (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
  if (!step || shown.length === 0) return;
  event.preventDefault();
  const at = Math.max(0, Math.min(shown.length - 1, shown.indexOf(chosen) + step));
  choose(shown[at], true);
};
findings();
recall();
