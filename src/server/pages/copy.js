// Runs in the browser. It copies a text that the page shows.
"use strict";

for (const button of document.querySelectorAll("[data-copies]")) offerCopy(button);

function offerCopy(button) {
  if (!navigator.clipboard) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copies).textContent;
    const copied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    const word = button.firstElementChild;
    word.setAttribute("aria-live", "polite");
    word.textContent = copied ? "Copied" : "Could not copy";
  });
}
