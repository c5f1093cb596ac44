// Operators, and the calls: only the rows in view are in the page, so that ten thousand stay fluid.
const totals = ops.map((op, k) => ({ op, calls: 0, fresh: 0, outputs: report.op_outputs[k], flops: 0, ns: 0 }));
for (const call of calls) {
  const row = totals[call[OP]];
  row.calls++; row.fresh += call[NEW]; row.flops += call[FLOPS]; row.ns += call[NS] || 0;
}
const sum_of = key => totals.reduce((sum, row) => sum + row[key], 0) || 1;
const [all_fresh, all_ns] = [sum_of("fresh"), sum_of("ns")];
const operator_columns = [
  ["operator", row => row.op, (cell, row) => {
    const link = el(cell, "button", row.op, { class: "link", type: "button", title: `Calls of ${row.op}` });
    link.addEventListener("click", () => search_for(`op:${row.op}`));
  }, "left name"],
  ["calls", row => row.calls, (cell, row) => cell.append(whole(row.calls))],
  ["new memory", row => row.fresh, (cell, row) => cell.append(row.fresh ? bytes(row.fresh) : "-")],
  ["outputs", row => row.outputs, (cell, row) => { cell.append(bytes(row.outputs)); cell.title = "all outputs, views too"; }, "wide"],
  ["share of new", row => row.fresh, (cell, row) => share_cell(cell, row.fresh / all_fresh), "wide"],
  ["FLOPs", row => row.flops, (cell, row) => cell.append(count(row.flops))],
  ...(timed ? [
    [time_name, row => row.ns, (cell, row) => cell.append(time(row.ns))],
    ["share of time", row => row.ns, (cell, row) => share_cell(cell, row.ns / all_ns), "wide"],
  ] : []),
];
sortable($("operators"), operator_columns, totals, null, timed ? 6 : 2);

// -- calls ----------------------------------------------------------------------------------------------
const list = $("list"), rows = $("rows"), ROW = 26, AT_PRINT = 400;
const texts = calls.map(c => `${c[NODE]} ${ops[c[OP]]} ${c[OUT]} ${c[MODULE] >= 0 ? modules[c[MODULE]][PATH] : ""} ${c[SOURCE] || ""}`.toLowerCase());
const place_of = c => c[MODULE] >= 0 ? modules[c[MODULE]][PATH] : "";
const call_columns = [
  ["call", i => i, i => whole(i), "number"],
  ["node", i => calls[i][NODE], i => calls[i][NODE], ""],
  ["operator", i => ops[calls[i][OP]], i => ops[calls[i][OP]], "wide"],
  ["outputs", i => calls[i][OUT], i => calls[i][OUT], "wide"],
  ["module", i => place_of(calls[i]), i => place_of(calls[i]), "wide path"],
  ["during", i => calls[i][DURING], i => bytes(calls[i][DURING]), "number"],
  ["new", i => calls[i][NEW], i => calls[i][NEW] ? bytes(calls[i][NEW]) : "-", "number"],
  ["FLOPs", i => calls[i][FLOPS], i => count(calls[i][FLOPS]), "number wide"],
  timed ? [time_name, i => calls[i][NS] || 0, i => time(calls[i][NS]), "number wide"]
    : ["activations", i => bands[ACTIVATION][i], i => bytes(bands[ACTIVATION][i]), "number wide"],
];
let found = [], ordered_by = 0, downward = false, cursor = -1;
const call_heads = call_columns.map(([title, , , classes], k) => {
  const cell = el($("names"), "span", undefined, { role: "columnheader", class: classes });
  const button = el(cell, "button", title, { class: "link", type: "button" });
  button.addEventListener("click", () => {
    downward = ordered_by === k ? !downward : k > 4;
    ordered_by = k;
    search();
  });
  return cell;
});
list.setAttribute("aria-colcount", call_columns.length);

function draw_rows(first = Math.max(0, Math.floor(list.scrollTop / ROW) - 10), shown = Math.ceil(list.clientHeight / ROW) + 20) {
  const end = Math.min(found.length, first + shown);
  rows.style.transform = `translateY(${first * ROW}px)`;
  rows.replaceChildren();
  for (let k = first; k < end; k++) {
    const i = found[k], classes = `row${i === chosen.call ? " chosen" : ""}${k === cursor ? " cursor" : ""}`;
    const line = el(rows, "div", undefined, { class: classes, role: "row", id: "row-" + k, "aria-rowindex": k + 2,
      "aria-selected": i === chosen.call });
    for (const [, , text, kind] of call_columns) {
      const shown_text = text(i);
      const cell = el(line, "span", undefined, { class: kind, role: "cell", title: shown_text });
      if (kind.includes("path")) el(cell, "bdi", shown_text); else cell.textContent = shown_text;
    }
    line.addEventListener("click", () => { cursor = k; choose_call(i, false); });
    line.addEventListener("mouseenter", () => { if (i >= from && i < to) point_at(i); });
    line.addEventListener("mouseleave", leave_chart);
  }
}
// Words that all must occur; in:PATH keeps a module's calls, op:NAME an operator's.
function search() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const tests = words.map(word => {
    if (word.startsWith("in:")) {
      const path = word.slice(3);
      return i => { const place = place_of(calls[i]).toLowerCase(); return place === path || place.startsWith(path + "."); };
    }
    if (word.startsWith("op:")) return i => ops[calls[i][OP]].toLowerCase() === word.slice(3);
    return i => texts[i].includes(word);
  });
  found = [];
  for (let i = 0; i < calls.length; i++) if (tests.every(test => test(i))) found.push(i);
  const value = call_columns[ordered_by][1];
  if (ordered_by || downward) found.sort((a, b) => {
    const x = value(a), y = value(b);
    return ((x < y ? -1 : x > y ? 1 : 0) || a - b) * (downward ? -1 : 1);
  });
  call_heads.forEach((cell, k) => k === ordered_by
    ? cell.setAttribute("aria-sort", downward ? "descending" : "ascending") : cell.removeAttribute("aria-sort"));
  const fresh = found.reduce((sum, i) => sum + calls[i][NEW], 0);
  $("shown").textContent = `${whole(found.length)} of ${whole(calls.length)}, new memory ${bytes(fresh)}`;
  $("space").style.height = found.length * ROW + "px";
  list.setAttribute("aria-rowcount", found.length + 1);
  list.scrollTop = 0;
  cursor = -1;
  draw_rows();
}
function search_for(text) {
  $("search").value = text;
  search();
  $("search").scrollIntoView({ block: "nearest" });
}
function scroll_to(k) {
  const top = k * ROW;
  if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 2 * ROW)
    list.scrollTop = Math.max(0, top - list.clientHeight / 2);
}
function show_call(i, scroll) {
  let k = found.indexOf(i);
  if (k < 0) { $("search").value = ""; search(); k = found.indexOf(i); }
  cursor = k;
  if (scroll) scroll_to(k);
  draw_rows();
}
on_call.push(show_call);
on_redraw.push(() => draw_rows());
list.addEventListener("scroll", () => draw_rows());
list.addEventListener("keydown", event => {
  const page = Math.max(1, Math.floor(list.clientHeight / ROW) - 2);
  const moves = { ArrowDown: cursor + 1, ArrowUp: cursor - 1, PageDown: cursor + page, PageUp: cursor - page,
    Home: 0, End: found.length - 1 };
  if (event.target !== list || !found.length) return;
  if (event.key in moves) {
    cursor = Math.min(found.length - 1, Math.max(0, moves[event.key]));
    scroll_to(cursor);
    draw_rows();
    list.setAttribute("aria-activedescendant", "row-" + cursor);
  } else if (event.key === "Enter" && cursor >= 0) choose_call(found[cursor], false);
  else return;
  event.preventDefault();
});
$("search").addEventListener("input", search);
addEventListener("beforeprint", () => draw_rows(0, AT_PRINT));
addEventListener("afterprint", () => draw_rows());

// -- the page as it opens -----------------------------------------------------------------------------
function go_to_hash() {
  if (!location.hash.startsWith(address)) return;
  const wanted = /^call-(\d+)$/.exec(location.hash.slice(address.length));
  if (wanted && Number(wanted[1]) < calls.length) choose_call(Number(wanted[1]));
}
addEventListener("hashchange", go_to_hash);
draw_chart();
draw_boxes();
module_facts(0);
search();
show_alive(report.peak_index);
go_to_hash();
