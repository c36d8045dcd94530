// Runs in the browser. Choosing a filter shows its connectors at once; without a script, the button does that.
"use strict";

const form = document.querySelector("form.search");
const keptFocus = "catalog.focus";
if (form) filterAtOnce(form);

function filterAtOnce(form) {
  for (const select of form.querySelectorAll("select")) {
    // Arrow keys change a closed list at each press, so the reader applies the choice with Enter or the button.
    let steps = false;
    select.addEventListener("pointerdown", () => (steps = false));
    select.addEventListener("keydown", ({ key, altKey }) => (steps = key !== "Enter" && key !== " " && !altKey));
    select.addEventListener("change", () => {
      if (steps) return;
      sessionStorage.setItem(keptFocus, select.id);
      form.requestSubmit();
    });
  }
  // Keyboard focus stays on the filter.
  document.getElementById(sessionStorage.getItem(keptFocus) ?? "")?.focus({ preventScroll: true });
  sessionStorage.removeItem(keptFocus);
}
