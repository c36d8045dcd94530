// Shows each invariant as soon as it is checked. Without it the page waits for all of them.
"use strict";

{
  const form = document.querySelector("[data-verifies] form");
  const address = document.querySelector("[data-verifies]").dataset.verifies;
  const place = document.querySelector("[data-verified]");

  const line = (words, tone) => {
    const item = document.createElement("p");
    item.textContent = words;
    item.className = tone === undefined ? "under" : `notice ${tone}`;
    if (tone !== undefined) item.setAttribute("role", tone === "bad" ? "alert" : "status");
    place.append(item);
  };

  const show = ({ checked, result, error }) => {
    if (checked) line(`${checked.invariant}: ${checked.rows.toLocaleString("en-US")} rows`);
    else if (result)
      line(
        result.ok ? "Every invariant holds." : `${result.broken.invariant} does not hold: ${result.broken.detail}`,
        result.ok ? "good" : "bad",
      );
    else line(error?.message ?? "The check ended without a result.", "bad");
  };

  const read = async () => {
    const answer = await fetch(address, { headers: { accept: "application/x-ndjson" } });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value = "" } = await reader.read();
      const lines = (rest + value).split("\n");
      rest = done ? "" : lines.pop();
      for (const text of lines) if (text.trim() !== "") show(JSON.parse(text));
      if (done) return;
    }
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    place.replaceChildren();
    place.setAttribute("aria-busy", "true");
    read()
      .catch(() => line("The connection was lost: verify again.", "bad"))
      .finally(() => {
        button.disabled = false;
        place.removeAttribute("aria-busy");
      });
  });
}
