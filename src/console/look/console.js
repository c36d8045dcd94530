// Runs in the browser, on every page of the Console. Each page works without it.
"use strict";

/** What the scripts of the Console share. */
const weir = {};

{
  const live = document.querySelector("[data-live]");
  let sent = false;

  /** Emptied first, so that the same words are read out again. */
  const say = (words) => {
    if (!live) return;
    live.textContent = "";
    setTimeout(() => (live.textContent = words), 50);
  };

  /** To make a format takes longer than to write a hundred times in it. */
  const formats = new Map();

  const written = (at, parts) => {
    const name = Object.keys(parts).join();
    if (!formats.has(name)) formats.set(name, new Intl.DateTimeFormat("en-GB", parts));
    return formats.get(name).format(at);
  };

  const showTimes = (root) => {
    for (const time of root.querySelectorAll("time[data-local]")) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      const seconds = time.dataset.local === "seconds" ? { second: "2-digit" } : {};
      // The year is shown unless it is the current one.
      const year = at.getFullYear() === new Date().getFullYear() ? {} : { year: "numeric" };
      const day = written(at, { day: "numeric", month: "short", ...year });
      const clock = written(at, { hour: "2-digit", minute: "2-digit", ...seconds });
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

  // On a page of several forms, the one that was changed has the button that counts.
  document.addEventListener("input", ({ target }) => {
    const form = target.closest(".indexed form[data-guards]");
    form?.toggleAttribute("data-changed", [...form.elements].some(isChanged));
  });

  /** Whether nothing is lost with what was typed, or the reader does not mind. */
  const mayDiscard = (root) => {
    // What a refused form still holds was typed before.
    const typed = changedIn(root) || root.querySelector("[data-refused]") !== null;
    return !typed || confirm("Close without saving what you typed?");
  };

  const mayClose = (dialog) => {
    if (dialog.dataset.asks === "always") return confirm("This is shown only once. Close it anyway?");
    return dialog.dataset.asks !== "changes" || mayDiscard(dialog);
  };

  const close = (dialog) => {
    if (!mayClose(dialog)) return;
    for (const form of dialog.querySelectorAll("form")) form.reset();
    dialog.close();
  };

  const prepareDialog = (dialog) => {
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
  };

  /** @param root where its dialog is */
  const prepareOpener = (opener, root) => {
    const dialog = root.querySelector(`dialog#${CSS.escape(opener.dataset.opens)}`);
    if (!dialog) return;
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
  };

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

  /** Makes a page, or a part of one that was loaded later, do what it does with a script. */
  const enhance = (root) => {
    showTimes(root);
    const zone = root.querySelector("[data-zone]");
    if (zone) zone.textContent = `Times are in ${Intl.DateTimeFormat().resolvedOptions().timeZone}.`;
    for (const dialog of root.querySelectorAll("dialog")) prepareDialog(dialog);
    for (const opener of root.querySelectorAll("[data-opens]")) prepareOpener(opener, root);
    // Browsers offer it only to pages of a secure origin.
    if (navigator.clipboard) for (const button of root.querySelectorAll("[data-copies]")) button.hidden = false;
  };

  /**
   * Another page as a document, in which no script runs. A session that has ended leads to the sign-in.
   * @param tag of the shown page, to ask whether there is anything new; null: to get it
   */
  const readPage = (address, { tag = null, signal } = {}) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("GET", address);
      request.responseType = "document";
      request.timeout = 20_000;
      if (tag !== null) request.setRequestHeader("if-none-match", tag);
      request.addEventListener("load", () => {
        const { status, responseURL } = request;
        // What is not a page, such as "not modified", would be read as XML, and shown as its error.
        const isPage = (request.getResponseHeader("content-type") ?? "").startsWith("text/html");
        const page = isPage ? request.response : null;
        const retryMs = Number(request.getResponseHeader("retry-after") ?? 0) * 1_000;
        const isSignedOut = new URL(responseURL || address, location.href).pathname === "/console/sign-in";
        resolve({ status, page, tag: request.getResponseHeader("etag"), retryMs, isSignedOut });
      });
      for (const name of ["error", "timeout", "abort"]) request.addEventListener(name, () => reject(new Error(name)));
      signal?.addEventListener("abort", () => request.abort());
      request.send();
    });

  /** An element with texts and elements in it. Attributes that are null are left out. */
  const make = (name, attributes = {}, ...contents) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
    made.append(...contents);
    return made;
  };

  /** Leads to the sign-in, and back to the page. */
  const signInAddress = () => `/console/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`;

  /** What the browser keeps of the reader's choices, if it may. */
  const setting = (name) => {
    try {
      return localStorage.getItem(`weir-${name}`);
    } catch {
      return null;
    }
  };

  const set = (name, value) => {
    try {
      localStorage.setItem(`weir-${name}`, value);
    } catch {
      // The choice then holds for this page alone.
    }
  };

  /**
   * The key of an event that means an act of the page; null: the reader types, a dialog has the keys, or keys of one letter are off.
   */
  const actKey = ({ key, ctrlKey, metaKey, altKey, target }) => {
    const types = target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
    const isOff = setting("keys") === "off" || document.querySelector("dialog[open]") !== null;
    return types || isOff || ctrlKey || metaKey || altKey ? null : key;
  };

  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-copies], [data-closes]") : null;
    if (!button) return;
    if ("copies" in button.dataset) return void copy(button);
    const dialog = button.closest("dialog");
    if (!dialog) return;
    event.preventDefault();
    close(dialog);
  });

  const viewerOf = (root) => root.querySelector(".account a")?.title;

  /** Why a form would be lost if it were sent now, as the parts of a notice; null: it would not. */
  const lossOf = async (form) => {
    const answer = await readPage(location.href).catch(() => null);
    if (answer === null) return ["The service does not answer. What you typed is still here: send it again later."];
    const signIn = make("a", { href: signInAddress(), target: "_blank" }, "Sign in in another tab");
    if (answer.isSignedOut) return ["Your session has ended. ", signIn, ", then send this again: what you typed is still here."];
    // The form was of a session that has ended since, and its person has signed in again. Nobody else sends what this one wrote.
    const token = answer.page?.querySelector("[name=form_token]");
    if (token && viewerOf(answer.page) === viewerOf(document)) form.elements.form_token.value = token.value;
    return null;
  };

  /** Sends what was typed once it is known that its answer will not be the page of a session that has ended. */
  const sendSafely = async (form, button) => {
    const loss = await lossOf(form);
    form.querySelector("[data-unsent]")?.remove();
    delete form.dataset.sent;
    if (loss === null) {
      form.dataset.safe = "";
      return form.requestSubmit(button);
    }
    return form.prepend(make("p", { class: "notice warn", role: "alert", "data-unsent": "" }, ...loss));
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post") return;
    // A second click must not send it twice.
    if ("sent" in form.dataset) return event.preventDefault();
    form.dataset.sent = "";
    // The forms of the sign-in belong to no session, and have no token.
    const isOfSession = "guards" in form.dataset && form.elements.form_token !== undefined;
    const typed = "refused" in form.dataset || [...form.elements].some(isChanged);
    if (isOfSession && typed && !("safe" in form.dataset)) {
      event.preventDefault();
      return void sendSafely(form, event.submitter);
    }
    delete form.dataset.safe;
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

  // In a low window, the current page may be below the end of the menu. A frame lays the page out anyway; before it, the page is laid out
  // once more, which delays the first paint.
  requestAnimationFrame(() => document.querySelector(".links [aria-current]")?.scrollIntoView({ block: "nearest" }));
  enhance(document);
  // The reader first corrects what was refused.
  document.querySelector("[aria-invalid=true]")?.focus();
  const announced = document.querySelector("[data-announced][role=status]");
  if (announced) say(announced.textContent);

  Object.assign(weir, { say, enhance, readPage, make, mayDiscard, signInAddress, setting, set, actKey });
}
