// Runs in the browser, in the Workbench: joins the form of the request, the two answers, what this browser keeps, and the request as code. It
// runs and stops, and loses nothing silently: a run goes into the history, and what was typed stays with the tab. The browser asks before it
// closes a tab whose text is nowhere else, or leaves while an answer is arriving.
"use strict";

{
  const { AnswerPane, FieldProblem, Kept, ModelPicker, RequestForm, comparisonOf, leftOut, messageOf, programOf } =
    globalThis.workbench;
  const root = document.querySelector("[data-workbench]");
  const page = (name) => document.querySelector(`[data-${name}]`);
  const find = (name) => root.querySelector(`[data-${name}]`);
  const [run, second] = [find("run"), find("second")];
  const form = new RequestForm(root);
  const kept = new Kept({ workspace: root.dataset.workspace, person: root.dataset.person });
  const panes = [...root.querySelectorAll("[data-pane]")].map((pane) => new AnswerPane(pane, root.dataset));
  const dialogs = Object.fromEntries(
    ["history", "presets", "code"].map((name) => [name, document.getElementById(`bench-${name}`)]),
  );
  /** Aborts the answers that are arriving, null: none are; and the last one of these. */
  let running = null;
  let latest = null;
  /** The state of the form that is kept somewhere. */
  let baseline = JSON.stringify(form.state);

  const element = (name, attributes, ...contents) => {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...contents);
    return made;
  };

  // Models

  const [firstModel, secondModel] = panes.map((pane) => pane.find("model"));
  secondModel.append(...[...firstModel.children].map((choice) => choice.cloneNode(true)));
  const pickers = [firstModel, secondModel].map((select) => new ModelPicker(select));
  const shownPanes = () => panes.filter((pane) => !pane.root.hidden);
  const models = () => shownPanes().map((pane) => pane.model);

  /** Models that the workspace does not have any more leave the choice as it is. */
  const chooseModels = (wanted) => {
    for (const [index, id] of wanted.entries()) {
      const { select } = pickers[index];
      if ([...select.options].some(({ value }) => value === id)) select.value = id;
      pickers[index].show();
    }
    second.checked = wanted.length > 1;
    compare();
  };

  const compare = () => {
    panes[1].root.hidden = !second.checked;
    if (!second.checked) panes[1].clear();
    find("comparison").textContent = "";
  };

  // The run

  const start = async () => {
    if (running !== null || "off" in root.dataset) return;
    const requests = readRequests();
    if (requests === null) return;
    const own = (latest = running = new AbortController());
    const state = form.state;
    showRunning();
    find("comparison").textContent = "";
    const chosen = models();
    const answers = await Promise.all(shownPanes().map((pane, index) => pane.run(requests[index], own.signal)));
    keepRun({ models: chosen, form: state, answers });
    if (latest === own) showComparison(answers);
    if (running === own) showEnded();
  };

  const showComparison = (answers) => (find("comparison").textContent = (answers.length > 1 && comparisonOf(...answers)) || "");

  /** null: the form has a problem, which it then shows. */
  const readRequests = () => {
    form.showProblem(null);
    try {
      if (!form.hasMessage) throw new FieldProblem(form.turns[0].content, "Write a message first.");
      return shownPanes().map((pane) => form.request(pane.model));
    } catch (problem) {
      if (!(problem instanceof FieldProblem)) throw problem;
      form.showProblem(problem);
      return null;
    }
  };

  const showRunning = () => {
    run.textContent = "Stop";
    run.classList.add("quiet");
    run.setAttribute("aria-keyshortcuts", "Escape");
  };

  const showEnded = () => {
    running = null;
    run.textContent = "Run";
    run.classList.remove("quiet");
    run.setAttribute("aria-keyshortcuts", "Control+Enter");
  };

  const stop = () => {
    running?.abort();
    if (running !== null) showEnded();
  };

  const keepRun = (made) => {
    const isKept = kept.addRun({ at: new Date().toISOString(), ...made });
    if (isKept) baseline = JSON.stringify(made.form);
    page("not-kept").hidden = isKept || !kept.keepsRuns;
    if (dialogs.history.open) listRuns();
  };

  // What was typed

  const isDirty = () => JSON.stringify(form.state) !== baseline;

  const mayReplace = () => !isDirty() || confirm("Replace what you typed? It was not run, so it is in no history.");

  /** @param shown a run, a preset, or a draft */
  const show = ({ form: state, models: chosen = [], answers = [] }) => {
    stop();
    form.restore(state);
    chooseModels(chosen);
    for (const [index, pane] of panes.entries()) {
      if (answers[index] === undefined) pane.clear();
      else pane.restore(answers[index]);
    }
    showComparison(answers);
    refresh();
  };

  const keepDraft = () => {
    const whole = { form: form.state, models: models(), isDirty: isDirty() };
    const answers = shownPanes().flatMap(({ data, isRunning }) => (data === null || isRunning ? [] : [data]));
    return kept.keepDraft({ ...whole, answers }) || kept.keepDraft(whole);
  };

  /** Whether a link of the service was followed, so that the tab keeps its draft. */
  let staysHere = false;
  const noteLeaving = (isHere) => {
    staysHere = isHere;
    setTimeout(() => (staysHere = false), 1_000);
  };
  addEventListener("beforeunload", (event) => {
    const isKept = keepDraft();
    if (running !== null || (isDirty() && !(isKept && staysHere))) event.preventDefault();
  });
  addEventListener("pagehide", keepDraft);
  document.addEventListener("submit", () => noteLeaving(true));
  document.addEventListener("click", ({ target }) => {
    const link = target instanceof Element ? target.closest("a[href]") : null;
    if (link !== null) noteLeaving(link.origin === location.origin && link.target === "");
  });

  // History and presets

  const firstWords = ({ turns }) =>
    (turns.findLast(({ role }) => role === "user") ?? turns[0])?.content.trim().slice(0, 120) || "No text";

  const timeOf = (at) => {
    const time = new Date(at);
    return Number.isNaN(time.getTime()) ? "" : time.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  };

  const openRun = (shown) => {
    if (!mayReplace()) return;
    show(shown);
    baseline = JSON.stringify(form.state);
    dialogs.history.close();
  };

  const listRuns = () => {
    const rows = kept.runs.map((shown) => {
      const costs = shown.answers.map(({ cost }) => Number(cost ?? 0));
      const sum = costs
        .reduce((all, cost) => all + cost, 0)
        .toFixed(9)
        .replace(/0{1,7}$/, "");
      const facts = [timeOf(shown.at), shown.models.join(" and "), shown.answers.length === 0 ? "not run" : `$${sum}`];
      const words = element("bdi", { className: "kept-words" }, firstWords(shown.form));
      const button = element(
        "button",
        { type: "button", className: "quiet kept" },
        words,
        element("span", { className: "under" }, facts.join(" · ")),
      );
      button.addEventListener("click", () => openRun(shown));
      return element("li", {}, button);
    });
    page("runs").replaceChildren(...rows);
    page("no-runs").hidden = rows.length > 0;
    page("clear-runs").hidden = rows.length === 0;
    page("keeps").checked = kept.keepsRuns;
  };

  const usePreset = (preset) => {
    if (!mayReplace()) return;
    show(preset);
    baseline = JSON.stringify(form.state);
    dialogs.presets.close();
  };

  const listPresets = () => {
    const rows = kept.presets.map((preset) => {
      const words = element("bdi", { className: "kept-words" }, preset.name);
      const use = element(
        "button",
        { type: "button", className: "quiet kept" },
        words,
        element("span", { className: "under" }, preset.models.join(" and ")),
      );
      const remove = element("button", { type: "button", className: "quiet small", textContent: "Remove" });
      remove.setAttribute("aria-label", `Remove ${preset.name}`);
      use.addEventListener("click", () => usePreset(preset));
      remove.addEventListener("click", () => {
        kept.remove(preset.key);
        listPresets();
        page("preset-name").focus();
      });
      return element("li", {}, use, remove);
    });
    page("presets").replaceChildren(...rows);
    page("no-presets").hidden = rows.length > 0;
  };

  const savePreset = () => {
    const field = page("preset-name");
    const name = field.value.trim();
    const problem = name === "" ? "Enter a name." : kept.addPreset(name, { models: models(), form: form.state });
    page("preset-problem").textContent = problem ?? "";
    if (problem !== null) return field.focus();
    baseline = JSON.stringify(form.state);
    field.value = "";
    listPresets();
  };

  // The same as code

  const templates = [...document.querySelectorAll("[data-template]")].map(({ dataset }) => dataset);
  const program = document.getElementById("bench-program");
  const chosenIn = (name) => dialogs.code.querySelector(`[name="bench-${name}"]:checked`).value;

  const writeCode = () => {
    if (!dialogs.code.open) return;
    page("code-models").hidden = shownPanes().length === 1;
    const [api, language] = [chosenIn("api"), chosenIn("language")];
    const streams = chosenIn("how") === "streamed";
    const pane = shownPanes().length > 1 && chosenIn("model") === "second" ? panes[1] : panes[0];
    const template = templates.find((one) => one.api === api && one.language === language && (one.streams === "yes") === streams);
    const note = page("code-note");
    try {
      const request = form.request(pane.model);
      program.textContent = programOf(template, request, { streams });
      const names = leftOut(api, request);
      note.textContent = names.length === 0 ? "" : `Left out, since this API does not have it: ${names.join(", ")}.`;
    } catch (problem) {
      if (!(problem instanceof FieldProblem)) throw problem;
      program.textContent = "";
      note.textContent = `${problem.message}.`;
    }
  };

  // Events

  const refresh = () => {
    form.describeFolds();
    form.noteUnsupported(
      shownPanes().flatMap((pane) => {
        const [option] = pane.find("model").selectedOptions;
        const { takes, fixed = "" } = option?.dataset ?? {};
        return takes === undefined ? [] : [{ id: option.value, takes: takes.split(" "), fixed: fixed.split(" ") }];
      }),
    );
    writeCode();
  };

  const goOn = (pane) => {
    form.addMessage(messageOf({ ...pane.data, thoughts: "" }));
    for (const { id } of pane.data.calls) form.addMessage({ role: "tool", tool_call_id: id, content: "" });
    if (pane.data.calls.length === 0) form.add("user", "");
    form.turns.at(-1).content.focus();
  };

  const clicks = {
    run: () => (running === null ? start() : stop()),
    add: () => form.add("user", "").focus(),
    remove: ({ target }) => form.remove(target.closest("li")),
    continue: ({ target }) => goOn(panes.find((pane) => pane.root.contains(target))),
    new() {
      if (!mayReplace()) return;
      show({ form: {}, models: models() });
      baseline = JSON.stringify(form.state);
      form.turns[0].content.focus();
    },
    "clear-runs"() {
      if (!confirm("Remove all runs of this workspace from this browser?")) return;
      kept.clearRuns();
      listRuns();
    },
    "save-preset": savePreset,
  };

  document.querySelector("main").addEventListener("click", (event) => {
    for (const [name, act] of Object.entries(clicks)) {
      if (!event.target.closest(`[data-${name}]`)) continue;
      act(event);
      refresh();
    }
  });
  root.addEventListener("input", ({ target }) => {
    if (target === second) compare();
    if (target.dataset.parameter === "tools") form.offerTools();
    refresh();
  });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") stop();
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void start();
  });
  page("preset-name").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    savePreset();
  });
  page("keeps").addEventListener("change", ({ target }) => (kept.keepsRuns = target.checked));
  dialogs.code.addEventListener("input", writeCode);
  const opened = { "bench-history": listRuns, "bench-presets": listPresets, "bench-code": writeCode };
  for (const opener of document.querySelectorAll("[data-tools] [data-opens]"))
    opener.addEventListener("click", opened[opener.dataset.opens]);
  // Another tab has kept something.
  addEventListener("storage", () => {
    if (dialogs.history.open) listRuns();
    if (dialogs.presets.open) listPresets();
  });

  // The beginning: a stored request, the draft of this tab, or an empty form

  const given = page("given");
  const draft = kept.draft;

  /** The models that the address names, and that the workspace has. */
  const askedModels = () => {
    const has = (id) => [...firstModel.options].some(({ value }) => value === id);
    const [first, other] = [firstModel, secondModel].map(({ dataset }) => dataset.wanted);
    if (has(other)) return [has(first) ? first : firstModel.value, other];
    return has(first) ? [first] : [];
  };

  /** What was typed before and never run goes into the history. */
  const mayForget = ({ models: chosen, form: state }) =>
    kept.addRun({ at: new Date().toISOString(), models: chosen, form: state, answers: [] }) ||
    confirm("Replace what you typed here before? It was not run, so it is in no history.");

  const begin = () => {
    const takesGiven = given !== null && (draft?.isDirty !== true || mayForget(draft));
    if (takesGiven) form.begin(JSON.parse(given.dataset.given));
    else if (draft !== null) show(draft);
    if (takesGiven || draft?.isDirty !== true) baseline = JSON.stringify(form.state);
    const asked = askedModels();
    if (asked.length > 0) chooseModels(asked);
    else if (draft === null || takesGiven) chooseModels([firstModel.value]);
    // The stored request was sent by a form: to load the page again must not read it again.
    if (given !== null) history.replaceState(null, "", location.pathname);
  };

  begin();
  refresh();
  page("tools").hidden = false;
  if (!("off" in root.dataset)) run.disabled = false;
}
