// Runs in the browser. Selects all findings of the page, or none, and shows only those fields of a decision that its status has.
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
