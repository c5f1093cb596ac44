// Memory during each call as stacked bands, and the list of what is alive during the chosen one.
// A column of the screen that stands for many calls shows the one with most memory, so that no peak
// is lost.
const chart = $("chart"), svg = chart.querySelector("svg"), chart_tip = chart.querySelector(".tip");
const TOP = 22, BOTTOM = 24, LEFT = 64, RIGHT = 12;
const bands = KINDS.map(() => new Float64Array(calls.length + 1));
for (const s of storages) {
  const band = bands[s[KIND]];
  band[Math.max(s[MADE], 0)] += s[SIZE];
  band[Math.min(s[FREED] + 1, calls.length)] -= s[SIZE];
}
for (const band of bands) for (let i = 1; i < band.length; i++) band[i] += band[i - 1];
const largest = bands.map(band => band.slice(0, calls.length).reduce((a, b) => Math.max(a, b), 0));
// Beside weights of gigabytes, activations would be a hairline.
const fixed = largest[0] + largest[1];
const drawn = KINDS.map((_, k) => largest[k] > 0 && (k > 1 || largest[ACTIVATION] > 0.1 * fixed || !largest[ACTIVATION]));
let from = 0, to = Math.max(calls.length, 1), width = 0, height = 0, top_value = 1;
let pointed = chosen.call, brush = null, frame = 0;

const x_of = i => LEFT + (i - from) / (to - from) * (width - LEFT - RIGHT);
const y_of = n => TOP + (1 - n / (top_value * 1.05)) * (height - TOP - BOTTOM);
const seen_total = i => { let sum = 0; for (let k = 0; k < KINDS.length; k++) if (drawn[k]) sum += bands[k][i]; return sum; };
function nice(step) {
  if (!(step > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(step));
  return [1, 2, 5, 10].find(f => f * power >= step * 0.9999) * power;
}
// [start, end, call shown] for each column, in calls
function columns_of() {
  const first = Math.max(0, Math.floor(from)), end = Math.min(calls.length, Math.ceil(to));
  const most = Math.max(1, Math.floor(width - LEFT - RIGHT)), found = [];
  const each = Math.max(1, (end - first) / most);
  for (let a = first; a < end; a += each) {
    const start = Math.floor(a), stop = Math.min(end, Math.max(start + 1, Math.floor(a + each)));
    let best = start;
    for (let i = start + 1; i < stop; i++) if (seen_total(i) > seen_total(best)) best = i;
    found.push([start, stop, best]);
  }
  return found;
}
function draw_chart() {
  width = svg.clientWidth; height = svg.clientHeight;
  svg.replaceChildren();
  if (!calls.length) { el(svg, "text", "no calls", { x: 20, y: 40 }); return; }
  const columns = columns_of();
  top_value = Math.max(1, ...columns.map(([, , i]) => seen_total(i)));
  const step = nice(top_value / 5);
  for (let n = 0; n <= top_value * 1.03; n += step) {
    el(svg, "line", undefined, { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y_of(n), y2: y_of(n) });
    el(svg, "text", bytes(n), { x: LEFT - 6, y: y_of(n) + 4, "text-anchor": "end" });
  }
  const across = Math.max(1, nice((to - from) / Math.max(2, width / 110)));
  for (let i = Math.ceil(from / across) * across; i < to; i += across)
    el(svg, "text", whole(i), { x: x_of(i), y: height - 7, "text-anchor": "middle" });
  const base = columns.map(() => 0);
  const clip = x => Math.min(width - RIGHT, Math.max(LEFT, x)).toFixed(1);
  KINDS.forEach((kind, k) => {
    if (!drawn[k]) return;
    let over = "", under = "";
    columns.forEach(([start, stop, i], c) => {
      const low = y_of(base[c]).toFixed(1), high = y_of(base[c] += bands[k][i]).toFixed(1);
      const a = clip(x_of(start)), b = clip(x_of(stop));
      over += `${over ? "L" : "M"}${a} ${high}L${b} ${high}`;
      under = `L${b} ${low}L${a} ${low}` + under;
    });
    el(svg, "path", undefined, { class: "band-" + kind, d: over + under + "Z" });
  });
  draw_peak();
  mark("here", chosen.call);
  el(svg, "line", undefined, { class: "cross", y1: TOP, y2: height - BOTTOM, visibility: "hidden" });
  if (brush) {
    const [a, b] = [brush[0], brush[1]].map(x => Math.min(width - RIGHT, Math.max(LEFT, x))).sort((p, q) => p - q);
    el(svg, "rect", undefined, { class: "brush", x: a, y: TOP, width: b - a, height: height - TOP - BOTTOM });
  }
}
function draw_peak() {
  const i = report.peak_index, x = x_of(i + 0.5);
  if (i < from - 1 || i > to) return;
  el(svg, "line", undefined, { class: "peak-line", x1: x, x2: x, y1: TOP - 4, y2: height - BOTTOM });
  const hidden = KINDS.filter((_, k) => !drawn[k] && bands[k][i] > 0);
  const left_out = hidden.length ? ` (${bytes(report.peak_bytes - seen_total(i))} not drawn)` : "";
  const side = x > width / 2 ? "end" : "start";
  const said = `peak ${bytes(report.peak_bytes)}, call ${whole(i)}`;
  const text = el(svg, "text", said + left_out,
    { class: "peak-text", x: x + (side === "end" ? -4 : 4), y: TOP - 8, "text-anchor": side });
  if (text.getComputedTextLength() + 4 > (side === "end" ? x : width - x)) text.textContent = said;
}
function mark(name, i) {
  if (i < from - 1 || i > to) return;
  const x = x_of(i + 0.5);
  el(svg, "line", undefined, { class: name, x1: x, x2: x, y1: TOP, y2: height - BOTTOM });
}
function later() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(draw_chart);
}
function value_text(i) {
  const c = calls[i];
  return `call ${i}, ${c[NODE]}, ${ops[c[OP]]}, ${bytes(c[DURING])}${i === report.peak_index ? ", the peak" : ""}`;
}
function point_at(i) {
  pointed = i;
  chart.setAttribute("aria-valuenow", i);
  chart.setAttribute("aria-valuetext", value_text(i));
  const cross = svg.querySelector(".cross"), call = calls[i];
  if (!cross) return;
  for (const end of ["x1", "x2"]) cross.setAttribute(end, x_of(i + 0.5));
  cross.setAttribute("visibility", "visible");
  chart_tip.replaceChildren();
  el(chart_tip, "b", `${whole(i)}  ${call[NODE]}`);
  el(chart_tip, "div", ops[call[OP]]);
  el(chart_tip, "div", call[OUT], { class: "soft" });
  if (call[MODULE] > 0) el(chart_tip, "div", "in " + path_name(call[MODULE]), { class: "soft" });
  el(chart_tip, "div", `${bytes(call[DURING])} during it, ${bytes(call[LIVE])} after; allocates ${bytes(call[NEW])}`);
  el(chart_tip, "div", KINDS.map((kind, k) => [kind, bands[k][i]]).filter(p => p[1])
    .map(([kind, n]) => `${kind}s ${bytes(n)}`).join(", "), { class: "soft" });
  if (call[FLOPS] || timed) el(chart_tip, "div", [call[FLOPS] ? count(call[FLOPS]) + " FLOPs" : "", time(call[NS]) + bound(call)].filter(Boolean).join(", "));
  place_tip(chart_tip, chart, x_of(i + 0.5), TOP);
}
function leave_chart() {
  chart_tip.style.display = "none";
  const cross = svg.querySelector(".cross");
  if (cross) cross.setAttribute("visibility", "hidden");
}
const position = event => event.clientX - svg.getBoundingClientRect().left;
const at_position = x => from + (x - LEFT) / (width - LEFT - RIGHT) * (to - from);
const call_at = x => Math.min(calls.length - 1, Math.max(0, Math.floor(at_position(x))));
function zoom(a, b) {
  const least = Math.min(calls.length, 8), span = Math.min(calls.length, Math.max(least, b - a));
  from = Math.max(0, Math.min(calls.length - span, (a + b - span) / 2));
  to = from + span;
  later();
}
function zoom_by(factor, center) {
  zoom(center - (center - from) * factor, center + (to - center) * factor);
}
function show_in_chart(i) {
  if (i < from || i >= to) zoom(i - (to - from) / 2, i + (to - from) / 2);
}
if (calls.length) {
  chart.setAttribute("aria-valuemax", calls.length - 1);
  chart.setAttribute("aria-valuenow", chosen.call);
  chart.setAttribute("aria-valuetext", value_text(chosen.call));
  svg.addEventListener("pointermove", event => {
    if (brush) { brush[1] = position(event); later(); } else point_at(call_at(position(event)));
  });
  svg.addEventListener("pointerdown", event => {
    if (event.pointerType !== "mouse" || event.button) return;
    brush = [position(event), position(event)];
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointerup", event => {
    const [a, b] = brush || [0, 0];
    brush = null;
    if (Math.abs(a - b) > 5) zoom(Math.min(at_position(a), at_position(b)), Math.max(at_position(a), at_position(b)));
    else choose_call(call_at(position(event)));
  });
  svg.addEventListener("pointercancel", () => { brush = null; later(); });
  svg.addEventListener("pointerleave", leave_chart);
  svg.addEventListener("dblclick", () => zoom(0, calls.length));
  chart.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== chart) return;
    event.preventDefault();
    zoom_by(event.deltaY > 0 ? 1.25 : 0.8, at_position(position(event)));
  }, { passive: false });
  chart.addEventListener("keydown", event => {
    const page = Math.max(1, Math.round((to - from) / 10));
    const moves = { ArrowLeft: pointed - 1, ArrowDown: pointed - 1, ArrowRight: pointed + 1, ArrowUp: pointed + 1,
      PageDown: pointed + page, PageUp: pointed - page, Home: 0, End: calls.length - 1 };
    if (event.key in moves) {
      const i = Math.min(calls.length - 1, Math.max(0, moves[event.key]));
      if (i < from || i >= to) { show_in_chart(i); draw_chart(); }
      point_at(i);
    } else if (event.key === "Enter" || event.key === " ") choose_call(pointed);
    else if (event.key === "+" || event.key === "=") zoom_by(0.6, pointed);
    else if (event.key === "-") zoom_by(1.6, pointed);
    else if (event.key === "0") zoom(0, calls.length);
    else if (event.key === "Escape") leave_chart();
    else return;
    event.preventDefault();
  });
  chart.addEventListener("blur", leave_chart);
}
$("zoom-in").addEventListener("click", () => zoom_by(0.5, Math.min(to, Math.max(from, chosen.call))));
$("zoom-out").addEventListener("click", () => zoom_by(2, (from + to) / 2));
$("zoom-all").addEventListener("click", () => zoom(0, calls.length));
$("to-peak").addEventListener("click", () => choose_call(report.peak_index));
KINDS.forEach((kind, k) => {
  if (!largest[k]) return;
  const label = el($("bands"), "label"), box = el(label, "input", undefined, { type: "checkbox", id: "band-" + kind });
  box.checked = drawn[k];
  box.addEventListener("change", () => { drawn[k] = box.checked; draw_chart(); show_alive(chosen.call); });
  el(label, "span", undefined, { class: "swatch band-" + kind });
  el(label, "span", `${kind}s, up to ${bytes(largest[k])}`);
});
on_redraw.push(draw_chart);
on_call.push(i => { show_in_chart(i); pointed = i; chart.setAttribute("aria-valuenow", i);
  chart.setAttribute("aria-valuetext", value_text(i)); later(); });

// -- what is alive ----------------------------------------------------------------------------------
const FEW_ALIVE = 60;
let most_alive = FEW_ALIVE;
const alive = [];
alive.ordered = compare => [...alive].sort(compare).slice(0, most_alive);
const alive_columns = [
  ["what", s => s[NAME], (cell, s) => { el(cell, "bdi", s[NAME]); cell.title = s[NAME]; }, "left name path"],
  ["kind", s => KINDS[s[KIND]], (cell, s) => {
    el(cell, "span", undefined, { class: "swatch band-" + KINDS[s[KIND]], title: KINDS[s[KIND]] });
    el(cell, "span", " " + KINDS[s[KIND]], { class: "word" });
  }, "left wide"],
  ["size", s => s[SIZE], (cell, s) => cell.append(bytes(s[SIZE]))],
  ["shape", s => s[SHAPE], (cell, s) => cell.append(s[SHAPE]), "left wide"],
  ["made by", s => s[MADE], (cell, s) => call_link(cell, s[MADE], "there before"), "left place"],
  ["last used by", s => s[USED], (cell, s) => call_link(cell, s[USED], s[NEVER]), "left place"],
  ["module", s => s[PLACE], (cell, s) => module_link(cell, s[PLACE]), "left wide name"],
];
$("skip-alive").addEventListener("click", () => $("after-alive").focus());
const draw_alive = sortable($("alive"), alive_columns, alive, null, 2);
function show_alive(i) {
  const all = storages.filter(s => s[MADE] <= i && i <= s[FREED] && s[SIZE]);
  const found = all.filter(s => drawn[s[KIND]]);
  const rest = all.reduce((sum, s) => sum + s[SIZE], 0) - found.reduce((sum, s) => sum + s[SIZE], 0);
  alive.splice(0, alive.length, ...found);
  draw_alive();
  const where = i === report.peak_index ? "At the peak" : "During";
  $("alive-title").textContent = i < 0 ? "" :
    `${where}, call ${whole(i)}: ${bytes(calls[i][DURING])} in ${whole(all.length)} storages` +
    (rest ? `; ${bytes(rest)} of what is not drawn is left out` : "");
  $("more-alive").hidden = found.length <= most_alive;
  $("more-alive").textContent = `Show all ${whole(found.length)}`;
  const line = $("chosen");
  line.replaceChildren();
  if (i < 0) return;
  const call = calls[i];
  line.append(`${call[NODE]} = ${ops[call[OP]]}, ${call[OUT]}; allocates ${bytes(call[NEW])}` +
    (call[FLOPS] ? `, ${count(call[FLOPS])} FLOPs` : "") + (timed ? `, ${time_name} ${time(call[NS])}${bound(call)}` : ""));
  if (call[MODULE] >= 0) { line.append("; in "); module_link(line, call[MODULE]); }
  if (call[SOURCE]) line.append("; " + call[SOURCE]);
}
$("more-alive").addEventListener("click", () => { most_alive = Infinity; show_alive(chosen.call); });
on_call.push(i => { most_alive = FEW_ALIVE; show_alive(i); });
if (report.advice.length) {
  el($("advice"), "h3", "What would lower the peak");
  const list = el($("advice"), "ul");
  for (const [what, saved, left] of report.advice) el(list, "li", `${what}: saves ${bytes(saved)}, ${bytes(left)} left`);
}
