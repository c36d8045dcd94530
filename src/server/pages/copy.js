// Runs in the browser. It shows the address that the page was loaded from, and copies text that the page shows.
"use strict";

for (const place of document.querySelectorAll("[data-origin]")) place.textContent = location.origin;
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
