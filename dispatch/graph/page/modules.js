// The tree of modules as a flame graph or a treemap of one figure, and as a table. Every picture
// opens the module that is chosen; what a module has beside those below it is left blank.
const METRICS = [
  ["at the peak", AT_PEAK, bytes], ["new memory", BYTES, bytes], ["parameters", PARAMETERS, count],
  ["FLOPs", M_FLOPS, count], ["calls", M_CALLS, whole],
];
if (timed) METRICS.push([time_name, M_NS, time]);
const children = modules.map(() => []), parent_of = modules.map(() => -1);
{
  const path = [];
  modules.forEach((row, m) => {
    path.length = row[DEPTH];
    if (path.length) { parent_of[m] = path[path.length - 1]; children[parent_of[m]].push(m); }
    path.push(m);
  });
}
const boxes = $("boxes"), box_svg = boxes.querySelector("svg"), box_tip = boxes.querySelector(".tip");
const ROW_HEIGHT = 24, FLAME_ROWS = 10, TREEMAP_HEIGHT = 420, GAP = 2, TITLE = 17, SMALLEST = 3;
let metric = METRICS.find(m => modules[0][m[1]] > 0) || METRICS[0], opened = 0;
const hues = new Map();
const figure = m => modules[m][metric[1]] || 0;

function hue(m) {
  const kind = modules[m][CLASS] || "";
  if (!hues.has(kind)) hues.set(kind, (hues.size * 67 + 210) % 360);
  return hues.get(kind);
}
function inside(m, outer) {
  for (; m >= 0; m = parent_of[m]) if (m === outer) return true;
  return false;
}
function box_of(m, x, y, w, h) {
  const share = percent(figure(m) / (figure(0) || 1));
  const label = `${path_name(m)}, ${last(modules[m][CLASS] || "")}, ${metric[0]} ${metric[2](figure(m)) || 0}, ${share}`;
  const group = el(box_svg, "g", undefined, { role: "button", tabindex: m === opened ? 0 : -1, "aria-label": label, "data-module": m });
  el(group, "rect", undefined, { x: x.toFixed(1), y: y.toFixed(1), width: Math.max(1, w - 1).toFixed(1),
    height: Math.max(1, h - 1).toFixed(1), rx: 2, style: `--h:${hue(m)}` });
  const room = Math.floor((w - 8) / 6.2);
  if (room >= 3 && h >= 13) {
    const full = `${module_name(m)}  ${metric[2](figure(m))}`;
    el(group, "text", full.length > room ? module_name(m).slice(0, room) : full, { x: x + 4, y: y + Math.min(15, h / 2 + 4) });
  }
  return group;
}
function flame() {
  const wide = box_svg.clientWidth, path = [];
  for (let m = opened; m >= 0; m = parent_of[m]) path.unshift(m);
  let deepest = 0;
  path.slice(0, -1).forEach((m, k) => box_of(m, 0, k * ROW_HEIGHT, wide, ROW_HEIGHT));
  const above = path.length - 1;
  (function lay(m, x, w, row) {
    if (w < SMALLEST || row > FLAME_ROWS) return;
    deepest = Math.max(deepest, row);
    box_of(m, x, (above + row) * ROW_HEIGHT, w, ROW_HEIGHT);
    const total = Math.max(figure(m), children[m].reduce((sum, c) => sum + figure(c), 0)) || 1;
    for (const child of children[m]) {
      const part = w * figure(child) / total;
      lay(child, x, part, row + 1);
      x += part;
    }
  })(opened, 0, wide, 0);
  box_svg.style.height = (above + deepest + 1) * ROW_HEIGHT + 2 + "px";
}
// Squarified: rows of boxes along the shorter side, each as long as its boxes stay about square.
function squares(items, x, y, w, h, place) {
  let total = items.reduce((sum, [, v]) => sum + v, 0);
  let rest = items;
  while (rest.length && total > 0 && w > 0 && h > 0) {
    const side = Math.min(w, h), area = w * h / total;
    let row = [], sum = 0, worst = Infinity;
    for (const item of rest) {
      const next = sum + item[1], thick = next * area / side;
      const sizes = [...row, item].map(([, v]) => v * area / thick);
      const ratio = Math.max(...sizes.map(s => Math.max(s / thick, thick / s)));
      if (row.length && ratio > worst) break;
      row.push(item); sum = next; worst = ratio;
    }
    const thick = sum * area / side;
    let at = 0;
    for (const [m, v] of row) {
      const long = v / sum * side;
      if (w < h) place(m, x + at, y, long, thick); else place(m, x, y + at, thick, long);
      at += long;
    }
    if (w < h) { y += thick; h -= thick; } else { x += thick; w -= thick; }
    total -= sum;
    rest = rest.slice(row.length);
  }
}
function treemap() {
  box_svg.style.height = TREEMAP_HEIGHT + "px";
  (function lay(m, x, y, w, h) {
    if (w < SMALLEST || h < SMALLEST) return;
    box_of(m, x, y, w, h);
    const inner = children[m].filter(c => figure(c) > 0).map(c => [c, figure(c)]).sort((a, b) => b[1] - a[1]);
    if (!inner.length || w < 24 || h < TITLE + 10) return;
    const sum = inner.reduce((s, [, v]) => s + v, 0), part = Math.min(1, sum / (figure(m) || 1));
    const high = h - TITLE - GAP, wide = w - 2 * GAP;
    // The blank rest is what the module has of its own.
    const [ww, hh] = wide > high ? [wide * part, high] : [wide, high * part];
    squares(inner, x + GAP, y + TITLE, ww, hh, lay);
  })(opened, 0, 0, box_svg.clientWidth, TREEMAP_HEIGHT);
}
function draw_boxes() {
  box_svg.replaceChildren();
  box_tip.style.display = "none";
  if (figure(opened) > 0) ($("shape").value === "flame" ? flame : treemap)();
  else {
    box_svg.style.height = "40px";
    el(box_svg, "text", `${path_name(opened)}: nothing of this figure`, { x: 10, y: 24 });
  }
  $("module-up").disabled = parent_of[opened] < 0;
  $("module-path").textContent = path_name(opened);
}
function module_facts(m) {
  const row = modules[m], facts = $("module-facts");
  facts.replaceChildren();
  el(facts, "b", path_name(m));
  const parts = [row[CLASS], row[PARAMETERS] ? `${count(row[PARAMETERS])} parameters (${bytes(row[WEIGHTS])})` : "",
    `${bytes(row[AT_PEAK])} at the peak (${percent(row[AT_PEAK] / (report.peak_bytes || 1))})`,
    `allocates ${bytes(row[BYTES])}`, row[M_FLOPS] ? `${count(row[M_FLOPS])} FLOPs` : "",
    timed ? time(row[M_NS]) : "", row[LINE]];
  facts.append("  " + parts.filter(Boolean).join("; ") + "  ");
  if (row[M_CALLS]) {
    const link = el(facts, "button", `its ${whole(row[M_CALLS])} calls`, { class: "link", type: "button" });
    link.addEventListener("click", () => search_for(m ? `in:${row[PATH]}` : ""));
  }
}
const module_at = target => {
  const group = target.closest && target.closest("g[data-module]");
  return group ? Number(group.dataset.module) : -1;
};
box_svg.addEventListener("click", event => {
  const m = module_at(event.target);
  if (m >= 0) choose_module(m === opened && parent_of[m] >= 0 ? parent_of[m] : m);
});
box_svg.addEventListener("pointermove", event => {
  const m = module_at(event.target);
  if (m < 0) { box_tip.style.display = "none"; return; }
  box_tip.replaceChildren();
  el(box_tip, "b", path_name(m));
  if (modules[m][CLASS]) el(box_tip, "div", modules[m][CLASS], { class: "soft" });
  el(box_tip, "div", `${metric[0]}: ${metric[2](figure(m)) || 0} (${percent(figure(m) / (figure(0) || 1))})`);
  const frame = boxes.getBoundingClientRect();
  place_tip(box_tip, boxes, event.clientX - frame.left, event.clientY - frame.top);
});
box_svg.addEventListener("pointerleave", () => { box_tip.style.display = "none"; });
boxes.addEventListener("keydown", event => {
  const m = module_at(event.target);
  if (m < 0) return;
  const family = parent_of[m] < 0 ? [m] : children[parent_of[m]], at = family.indexOf(m);
  const next = { ArrowLeft: family[at - 1], ArrowRight: family[at + 1], ArrowUp: parent_of[m], ArrowDown: children[m][0] };
  if (event.key in next) {
    const group = box_svg.querySelector(`g[data-module="${next[event.key]}"]`);
    if (group) group.focus();
  } else if (event.key === "Enter" || event.key === " ") { choose_module(m); focus_opened(); }
  else if (event.key === "Escape" && parent_of[opened] >= 0) { choose_module(parent_of[opened]); focus_opened(); }
  else return;
  event.preventDefault();
});
function focus_opened() {
  const group = box_svg.querySelector(`g[data-module="${opened}"]`);
  if (group) group.focus();
}
METRICS.forEach(([name], k) => el($("metric"), "option", name, { value: k }));
$("metric").value = METRICS.indexOf(metric);
$("metric").addEventListener("change", () => { metric = METRICS[$("metric").value]; draw_boxes(); });
$("shape").addEventListener("change", draw_boxes);
$("module-up").addEventListener("click", () => choose_module(parent_of[opened]));
on_module.push(m => { opened = m; draw_boxes(); module_facts(m); unfold_to(m); });
on_redraw.push(draw_boxes);

// -- the tree as a table ------------------------------------------------------------------------------
const unfolded = new Set(), FIRST_ROWS = 14;
{
  let depth = 0;
  while (depth < 60 && modules.filter(row => row[DEPTH] <= depth + 1).length <= FIRST_ROWS) depth++;
  modules.forEach((row, m) => { if (row[DEPTH] < Math.max(1, depth)) unfolded.add(m); });
}
const tree = modules.map((_, m) => m);
tree.ordered = compare => {
  const found = [];
  (function visit(m) {
    found.push(m);
    if (!unfolded.has(m)) return;
    const inner = [...children[m]];
    if (sorted_tree) inner.sort(compare);
    inner.forEach(visit);
  })(0);
  return found;
};
let sorted_tree = false;
const tree_columns = [
  ["module", m => m, (cell, m) => {
    cell.style.paddingLeft = 10 + (innerWidth < 700 ? 8 : 16) * modules[m][DEPTH] + "px";
    const open = unfolded.has(m);
    if (children[m].length) {
      const fold = el(cell, "button", open ? "\u25be" : "\u25b8", { class: "link", type: "button", "aria-expanded": open,
        "aria-label": `${open ? "Fold" : "Unfold"} ${path_name(m)}` });
      fold.addEventListener("click", () => { unfolded[open ? "delete" : "add"](m); draw_tree(); });
      cell.append(" ");
    } else cell.append("\u2003");
    const link = el(cell, "button", module_name(m), { class: "link", type: "button", title: path_name(m) });
    link.addEventListener("click", () => choose_module(m));
  }, "left name"],
  ["class", m => last(modules[m][CLASS] || ""), (cell, m) => { cell.append(last(modules[m][CLASS] || "")); cell.title = modules[m][CLASS] || ""; }, "left wide name"],
  ["parameters", m => modules[m][PARAMETERS], (cell, m) => cell.append(count(modules[m][PARAMETERS])), "wide"],
  ["new memory", m => modules[m][BYTES], (cell, m) => cell.append(modules[m][BYTES] ? bytes(modules[m][BYTES]) : "")],
  ["at the peak", m => modules[m][AT_PEAK], (cell, m) => { if (modules[m][AT_PEAK]) share_cell(cell, modules[m][AT_PEAK] / (report.peak_bytes || 1)); }],
  ["FLOPs", m => modules[m][M_FLOPS], (cell, m) => cell.append(count(modules[m][M_FLOPS]))],
  ...(timed ? [[time_name, m => modules[m][M_NS] || 0, (cell, m) => cell.append(time(modules[m][M_NS]))]] : []),
  ["calls", m => modules[m][M_CALLS], (cell, m) => cell.append(modules[m][M_CALLS] ? whole(modules[m][M_CALLS]) : ""), "wide"],
  ...(modules.some(row => row[LINE]) ? [
    ["source", m => modules[m][LINE] || "", (cell, m) => { cell.append((modules[m][LINE] || "").split("/").slice(-2).join("/")); cell.title = modules[m][LINE] || ""; }, "left wide name"],
  ] : []),
];
const draw_tree = sortable($("modules"), tree_columns, tree, (line, m) => { if (m === opened) line.className = "chosen"; }, 0);
$("modules").tHead.addEventListener("click", () => { sorted_tree = true; draw_tree(); });
function unfold_to(m) {
  for (let up = parent_of[m]; up >= 0; up = parent_of[up]) unfolded.add(up);
  draw_tree();
}
if (modules.length < 2) $("modules-section").hidden = true;
