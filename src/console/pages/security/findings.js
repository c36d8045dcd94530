// Runs in the browser. Selects all findings of the page, or none.
"use strict";

for (const button of document.querySelectorAll("[data-chooses-all]")) {
  const boxes = [...document.querySelectorAll(`input[type=checkbox][name="${button.dataset.choosesAll}"]`)];
  const all = () => boxes.every((box) => box.checked);
  const show = () => (button.textContent = all() ? "Select none" : "Select all on this page");
  button.hidden = boxes.length === 0;
  button.addEventListener("click", () => {
    const checked = !all();
    for (const box of boxes) box.checked = checked;
    show();
  });
  for (const box of boxes) box.addEventListener("change", show);
  show();
}
