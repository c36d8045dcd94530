// Runs in the browser. Loads a project's page again once its scan has ended, unless something was typed or selected meanwhile.
"use strict";

const waiting = document.querySelector("[data-scan]");

if (waiting) {
  waiting.textContent = "A scan is under way. This page shows what it finds once it has ended.";
  const address = new URL(location.href);
  address.search = "?as=scan";
  address.hash = "";

  const isTouched = () =>
    [...document.querySelectorAll("main form :is(input:not([type=hidden]), textarea), main input[form]")].some((field) =>
      field.type === "checkbox" || field.type === "radio"
        ? field.checked !== field.defaultChecked
        : field.type === "file"
          ? field.files.length > 0
          : field.value !== field.defaultValue,
    );

  const end = () => {
    if (!isTouched()) return location.reload();
    waiting.textContent = "The scan has ended: load this page again to see what it found.";
  };

  // A long scan is asked for less often.
  const look = async (pauseMs) => {
    await new Promise((done) => setTimeout(done, pauseMs));
    const later = () => look(Math.min(pauseMs * 1.3, 15_000));
    if (document.hidden) return later();
    const response = await fetch(address, { headers: { accept: "application/json" } }).catch(() => null);
    if (response === null || response.status >= 500 || response.status === 429) return later();
    // The session has ended, or the project is gone: the next page says so.
    if (!response.ok || !response.headers.get("content-type")?.startsWith("application/json")) return;
    const { scan_status: status } = await response.json();
    return status === "pending" || status === "scanning" ? later() : end();
  };

  look(1_500);
}
