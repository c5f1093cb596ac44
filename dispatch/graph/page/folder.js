// A folder's page: the table of its models, or the page of the one that the address names. Another
// model is the page loaded again: the charts are started for one report.
(() => {
const named = () => location.hash.slice(1).split("/")[0];
const data_of = name => [...document.querySelectorAll("script[data-model]")].find(s => s.dataset.model === name);
const name = named(), data = data_of(name);
const title = document.title;
history.scrollRestoration = "manual";
addEventListener("hashchange", () => { if (data_of(named()) !== data) location.reload(); });
if (data) {
  data.id = "data";
  document.body.classList.remove("index");
  const up = document.createElement("a");
  up.id = "up"; up.href = "#"; up.textContent = "\u2190 " + title;
  document.querySelector("h1").before(up);
  const script = document.createElement("script");
  script.textContent = document.getElementById("report-script").textContent;
  document.body.append(script);
  return;
}

const table = document.getElementById("models"), body = table.tBodies[0];
const rows = [...body.rows], heads = [...table.tHead.rows[0].cells].filter(cell => cell.querySelector("button"));
const field = document.getElementById("search-models");
let sorted = 0, down = false;
const value = (row, k) => {
  const text = row.cells[k].dataset.value;
  return k ? (text === "None" ? -1 : Number(text)) : text.toLowerCase();
};
function draw() {
  heads.forEach((cell, k) => k === sorted
    ? cell.setAttribute("aria-sort", down ? "descending" : "ascending") : cell.removeAttribute("aria-sort"));
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = rows.filter(row => words.every(word => value(row, 0).includes(word)));
  shown.sort((a, b) => {
    const x = value(a, sorted), y = value(b, sorted);
    return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
  });
  body.replaceChildren(...shown);
  document.getElementById("models-shown").textContent = `${shown.length} of ${rows.length} models`;
}
heads.forEach((cell, k) => cell.querySelector("button").addEventListener("click", () => {
  down = sorted === k ? !down : k > 0;
  sorted = k;
  draw();
}));
for (const row of rows) row.addEventListener("click", event => {
  if (!event.target.closest("a") && !String(getSelection())) row.querySelector("a").click();
});
field.hidden = false;
field.addEventListener("input", draw);
draw();
})();
