// Runs in the browser, on every page of the Console. Each page works without it.
"use strict";

{
  const live = document.querySelector("[data-live]");
  let sent = false;

  /** Emptied first, so that the same words are read out again. */
  const say = (words) => {
    if (!live) return;
    live.textContent = "";
    setTimeout(() => (live.textContent = words), 50);
  };

  const showTimes = (root) => {
    for (const time of root.querySelectorAll("time[data-local]")) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      const seconds = time.dataset.local === "seconds" ? { second: "2-digit" } : {};
      // The year is shown unless it is the current one.
      const year = at.getFullYear() === new Date().getFullYear() ? {} : { year: "numeric" };
      const day = at.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...year });
      const clock = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", ...seconds });
      time.textContent = `${day.replace("Sept", "Sep")}, ${clock}`;
    }
  };

  const isChanged = (field) => {
    if (field.type === "hidden" || field.readOnly) return false;
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    if (field.type === "file") return field.files.length > 0;
    if (field instanceof HTMLSelectElement) {
      const original = [...field.options].find((option) => option.defaultSelected) ?? field.options[0];
      return original !== undefined && !original.selected;
    }
    return "defaultValue" in field && field.value !== field.defaultValue;
  };

  const changedIn = (root) => [...root.querySelectorAll("form[data-guards]")].some((form) => [...form.elements].some(isChanged));

  const mayClose = (dialog) => {
    if (dialog.dataset.asks === "always") return confirm("This is shown only once. Close it anyway?");
    // What a refused form still holds was typed before.
    const typed = changedIn(dialog) || dialog.querySelector("[data-refused]") !== null;
    if (dialog.dataset.asks === "changes" && typed) return confirm("Close without saving what you typed?");
    return true;
  };

  const close = (dialog) => {
    if (!mayClose(dialog)) return;
    for (const form of dialog.querySelectorAll("form")) form.reset();
    dialog.close();
  };

  for (const dialog of document.querySelectorAll("dialog")) {
    // A browser closes a dialog at the second Escape in a row, unless the page keeps the key to itself.
    dialog.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      event.preventDefault();
      close(dialog);
    });
    dialog.addEventListener("cancel", (event) => {
      if (event.target === dialog && !mayClose(dialog)) event.preventDefault();
    });
    dialog.addEventListener("close", () => {
      const { then } = dialog.dataset;
      if (then) location.assign(then);
    });
    if ("atOnce" in dialog.dataset) {
      // `close` would go to the next page at once.
      dialog.removeAttribute("open");
      dialog.showModal();
    }
  }

  for (const opener of document.querySelectorAll("[data-opens]")) {
    const dialog = document.getElementById(opener.dataset.opens);
    if (!dialog) continue;
    opener.setAttribute("role", "button");
    opener.setAttribute("aria-haspopup", "dialog");
    opener.addEventListener("keydown", (event) => {
      if (event.key !== " ") return;
      event.preventDefault();
      opener.click();
    });
    opener.addEventListener("click", (event) => {
      // With these keys the reader wants the page itself.
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      dialog.showModal();
      dialog.querySelector("[autofocus], form.form :is(input:not([type=hidden]), select, textarea)")?.focus();
    });
  }

  // The reader first corrects what was refused.
  document.querySelector("[aria-invalid=true]")?.focus();

  const copy = async (button) => {
    const source = document.getElementById(button.dataset.copies);
    if (!source) return;
    const text = "value" in source ? source.value : source.textContent;
    const copied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    const label = button.firstElementChild;
    const before = label.dataset.label ?? label.textContent;
    label.dataset.label = before;
    label.textContent = copied ? "Copied" : "Could not copy";
    say(label.textContent);
    setTimeout(() => (label.textContent = before), 2_000);
  };

  // Browsers offer it only to pages of a secure origin.
  if (navigator.clipboard) for (const button of document.querySelectorAll("[data-copies]")) button.hidden = false;

  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-copies], [data-closes]") : null;
    if (!button) return;
    if ("copies" in button.dataset) return void copy(button);
    const dialog = button.closest("dialog");
    if (!dialog) return;
    event.preventDefault();
    close(dialog);
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post") return;
    // A second click must not send it twice.
    if ("sent" in form.dataset) return event.preventDefault();
    form.dataset.sent = "";
    sent = true;
  });

  // A page that comes back from the cache may be sent again.
  addEventListener("pageshow", () => {
    sent = false;
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  });

  addEventListener("beforeunload", (event) => {
    if (!sent && changedIn(document)) event.preventDefault();
  });

  // In a low window, the current page may be below the end of the menu.
  document.querySelector(".links [aria-current]")?.scrollIntoView({ block: "nearest" });
  showTimes(document);
  const zone = document.querySelector("[data-zone]");
  if (zone) zone.textContent = `Times are in ${Intl.DateTimeFormat().resolvedOptions().timeZone}.`;
  const announced = document.querySelector("[data-announced][role=status]");
  if (announced) say(announced.textContent);
}
