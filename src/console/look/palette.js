// Runs in the browser: the palette by Ctrl or Cmd K over pages, things and acts, and the keys that lead to them. What it finds beyond the
// menu comes from the page Search, which also works without it. A pasted key is a secret: no more than its last four characters are sent.
"use strict";

{
  const isMac = /Mac|iP(?:hone|ad)/.test(navigator.platform);
  const modifier = isMac ? "⌘" : "Ctrl";
  const finder = document.querySelector("[data-palette]");
  const askMs = 120;
  /** As search-page.ts knows a whole key. */
  const isWholeKey = (text) => {
    const kind = text.search(/-(?:api|tools)-/);
    return kind > 0 && text.length - kind > 24 && !/[^\w-]/.test(text);
  };

  const menu = () =>
    [...document.querySelectorAll(".links a")].map((link) => ({
      words: link.textContent.trim(),
      href: link.href,
      letter: link.dataset.go,
    }));

  const post = (action) => {
    const form = weir.make("form", { method: "post", action });
    document.body.append(form);
    form.submit();
  };

  /** What can be done wherever the reader is. */
  const acts = () => [
    ...["System", "Light", "Dark"].map((theme) => ({
      words: `Theme: ${theme.toLowerCase()}`,
      run: () => post(`/console/theme?to=${theme.toLowerCase()}`),
    })),
    { words: "Keyboard shortcuts", note: "?", run: () => showKeys() },
    { words: "Your account", href: "/console/account" },
    ...[...document.querySelectorAll(".switcher option:not([value=''])")].map(({ value, textContent }) => ({
      words: `Workspace: ${textContent}`,
      href: `/console/switch?workspace=${encodeURIComponent(value)}`,
    })),
    { words: "Sign out", run: () => post("/console/sign-out") },
  ];

  // The dialog: a field with a list of options, as the pattern "combobox" has it.

  const field = weir.make("input", {
    type: "text",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
    "aria-label": "Search, or go to a page",
    placeholder: "Search, paste an id, or go to a page",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: "200",
  });
  const list = weir.make("ul", { id: "palette-list", role: "listbox", "aria-label": "Results" });
  const state = weir.make("p", { class: "hint", role: "status" });
  const hint = weir.make("p", { class: "hint" }, `↑ ↓ to choose, Enter to open, ${modifier} Enter for a new tab`);
  const palette = weir.make("dialog", { class: "palette", "aria-label": "Search" }, field, list, state, hint);
  /** What the list shows, in its order. */
  let options = [];
  let chosen = 0;
  let timer = null;
  let asking = null;
  /** Whether Enter was pressed before the answer was there. */
  let goes = false;

  const choose = (index) => {
    chosen = options.length === 0 ? 0 : (index + options.length) % options.length;
    for (const [at, { element }] of options.entries()) element.setAttribute("aria-selected", String(at === chosen));
    const current = options[chosen]?.element;
    if (current === undefined) field.removeAttribute("aria-activedescendant");
    else {
      field.setAttribute("aria-activedescendant", current.id);
      current.scrollIntoView({ block: "nearest" });
    }
  };

  const run = ({ href, run: act }, inNewTab) => {
    if (href !== undefined && inNewTab) return void open(href, "_blank", "noopener");
    palette.close();
    if (href === undefined) act();
    else location.assign(href);
    return undefined;
  };

  const optionOf = (item, index) => {
    const note = item.note ? [weir.make("small", {}, item.note)] : [];
    const words = weir.make("bdi", {}, item.words);
    const element = weir.make("li", { id: `palette-${index}`, role: "option", "aria-selected": "false" }, words, ...note);
    element.addEventListener("click", (event) => run(item, event.ctrlKey || event.metaKey));
    return { ...item, element };
  };

  /** @param groups their titles with their items */
  const showGroups = (groups) => {
    const kept = chosen === 0 ? undefined : options[chosen];
    options = [];
    const filled = groups.filter(([, items]) => items.length > 0);
    const elements = filled.map(([title, items], at) => {
      const own = items.map((item) => {
        const option = optionOf(item, options.length);
        options.push(option);
        return option.element;
      });
      const heading = weir.make("span", { id: `palette-group-${at}`, role: "presentation" }, title);
      const inner = weir.make("ul", { role: "group", "aria-labelledby": `palette-group-${at}` }, ...own);
      return weir.make("li", { role: "presentation" }, heading, inner);
    });
    list.replaceChildren(...elements);
    // What the reader has chosen stays chosen when more is found.
    choose(
      Math.max(
        0,
        options.findIndex(({ words, href }) => words === kept?.words && href === kept?.href),
      ),
    );
  };

  const hasAll = (text, words) => words.every((word) => text.toLowerCase().includes(word));

  const ownGroups = (typed) => {
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    const matching = (items) => items.filter((item) => hasAll(item.words, words));
    const pages = matching(menu()).map(({ letter, ...item }) => ({ ...item, note: letter === undefined ? "" : `g ${letter}` }));
    return { pages, acts: words.length === 0 ? [] : matching(acts()) };
  };

  const itemsOf = (group) =>
    [...group.querySelectorAll("li")].map((item) => ({
      words: item.querySelector("a").textContent,
      note: item.querySelector("small")?.textContent ?? "",
      href: item.querySelector("a").getAttribute("href"),
    }));

  const foundIn = (page) => [...page.querySelectorAll("[data-found]")].map((group) => [group.dataset.found, itemsOf(group)]);

  const combine = (typed, found) => {
    const own = ownGroups(typed);
    const things = found.filter(([title]) => title !== "Actions");
    const offered = found.find(([title]) => title === "Actions")?.[1] ?? [];
    // What is there at once stays first while the search is under way.
    const begins = own.pages.some(({ words }) => words.toLowerCase().startsWith(typed.toLowerCase()));
    const pages = ["Pages", own.pages];
    const all = begins ? [pages, ...things] : [...things, pages];
    showGroups([...all, ["Actions", [...offered, ...own.acts]]]);
    if (options.length === 0) state.textContent = asking === null ? "Nothing found." : "";
  };

  const answered = (typed, answer) => {
    asking = null;
    state.textContent = "";
    const isFound = answer?.page?.querySelector("[data-found], .state") !== null && answer?.status === 200 && !answer.isSignedOut;
    if (isFound) combine(typed, foundIn(answer.page));
    else if (answer?.isSignedOut)
      showGroups([["Your session has ended", [{ words: "Sign in again", href: weir.signInAddress() }]]]);
    else state.textContent = "Search is not available right now. The pages of the menu still are.";
    if (goes && options[chosen] !== undefined) run(options[chosen], false);
    goes = false;
  };

  const ask = async (typed) => {
    asking?.abort();
    const mine = new AbortController();
    asking = mine;
    const q = isWholeKey(typed) ? typed.slice(-4) : typed;
    const answer = await weir
      .readPage(`${finder.pathname}?q=${encodeURIComponent(q)}`, { signal: mine.signal })
      .catch(() => null);
    if (asking === mine) answered(q, answer);
  };

  const type = () => {
    const typed = field.value.trim();
    state.textContent = "";
    chosen = 0;
    clearTimeout(timer);
    goes = false;
    if (finder !== null) {
      asking?.abort();
      asking = new AbortController();
      timer = setTimeout(() => void ask(typed), askMs);
    }
    combine(typed, []);
  };

  const enter = (event) => {
    // A pasted id has no page of the menu: it is worth the wait.
    if (asking !== null && (options.length === 0 || field.value.trim().length > 20)) goes = true;
    else if (options[chosen] !== undefined) run(options[chosen], event.ctrlKey || event.metaKey);
  };

  const openPalette = () => {
    if (document.querySelector("dialog[open]") !== null) return;
    if (!palette.isConnected) document.body.append(palette);
    field.value = "";
    palette.showModal();
    type();
  };

  field.addEventListener("input", type);
  field.addEventListener("keydown", (event) => {
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key === "Enter") enter(event);
    else if (event.key in moves) choose(chosen + moves[event.key]);
    else return;
    event.preventDefault();
  });
  palette.addEventListener("click", (event) => {
    if (event.target === palette) palette.close();
  });
  palette.addEventListener("close", () => {
    clearTimeout(timer);
    asking?.abort();
    asking = null;
  });

  // The keys, and the page that lists them.

  const choice = (name, words) => {
    const id = `choice-${name}`;
    const box = weir.make("input", { type: "checkbox", id });
    box.checked = weir.setting(name) !== "off";
    box.addEventListener("change", () => weir.set(name, box.checked ? "on" : "off"));
    return weir.make("p", {}, box, " ", weir.make("label", { for: id }, words));
  };

  const keyRows = () => {
    const row = (keys, words) => [
      weir.make("dt", {}, ...keys.flatMap((key) => [weir.make("kbd", {}, key), " "])),
      weir.make("dd", {}, words),
    ];
    return [
      ...row([modifier, "K"], "Search, or go to a page"),
      ...row(["/"], "To the first filter of the page"),
      ...row(["J"], "To the next row"),
      ...row(["K"], "To the previous row"),
      ...row(["Esc"], "Close what is open"),
      ...row(["?"], "These shortcuts"),
      ...menu().flatMap(({ letter, words }) => (letter === undefined ? [] : row(["G", letter.toUpperCase()], words))),
    ];
  };

  const showKeys = () => {
    const closing = weir.make("button", { type: "button", class: "quiet small", "aria-label": "Close" }, "✕");
    const dialog = weir.make(
      "dialog",
      { class: "keys", "aria-labelledby": "keys-title" },
      weir.make("div", { class: "dialog-head" }, weir.make("h2", { id: "keys-title" }, "Keyboard shortcuts"), closing),
      choice("keys", "Keys without Ctrl or ⌘"),
      choice("drawer", "Rows open beside their list"),
      weir.make("dl", {}, ...keyRows()),
    );
    closing.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  };

  const focusFilter = () => {
    const form = document.querySelector("main form[role=search]");
    const first =
      form?.querySelector("input[type=text], input[type=search]") ?? form?.querySelector("input:not([type=hidden]), select");
    if (first) first.focus();
    else openPalette();
  };

  /** When g was pressed, in milliseconds of the page: a letter follows within a second and a half. */
  let wentAt = -Infinity;

  const act = (event) => {
    const key = weir.actKey(event);
    if (key === null) return false;
    if (event.timeStamp - wentAt < 1_500) {
      wentAt = -Infinity;
      const page = menu().find(({ letter }) => letter === key.toLowerCase());
      if (page !== undefined) location.assign(page.href);
      return page !== undefined;
    }
    if (key === "g") wentAt = event.timeStamp;
    else if (key === "?") showKeys();
    else if (key === "/") focusFilter();
    else return false;
    return true;
  };

  document.addEventListener("keydown", (event) => {
    const isPalette =
      event.key.toLowerCase() === "k" && (isMac ? event.metaKey : event.ctrlKey) && !event.altKey && !event.shiftKey;
    if (isPalette) {
      event.preventDefault();
      if (palette.open) palette.close();
      else openPalette();
    } else if (act(event)) event.preventDefault();
  });

  if (finder !== null) {
    const keys = finder.querySelector("kbd");
    keys.textContent = isMac ? "⌘K" : "Ctrl K";
    keys.hidden = false;
    finder.setAttribute("aria-keyshortcuts", isMac ? "Meta+K" : "Control+K");
    finder.setAttribute("aria-haspopup", "dialog");
    finder.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      openPalette();
    });
  }
}
