// Runs in the browser. Selects all findings of the page or none, lets the form of decisions follow the selection as a bar, and shows only
// those fields of a decision that its status has. The page may refresh itself, so what it has is looked up each time.
"use strict";

{
  // The fields of one status, by its word.
  const fieldsOf = { not_affected: "justification", ignored: "accepted_until" };
  const statusOf = "form.form select[name=status]";

  const showFields = (status) => {
    for (const [word, name] of Object.entries(fieldsOf)) {
      const field = status.form.elements[name];
      if (!field) continue;
      field.closest(".field").hidden = status.value !== word && field.getAttribute("aria-invalid") !== "true";
    }
  };

  const chooser = () => document.querySelector("[data-chooses-all]");
  const boxes = () => [...document.querySelectorAll(`input[type=checkbox][name="${chooser()?.dataset.choosesAll}"]`)];

  const showSelection = () => {
    const button = chooser();
    const all = boxes();
    const chosen = all.filter((box) => box.checked).length;
    if (button !== null) {
      button.hidden = all.length === 0;
      button.textContent = chosen > 0 && chosen === all.length ? "Select none" : "Select all on this page";
    }
    for (const link of document.querySelectorAll("[data-without-script]")) link.hidden = true;
    const bar = document.querySelector("[data-bar]");
    if (bar === null) return;
    bar.classList.add("bar");
    bar.hidden = chosen === 0;
    bar.querySelector("[data-count]").textContent = `${chosen} selected`;
    bar.querySelector("[data-clears]").hidden = false;
  };

  const choose = (checked) => {
    for (const box of boxes()) box.checked = checked;
    showSelection();
  };

  document.addEventListener("change", ({ target }) => {
    if (target.matches(statusOf)) showFields(target);
    if (target.matches("input[type=checkbox]")) showSelection();
  });
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-chooses-all]")) choose(boxes().some((box) => !box.checked));
    if (!target.closest("[data-clears]")) return;
    choose(false);
    chooser()?.focus();
  });

  const show = () => {
    for (const status of document.querySelectorAll(statusOf)) showFields(status);
    showSelection();
  };
  document.addEventListener("weir:refreshed", show);
  show();
}
