"use strict";
// The report's columns, what is chosen, and how figures are written. A text from the model file is
// only ever set as text.
const data = document.getElementById("data"), report = JSON.parse(data.textContent);
// Before a call in the address: of a folder's page the model, as `encodeURIComponent` writes it.
const address = "#" + (data.dataset.model === undefined ? "" : data.dataset.model + "/");
const { calls, ops, modules, storages } = report;
const NODE = 0, OP = 1, LIVE = 2, DURING = 3, NEW = 4, FLOPS = 5, NS = 6, OUT = 7, MODULE = 8, SOURCE = 9, BOUND = 10;
const NAME = 0, KIND = 1, SIZE = 2, MADE = 3, USED = 4, FREED = 5, PLACE = 6, SHAPE = 7, NEVER = 8;
const PATH = 0, CLASS = 1, LINE = 2, DEPTH = 3, PARAMETERS = 4, WEIGHTS = 5, BYTES = 6, AT_PEAK = 7,
  M_FLOPS = 8, M_CALLS = 9, M_NS = 10;
const KINDS = ["parameter", "buffer", "input", "gradient", "activation"], ACTIVATION = 4;
const timed = calls.some(c => c[NS] !== null), time_name = report.time_name;
const bound = c => c[BOUND] ? ", bound by memory" : "";
const $ = id => document.getElementById(id);

function el(parent, tag, text, attributes = {}) {
  const made = document.createElementNS(parent.namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}
function scaled(value, units, step) {
  let i = 0;
  while (Math.abs(value) >= step * 0.99995 && i < units.length - 1) { value /= step; i++; }
  const digits = i === 0 || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits) + (units[i] ? " " + units[i] : "");
}
const bytes = n => scaled(n, ["B", "kB", "MB", "GB", "TB", "PB", "EB"], 1000);
const count = n => n ? scaled(n, ["", "k", "M", "G", "T", "P", "E"], 1000) : "";
const time = ns => ns === null || ns === undefined ? "" : scaled(ns, ["ns", "us", "ms", "s"], 1000);
const whole = n => n.toLocaleString("en");
const percent = part => (part * 100).toFixed(1) + "%";
const last = path => path.slice(path.lastIndexOf(".") + 1);
const module_name = m => modules[m][PATH] ? last(modules[m][PATH]) : "(model)";
const path_name = m => modules[m][PATH] || "(model)";

// -- what is chosen: charts and tables tell each other -----------------------------------------
const chosen = { call: report.peak_index, module: 0 };
const on_call = [], on_module = [], on_redraw = [];
function choose_call(i, scroll = true) {
  if (i < 0 || i >= calls.length) return;
  chosen.call = i;
  history.replaceState(null, "", address + "call-" + i);
  for (const listener of on_call) listener(i, scroll);
}
function choose_module(m) {
  chosen.module = m;
  for (const listener of on_module) listener(m);
}
function call_link(parent, i, otherwise) {
  if (i < 0) return el(parent, "span", otherwise, { class: "soft" });
  if (i >= calls.length) return el(parent, "span", "output", { class: "soft" });
  const text = `${i} ${calls[i][NODE]}`;
  const link = el(parent, "button", text, { class: "link", type: "button", title: text });
  link.addEventListener("click", () => choose_call(i));
  return link;
}
function module_link(parent, m) {
  if (m < 0) return null;
  const link = el(parent, "button", undefined, { class: "link path", type: "button", title: path_name(m) });
  el(link, "bdi", path_name(m));
  link.addEventListener("click", () => { choose_module(m); $("modules-section").scrollIntoView({ block: "nearest" }); });
  return link;
}
function place_tip(tip, frame, x, y) {
  tip.style.display = "block";
  const width = frame.clientWidth, beyond = x + 14 + tip.offsetWidth > width;
  tip.style.left = Math.max(0, beyond ? x - 14 - tip.offsetWidth : x + 14) + "px";
  tip.style.top = Math.max(0, Math.min(y + 12, frame.clientHeight - tip.offsetHeight)) + "px";
}

// -- tables whose columns sort --------------------------------------------------------------------
// A column: [title, value of a row, fill a cell, classes]; `rows` come in the order to show at first.
function sortable(table, columns, rows, fill_row, first) {
  const head = el(table.tHead, "tr");
  let sorted = first, down = true;
  const cells = columns.map(([title, value, , classes], k) => {
    const cell = el(head, "th", undefined, { class: classes || "", scope: "col" });
    const button = el(cell, "button", title, { type: "button" });
    button.addEventListener("click", () => {
      down = sorted === k ? !down : typeof value(rows[0] ?? []) !== "string";
      sorted = k;
      draw();
    });
    return cell;
  });
  function compare(a, b) {
    const x = columns[sorted][1](a), y = columns[sorted][1](b);
    return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
  }
  function draw() {
    cells.forEach((cell, k) => k === sorted
      ? cell.setAttribute("aria-sort", down ? "descending" : "ascending") : cell.removeAttribute("aria-sort"));
    table.tBodies[0].replaceChildren();
    for (const row of rows.ordered ? rows.ordered(compare) : [...rows].sort(compare)) {
      const line = el(table.tBodies[0], "tr");
      for (const [, , fill, classes] of columns) fill(el(line, "td", undefined, { class: classes || "" }), row);
      if (fill_row) fill_row(line, row);
    }
  }
  draw();
  return draw;
}
function share_cell(cell, part) {
  el(cell, "span", undefined, { class: "share wide", style: `width:${Math.round(part * 60)}px` });
  cell.append(percent(part));
}

// -- head -----------------------------------------------------------------------------------------
if (report.facts) {  // a folder's page: the file has no head for each model
  document.title = document.querySelector("h1").textContent = report.model;
  for (const [name, value] of report.facts) { el($("facts"), "dt", name); el($("facts"), "dd", value); }
}
for (const [name, value, main] of [
  ["peak memory", bytes(report.peak_bytes), true],
  ["activations at the peak", bytes(storages.reduce((sum, s) => sum + (
    s[KIND] === ACTIVATION && s[MADE] <= report.peak_index && report.peak_index <= s[FREED] ? s[SIZE] : 0), 0))],
  [`in ${count(report.parameters) || "0"} parameters`, bytes(report.parameter_bytes)],
  ["FLOPs", count(report.flops) || "0"],
  ["calls", whole(calls.length)],
]) {
  const box = el($("figures"), "div", undefined, main ? { class: "main" } : {});
  el(box, "b", value);
  el(box, "span", name);
}
let waiting = 0;
addEventListener("resize", () => {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => { for (const redraw of on_redraw) redraw(); });
});
