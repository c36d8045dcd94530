// Runs in the browser, on pages that refresh themselves: asks every two seconds whether anything is new, and shows it where it is, so that
// nothing jumps that the reader looks at. It waits while the page is in the background, a dialog is open, or the reader selects or types
// something, and stops with a word when the session has ended or the service does not answer.
"use strict";

{
  const everyMs = 2_000;
  const failuresMax = 3;
  const button = document.querySelector("[data-refresh]");
  const main = document.querySelector("main");
  // A drawer shows the address of another page.
  const address = location.href;
  let tag = button?.dataset.refresh ?? null;
  let isOn = weir.setting("live") !== "off";
  let failures = 0;
  let timer = null;
  let isAsking = false;

  // Shows a later version of the page. Only what differs between two versions of the service is changed, so that what the reader opened and
  // what scripts added stays.

  /** What is shown for each node of the service's last version. */
  const shownOf = new WeakMap();
  let last = null;

  const pair = (served, shown) => {
    shownOf.set(served, shown);
    for (const [index, child] of [...served.childNodes].entries()) pair(child, shown.childNodes[index]);
  };

  /** Forms and dialogs are the reader's, and so is the word about what they did. */
  const isKept = (node) => node.matches?.("form, dialog, [data-said], [data-refresh]") ?? false;

  /** What makes an element the same one at another place; null: its place alone. */
  const keyOf = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return null;
    if (node.id) return `#${node.id}`;
    return node.nodeName === "TR" ? (node.querySelector("th a[href]")?.getAttribute("href") ?? null) : null;
  };

  const isSame = (one, other) =>
    one.nodeType === other.nodeType && one.nodeName === other.nodeName && keyOf(one) === keyOf(other);

  const updateAttributes = (was, fresh, shown) => {
    for (const { name } of was.attributes) if (!fresh.hasAttribute(name)) shown.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (was.getAttribute(name) !== value) shown.setAttribute(name, value);
  };

  const added = (fresh) => {
    const holder = weir.make("div");
    const shown = fresh.cloneNode(true);
    pair(fresh, shown);
    holder.append(shown);
    weir.enhance(holder);
    if (shown.nodeName === "TR") shown.setAttribute("data-shown-new", "");
    return shown;
  };

  const updateChildren = (was, fresh, parent) => {
    const before = [...was.childNodes];
    const left = new Set(before);
    const pairs = [...fresh.childNodes].map((child) => {
      const known = before.find((one) => left.has(one) && isSame(one, child));
      left.delete(known);
      return { child, known };
    });
    for (const one of left) if (!isKept(one)) shownOf.get(one).remove();
    let place = -1;
    let former = null;
    for (const { child, known } of pairs) {
      const node = known === undefined ? added(child) : shownOf.get(known);
      const index = before.indexOf(known);
      // What stays in its order is not moved, since a move would take the focus from it.
      if (known === undefined || index < place) {
        if (former === null) parent.prepend(node);
        else former.after(node);
      }
      place = Math.max(place, index);
      former = node;
      if (known !== undefined) update(known, child);
    }
  };

  const update = (was, fresh) => {
    const shown = shownOf.get(was);
    shownOf.set(fresh, shown);
    if (fresh.nodeType !== Node.ELEMENT_NODE) {
      if (was.data !== fresh.data) shown.data = fresh.data;
    } else if (!isKept(fresh)) {
      updateAttributes(was, fresh, shown);
      updateChildren(was, fresh, shown);
    }
  };

  /** Whether the reader does something that a change would disturb. */
  const isBusy = () => {
    const selection = getSelection();
    const selects = selection !== null && !selection.isCollapsed && main.contains(selection.anchorNode);
    const { activeElement: focused } = document;
    const types = focused !== null && main.contains(focused) && focused.matches("input, select, textarea");
    return (
      selects || types || main.querySelector("tbody input:checked") !== null || document.querySelector("dialog[open]") !== null
    );
  };

  // The switch, and the word for an end.

  const showState = () => {
    button.hidden = false;
    button.setAttribute("aria-pressed", String(isOn));
    button.title = isOn ? "Refreshes every two seconds. Click to pause" : "Paused. Click to refresh every two seconds";
  };

  const forget = () => main.querySelector("[data-refresh-said]")?.remove();

  /** @param link where to go on; null: the switch begins anew */
  const stop = (words, link = null) => {
    isOn = false;
    showState();
    forget();
    const way = link === null ? [] : [" ", weir.make("a", { href: link.href }, link.words)];
    main.querySelector(".head").after(weir.make("p", { class: "notice warn", "data-refresh-said": "" }, words, ...way));
    weir.say(words);
  };

  const later = (ms = everyMs) => {
    clearTimeout(timer);
    if (isOn) timer = setTimeout(ask, ms);
  };

  const loadAgain = { href: address, words: "Load it again" };

  const show = ({ page, tag: newTag }) => {
    const fresh = page?.querySelector("main");
    const style = (of) => of.querySelector("link[rel=stylesheet]")?.getAttribute("href");
    if (!fresh || newTag === null) return stop("This page no longer refreshes itself.", loadAgain);
    if (style(page) !== style(document)) return stop("This service has been updated.", loadAgain);
    // A change would end what the reader has begun meanwhile. The next answer has it, too.
    if (isBusy()) return undefined;
    document.adoptNode(fresh);
    weir.enhance(fresh);
    update(last, fresh);
    last = fresh;
    tag = newTag;
    document.dispatchEvent(new CustomEvent("weir:refreshed"));
    return undefined;
  };

  const read = (answer) => {
    failures = 0;
    if (answer.isSignedOut) {
      const signIn = { href: weir.signInAddress(), words: "Sign in" };
      stop("Your session has ended, so this page no longer refreshes itself.", signIn);
    } else if (answer.status === 200) show(answer);
    // It has nothing new, or no time now.
    else if (![304, 429, 503].includes(answer.status)) stop("This page can no longer be shown.", loadAgain);
    later(Math.max(everyMs, answer.retryMs));
  };

  const ask = async () => {
    // It asks again once it is seen.
    if (isAsking || !isOn || document.visibilityState === "hidden") return;
    if (isBusy()) return void later();
    isAsking = true;
    try {
      const answer = await weir.readPage(address, { tag });
      // It may have been paused meanwhile.
      if (isOn) read(answer);
    } catch {
      failures++;
      if (failures >= failuresMax) stop("The service does not answer, so this page no longer refreshes itself.");
      later(everyMs * 2 ** failures);
    } finally {
      isAsking = false;
    }
  };

  if (button !== null) {
    last = main.cloneNode(true);
    pair(last, main);
    showState();
    button.addEventListener("click", () => {
      isOn = !isOn;
      failures = 0;
      forget();
      weir.set("live", isOn ? "on" : "off");
      showState();
      if (isOn) void ask();
    });
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") void ask();
    });
    later();
  }
}
