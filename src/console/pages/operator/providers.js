// While models are checked, brings states and counts up to date. Without it the page is loaded again by hand.
"use strict";

{
  const everyMs = 2_000;
  const parts = (root) => new Map([...root.querySelectorAll("[data-fresh]")].map((part) => [part.dataset.fresh, part]));

  /** Resolves with null if there is no such page now, for example because the session has ended. */
  const load = () =>
    new Promise((resolve) => {
      const request = new XMLHttpRequest();
      // The browser parses it, and runs no script of it.
      request.responseType = "document";
      request.open("GET", location.href);
      request.addEventListener("load", () => {
        const isThisPage = request.status === 200 && request.responseURL === location.href;
        resolve(isThisPage ? request.response : null);
      });
      request.addEventListener("error", () => resolve(undefined));
      request.send();
    });

  const show = (page) => {
    const fresh = parts(page);
    for (const [name, part] of parts(document)) {
      const next = fresh.get(name);
      if (next && next.innerHTML !== part.innerHTML) part.replaceChildren(...document.importNode(next, true).childNodes);
    }
  };

  const follow = async () => {
    if (document.querySelector("[data-checking]") === null) return;
    if (!document.hidden) {
      const page = await load();
      if (page === null) return;
      if (page) show(page);
    }
    setTimeout(follow, everyMs);
  };

  document.querySelector("dialog[open] input[type=password]")?.focus();
  setTimeout(follow, everyMs);
}
