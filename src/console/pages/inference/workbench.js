// Runs in the browser, in the Workbench: sends the conversation to one model or two and shows the answers as they arrive.
"use strict";

{
  const bench = document.querySelector("[data-workbench]");
  const find = (name, root = bench) => root.querySelector(`[data-${name}]`);
  const [run, stop, messages, second] = ["run", "stop", "messages", "second"].map((name) => find(name));
  const panes = [...bench.querySelectorAll("[data-pane]")];
  const [firstModel, secondModel] = panes.map((pane) => find("model", pane));
  /** Aborts the answers that are arriving; null: none are. */
  let running = null;
  /** The last answer of each pane. */
  const answers = new Map();

  const element = (name, ...contents) => {
    const made = document.createElement(name);
    made.append(...contents);
    return made;
  };

  const number = () => {
    for (const [index, turn] of [...messages.children].entries()) {
      const labels = { textarea: "Message", select: "Author of message", "[data-remove]": "Remove message" };
      for (const [name, label] of Object.entries(labels))
        turn.querySelector(name).setAttribute("aria-label", `${label} ${index + 1}`);
      find("remove", turn).disabled = messages.children.length === 1;
    }
  };

  const add = (role, content) => {
    const turn = find("turn").content.firstElementChild.cloneNode(true);
    turn.querySelector("select").value = role;
    turn.querySelector("textarea").value = content;
    messages.append(turn);
    number();
    return turn.querySelector("textarea");
  };

  const requestOf = (pane) => {
    const valueOf = (turn, name) => turn.querySelector(name).value;
    const turns = [...messages.children].map((turn) => ({ role: valueOf(turn, "select"), content: valueOf(turn, "textarea") }));
    const written = [{ role: "system", content: find("system").value }, ...turns].filter(({ content }) => content.trim() !== "");
    const settings = ["temperature", "max_tokens"].filter((name) => find(name).value !== "");
    return {
      model: find("model", pane).value,
      messages: written,
      ...Object.fromEntries(settings.map((name) => [name, Number(find(name).value)])),
    };
  };

  const clear = (pane) => {
    for (const name of ["text", "said", "facts"]) find(name, pane).replaceChildren();
    for (const name of ["error", "facts", "after"]) find(name, pane).hidden = true;
  };

  const tell = (pane, words) => (find("state", pane).textContent = words);

  const fail = (pane, { message, code }) => {
    find("error", pane).textContent = code ? `${message} (${code})` : message;
    find("error", pane).hidden = false;
  };

  /** A screen reader gets whole sentences, not single words. */
  const speaker = (pane) => {
    let waiting = "";
    const say = (words) => words.trim() !== "" && find("said", pane).append(element("p", words.trim()));
    return {
      add(text) {
        waiting += text;
        const ends = [...waiting.matchAll(/[.!?…:]\s|\n|[。！？]/g)].map(({ index, 0: mark }) => index + mark.length);
        const end = ends.at(-1) ?? 0;
        say(waiting.slice(0, end));
        waiting = waiting.slice(end);
      },
      end: () => say(waiting),
    };
  };

  const time = (ms) => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);

  const show = (pane, { id, cost, tokens, firstMs, totalMs }) => {
    const link = element("a", "See the request");
    link.href = bench.dataset.requests + id;
    const facts = {
      Cost: cost && `$${cost.replace(/(\.\d\d\d*?)0+$/, "$1")}`,
      Tokens: tokens && `${tokens[0]} in, ${tokens[1]} out`,
      "First token": firstMs === null ? null : time(firstMs),
      "Total time": time(totalMs),
      Request: link,
    };
    const rows = Object.entries(facts).filter(([, value]) => value);
    find("facts", pane).replaceChildren(
      ...rows.map(([name, value]) => element("div", element("dt", name), element("dd", value))),
    );
    find("facts", pane).hidden = false;
  };

  /** Shows the cost of a stopped answer: the log has it shortly after the gateway has noticed. */
  const showStopped = async (pane, answer) => {
    for (let attempt = 0; attempt < 10 && answers.get(pane) === answer; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      const response = await fetch(bench.dataset.log).catch(() => null);
      const { data = [] } = response?.ok ? await response.json() : {};
      const row = data.find(({ generation_id }) => generation_id === answer.id);
      if (row === undefined || answers.get(pane) !== answer) continue;
      return show(pane, { ...answer, cost: row.cost_usd, tokens: [row.prompt_tokens, row.completion_tokens] });
    }
  };

  /** The events of a stream, as they arrive. */
  async function* eventsOf(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value = "" } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line.startsWith("data: {")) yield JSON.parse(line.slice("data: ".length));
    }
  }

  const follow = async (pane, answer, body) => {
    const speak = speaker(pane);
    for await (const { error, usage, choices = [] } of eventsOf(body)) {
      if (error) fail(pane, error);
      if (usage) {
        answer.tokens = [usage.prompt_tokens, usage.completion_tokens];
        answer.cost = usage.cost_details?.cost_usd;
      }
      const { content, refusal } = choices[0]?.delta ?? {};
      const text = (content ?? "") + (refusal ?? "");
      if (text === "") continue;
      answer.firstMs ??= performance.now() - answer.startedAt;
      find("text", pane).append(text);
      speak.add(text);
    }
    speak.end();
  };

  const ask = async (pane, signal) => {
    const answer = { startedAt: performance.now(), firstMs: null, id: null };
    answers.set(pane, answer);
    clear(pane);
    tell(pane, "Waiting for the first text …");
    const body = JSON.stringify({ ...requestOf(pane), stream: true, stream_options: { include_usage: true } });
    try {
      const headers = { "content-type": "application/json" };
      const response = await fetch(bench.dataset.endpoint, { method: "POST", headers, body, signal });
      answer.id = response.headers.get("x-generation-id");
      if (response.ok) {
        tell(pane, "Answering …");
        await follow(pane, answer, response.body);
      } else {
        const { error } = await response.json().catch(() => ({}));
        fail(pane, error ?? { message: `The service answered with status ${response.status}` });
      }
    } catch {
      if (!signal.aborted) fail(pane, { message: "The connection was lost" });
    }
    answer.totalMs = performance.now() - answer.startedAt;
    tell(pane, signal.aborted ? "Stopped" : find("error", pane).hidden ? "Done" : "Failed");
    find("after", pane).hidden = find("text", pane).textContent === "";
    if (answer.id) show(pane, answer);
    if (answer.id && signal.aborted) void showStopped(pane, answer);
  };

  const end = () => {
    const hadFocus = document.activeElement === stop;
    running = null;
    run.disabled = false;
    stop.hidden = true;
    if (hadFocus) run.focus();
  };

  const start = async () => {
    if (run.disabled) return;
    if (![...messages.querySelectorAll("textarea")].some(({ value }) => value.trim() !== "")) {
      messages.querySelector("textarea").focus();
      return tell(panes[0], "Write a message first");
    }
    const own = (running = new AbortController());
    stop.hidden = false;
    if (document.activeElement === run) stop.focus();
    run.disabled = true;
    await Promise.all(panes.filter((pane) => !pane.hidden).map((pane) => ask(pane, own.signal)));
    if (running === own) end();
  };

  const halt = () => {
    if (!running) return;
    running.abort();
    end();
  };

  const write = () => {
    const request = requestOf(panes[0]);
    for (const [index, { dataset }] of document.querySelectorAll("[data-template]").entries())
      document.getElementById(`bench-sample-${index}`).textContent = programOf(dataset, request);
  };

  const compare = () => {
    panes[1].hidden = !second.checked;
    if (panes[1].hidden) clear(panes[1]);
  };

  run.addEventListener("click", start);
  stop.addEventListener("click", halt);
  second.addEventListener("change", compare);
  find("add").addEventListener("click", () => add("user", "").focus());
  bench.addEventListener("input", write);
  bench.addEventListener("keydown", (event) => {
    if (event.key === "Escape") halt();
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void start();
  });
  bench.addEventListener("click", ({ target }) => {
    if (target.closest("[data-remove]")) {
      target.closest("li").remove();
      number();
      messages.lastElementChild.querySelector("textarea").focus();
    }
    if (target.closest("[data-continue]")) {
      add("assistant", find("text", target.closest("[data-pane]")).textContent);
      add("user", "").focus();
    }
    write();
  });

  secondModel.append(...[...firstModel.children].map((choice) => choice.cloneNode(true)));
  const { wanted } = secondModel.dataset;
  second.checked = wanted !== "" && [...secondModel.options].some(({ value }) => value === wanted);
  if (second.checked) secondModel.value = wanted;
  compare();
  number();
  write();
  if (!("off" in bench.dataset)) run.disabled = false;
}
