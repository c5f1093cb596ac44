"use strict";
// The theme: the system's, or the one that the button says, for as long as the tab is there.
const themes = ["auto", "light", "dark"];
let theme = 0;
function kept_theme(value) {
  try {  // a page without a place of its own, as in a notebook's frame, has no storage
    if (value !== undefined) sessionStorage.setItem("theme", value);
    return Number(sessionStorage.getItem("theme")) || 0;
  } catch { return theme; }
}
function show_theme() {
  if (theme) document.documentElement.dataset.theme = themes[theme];
  else delete document.documentElement.dataset.theme;
  const button = document.getElementById("theme");
  button.textContent = "Theme: " + themes[theme];
  button.setAttribute("aria-label", "Theme: " + (theme ? themes[theme] : "as the system"));
}
document.getElementById("theme").addEventListener("click", () => {
  theme = (theme + 1) % themes.length;
  kept_theme(theme);
  show_theme();
});
theme = kept_theme() % themes.length;
show_theme();
