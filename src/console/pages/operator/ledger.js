// Shows the result of each check in its row as soon as it is there, and the verdict above. Without it the page waits for all of them.
"use strict";

{
  const form = document.querySelector("[data-verifies] form");
  const address = document.querySelector("[data-verifies]").dataset.verifies;
  const place = document.querySelector("[data-verified]");
  const verdict = document.querySelector("[data-verdict]");

  /** By the names of the checks. */
  const rows = new Map(
    [...place.querySelectorAll("tbody tr")].map((row) => [row.querySelector("code").textContent, [...row.children]]),
  );

  const mark = (name, { tone, word, count = "–" }) => {
    const [, result, rowCount] = rows.get(name) ?? [];
    if (!result) return;
    const badge = document.createElement("span");
    badge.className = `badge ${tone}`;
    badge.textContent = word;
    result.firstElementChild.replaceChildren(badge);
    rowCount.firstElementChild.textContent = count;
  };

  const say = (words, tone) => {
    const line = document.createElement("p");
    line.textContent = words;
    line.className = `notice ${tone}`;
    line.setAttribute("role", tone === "bad" ? "alert" : "status");
    verdict.replaceChildren(line);
  };

  const show = ({ checked, result, error }) => {
    if (checked) {
      mark(checked.invariant, { tone: "good", word: "passed", count: checked.rows.toLocaleString("en-US") });
    } else if (result?.ok) say("The ledger is correct: all checks passed.", "good");
    else if (result) {
      const { invariant, detail } = result.broken;
      const words = rows.get(invariant)?.[0].textContent.trim() ?? invariant;
      mark(invariant, { tone: "bad", word: "broken" });
      say(`The ledger is not correct. ${words}: this does not hold. ${detail}`, "bad");
    } else say(error?.message ?? "The check ended without a result.", "bad");
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
    for (const name of rows.keys()) mark(name, { tone: "neutral", word: "waiting" });
    say("Checking…", "neutral");
    place.setAttribute("aria-busy", "true");
    read()
      .catch(() => say("The connection was lost: verify again.", "bad"))
      .finally(() => {
        button.disabled = false;
        place.removeAttribute("aria-busy");
      });
  });
}
