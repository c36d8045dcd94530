// Runs in the browser: shows the page of a row beside its list, in a drawer. The address is that of the page, so that it can be copied and
// loaded again, and Back closes the drawer. J and K go down and up the rows, Escape closes, and the focus returns to the row. On narrow
// screens, for readers who switched it off, and without the script, the row's link leads to the page.
"use strict";

{
  const wide = matchMedia("(min-width: 60rem)");
  const isWanted = () => wide.matches && weir.setting("drawer") !== "off";
  const main = document.querySelector("main");
  const listPath = location.pathname;
  const listTitle = document.title;
  const menuPaths = new Set([...document.querySelectorAll(".links a")].map(({ pathname }) => pathname));
  const loaded = new Set([...document.scripts].map(({ src }) => src));
  /** What is open: its address, its element, and what ends its loading; null: nothing is. */
  let open = null;

  // The rows and their links.

  /** The link to the page of a row; null: it has none that fits in the drawer. */
  const linkOf = (row) => {
    const link = row.querySelector("th[scope=row] a[href]");
    if (!link || link.matches("[data-opens]") || link.origin !== location.origin || link.search + link.hash !== "") return null;
    return link.pathname.startsWith("/console/") && !menuPaths.has(link.pathname) ? link : null;
  };

  const linksIn = (root) =>
    [...root.querySelectorAll("table.rows tbody tr")].map(linkOf).filter((link) => link?.checkVisibility());

  const openLink = () => linksIn(main).find(({ href }) => href === open?.address) ?? null;

  const mark = () => {
    for (const row of main.querySelectorAll("[data-shown-open]")) row.removeAttribute("data-shown-open");
    openLink()?.closest("tr").setAttribute("data-shown-open", "");
  };

  /** The next or the previous row of the list; null: the end. */
  const neighbour = (step) => {
    const link = openLink();
    const links = link === null ? linksIn(main) : linksIn(link.closest("tbody"));
    return link === null ? (links[0] ?? null) : (links[links.indexOf(link) + step] ?? null);
  };

  // The drawer.

  const build = () => {
    const page = weir.make("a", { class: "button quiet small" }, "Open the page");
    const button = (label, words, act) => {
      const made = weir.make("button", { type: "button", class: "quiet small", "aria-label": words, title: words }, label);
      made.addEventListener("click", act);
      return made;
    };
    const walk = weir.make(
      "span",
      {},
      button("↑", "The previous row (K)", () => step(-1)),
      button("↓", "The next row (J)", () => step(1)),
    );
    const bar = weir.make("div", { class: "drawer-bar" }, page, walk, button("✕", "Close (Escape)", close));
    const body = weir.make("div", { class: "drawer-body" });
    const element = weir.make("div", { class: "drawer", role: "dialog", tabindex: "-1", "aria-label": "Details" }, bar, body);
    document.body.append(element);
    return { element, page, body };
  };

  const tell = (words, link = null) => {
    const way = link === null ? [] : [" ", weir.make("a", { href: link.href }, link.words)];
    open.body.replaceChildren(weir.make("p", { class: "notice warn", role: "alert" }, words, ...way));
    open.body.removeAttribute("aria-busy");
  };

  /** References to patterns, as in `fill="url(#id)"`. */
  const repainted = (value, renamed) => {
    const [first, ...others] = value.split("url(#");
    const ends = others.map((part) => {
      const end = part.indexOf(")");
      return `${renamed(part.slice(0, end))}${part.slice(end)}`;
    });
    return [first, ...ends].join("url(#");
  };

  /** Ids of the list and of the drawer may be the same, so the latter get a beginning of their own. */
  const separate = (root) => {
    const owned = new Set([...root.querySelectorAll("[id]")].map(({ id }) => id));
    const renamed = (id) => (owned.has(id) ? `drawer-${id}` : id);
    const lists = ["for", "headers", "aria-labelledby", "aria-describedby", "aria-controls", "data-opens", "data-copies"];
    for (const one of root.querySelectorAll("*"))
      for (const { name, value } of one.attributes) {
        if (name === "id") one.id = renamed(value);
        else if (lists.includes(name)) one.setAttribute(name, value.split(" ").map(renamed).join(" "));
        else if (name === "href" && value.startsWith("#")) one.setAttribute(name, `#${renamed(value.slice(1))}`);
        else if (value.includes("url(#")) one.setAttribute(name, repainted(value, renamed));
      }
  };

  /** A page has one heading of the first level: the list's. */
  const lower = (heading) => {
    const lowered = weir.make("h2", { class: "title", id: "drawer-title" });
    lowered.append(...heading.childNodes);
    heading.replaceWith(lowered);
  };

  const fill = (page) => {
    const shown = document.adoptNode(page.querySelector("main"));
    for (const one of shown.querySelectorAll(":scope > .trail, :scope > .zone, [data-live], [data-refresh]")) one.remove();
    separate(shown);
    const heading = shown.querySelector("h1");
    if (heading !== null) lower(heading);
    const content = weir.make("div");
    content.append(...shown.childNodes);
    weir.enhance(content);
    open.body.replaceChildren(content);
    open.body.removeAttribute("aria-busy");
    open.body.scrollTop = 0;
    // What had the focus may have been in the page before.
    if (document.activeElement === document.body) open.element.focus();
    open.element.removeAttribute("aria-label");
    open.element.setAttribute("aria-labelledby", "drawer-title");
    document.title = page.title;
  };

  /** A page with scripts of its own is shown as itself. */
  const needsScripts = (page) => [...page.querySelectorAll("head script[src]")].some(({ src }) => !loaded.has(src));

  const load = async (address) => {
    open.loading?.abort();
    const loading = new AbortController();
    open.loading = loading;
    open.body.setAttribute("aria-busy", "true");
    const answer = await weir.readPage(address, { signal: loading.signal }).catch(() => null);
    if (open?.loading !== loading) return;
    if (answer === null) tell("The service does not answer.", { href: address, words: "Open the page" });
    else if (answer.isSignedOut) tell("Your session has ended.", { href: weir.signInAddress(), words: "Sign in" });
    else if (!answer.page?.querySelector("main")) tell("This cannot be shown here.", { href: address, words: "Open the page" });
    else if (needsScripts(answer.page)) location.replace(address);
    else fill(answer.page);
  };

  const show = (address) => {
    const isNew = open === null;
    open ??= { ...build(), loading: null, address };
    open.address = address;
    open.page.href = address;
    mark();
    if (isNew) open.element.focus();
    void load(address);
  };

  const hide = () => {
    if (open === null) return;
    const link = openLink();
    open.loading?.abort();
    open.element.remove();
    open = null;
    mark();
    document.title = listTitle;
    (link ?? main).focus();
  };

  // The address: one entry of the history for the drawer, whatever row it shows.

  const openRow = (link) => {
    if (open !== null && !weir.mayDiscard(open.body)) return;
    const state = { drawerOf: listPath };
    if (open === null) history.pushState(state, "", link.href);
    else history.replaceState(state, "", link.href);
    link.scrollIntoView({ block: "nearest" });
    show(link.href);
  };

  const step = (by) => {
    const link = neighbour(by);
    if (link !== null) openRow(link);
  };

  /** Back removes the entry, and then the drawer. */
  const close = () => {
    if (open !== null && weir.mayDiscard(open.body)) history.back();
  };

  addEventListener("popstate", ({ state }) => {
    const { pathname } = location;
    // A link to a place within the page keeps the drawer.
    if (open !== null && pathname === new URL(open.address).pathname) return;
    if (state?.drawerOf === listPath) show(location.href);
    else if (pathname === listPath) hide();
    // A page of a drawer that was loaded again is not its list.
    else location.reload();
  });

  main.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const row = event.target.closest("table.rows tbody tr");
    const link = row === null ? null : linkOf(row);
    const control = event.target.closest("a, button, input, select, textarea, label, summary");
    // Whoever selects a text does not want another page.
    if (!isWanted() || link === null || (control !== null && control !== link) || !getSelection().isCollapsed) return;
    event.preventDefault();
    if (open?.address !== link.href) openRow(link);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && open !== null && !event.defaultPrevented && document.querySelector("dialog[open]") === null) {
      event.preventDefault();
      close();
      return;
    }
    const by = event.defaultPrevented ? undefined : { j: 1, k: -1 }[weir.actKey(event)?.toLowerCase()];
    if (by === undefined) return;
    if (open !== null) return step(by);
    const links = linksIn(main);
    const at = links.findIndex((link) => link.closest("tr").contains(document.activeElement));
    const next = links[at === -1 ? 0 : Math.max(0, at + by)];
    next?.focus();
    return undefined;
  });

  /** The style shows which rows open. */
  const offer = () => {
    if (isWanted()) for (const link of linksIn(main)) link.closest("tr").setAttribute("data-shown-opens", "");
    mark();
  };
  // What is visible is known in a frame: to ask before it delays the first paint.
  requestAnimationFrame(offer);
  document.addEventListener("weir:refreshed", offer);
}
