// Runs in the browser. Selects all findings of the page or none, lets the form of decisions follow the selection as a bar, and shows only
// those fields of a decision that its status has.
"use strict";

// The fields of one status, by its word.
const fieldsOf = { not_affected: "justification", ignored: "accepted_until" };

for (const status of document.querySelectorAll("form.form select[name=status]")) {
  const show = () => {
    for (const [word, name] of Object.entries(fieldsOf)) {
      const field = status.form.elements[name];
      if (!field) continue;
      field.closest(".field").hidden = status.value !== word && field.getAttribute("aria-invalid") !== "true";
    }
  };
  status.addEventListener("change", show);
  show();
}

for (const button of document.querySelectorAll("[data-chooses-all]")) {
  const boxes = [...document.querySelectorAll(`input[type=checkbox][name="${button.dataset.choosesAll}"]`)];
  const bar = document.querySelector("[data-bar]");
  const count = bar?.querySelector("[data-count]");
  const all = () => boxes.every((box) => box.checked);
  const show = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    button.textContent = all() ? "Select none" : "Select all on this page";
    if (!bar) return;
    bar.classList.add("bar");
    bar.hidden = chosen === 0;
    count.textContent = `${chosen} selected`;
  };
  const choose = (checked) => {
    for (const box of boxes) box.checked = checked;
    show();
  };
  button.hidden = boxes.length === 0;
  for (const link of document.querySelectorAll("[data-without-script]")) link.hidden = true;
  button.addEventListener("click", () => choose(!all()));
  const clear = bar?.querySelector("[data-clears]");
  if (clear) {
    clear.hidden = false;
    clear.addEventListener("click", () => {
      choose(false);
      button.focus();
    });
  }
  for (const box of boxes) box.addEventListener("change", show);
  show();
}
