// A card at the pointer or the focus with the row of the table behind it, and arrow keys between periods. The table below a chart has all of
// it without this script.
"use strict";

{
  const cardOf = (figure) => {
    const card = document.createElement("div");
    card.className = "chart-card";
    card.hidden = true;
    // The focused period is read out by its own name.
    card.setAttribute("aria-hidden", "true");
    figure.querySelector(".plot").append(card);
    return card;
  };

  /** The colour of a column in the legend. */
  const swatchOf = (figure, label) => {
    for (const entry of figure.querySelectorAll(".legend li"))
      if (entry.textContent === label) return entry.querySelector("svg").cloneNode(true);
    return null;
  };

  const isNothing = (cell) => cell.querySelector(".none") !== null || /^[$]?0([.]0+)?$/.test(cell.textContent.trim());

  const lineOf = (figure, label, cell) => {
    const row = document.createElement("span");
    const name = document.createElement("bdi");
    const amount = document.createElement("b");
    name.textContent = label;
    amount.textContent = cell.textContent.trim();
    const swatch = swatchOf(figure, label);
    row.append(...(swatch ? [swatch] : []), name, amount);
    return row;
  };

  const fill = (card, figure, slot) => {
    const row = figure.querySelectorAll("tbody tr")[Number(slot.dataset.row)];
    if (!row) return false;
    const [first, ...cells] = row.cells;
    const labels = [...figure.querySelectorAll("thead th")].slice(1).map((heading) => heading.textContent);
    const title = document.createElement("strong");
    title.textContent = first.textContent.trim();
    // Of many series, those without a value say nothing.
    const isLeftOut = (cell, label) => cells.length > 3 && label !== "Total" && label !== "Before" && isNothing(cell);
    const shown = cells.flatMap((cell, index) => (isLeftOut(cell, labels[index]) ? [] : [lineOf(figure, labels[index], cell)]));
    card.replaceChildren(title, ...shown);
    if (slot.hasAttribute("href")) {
      const hint = document.createElement("small");
      hint.textContent = "Click: the requests behind it";
      card.append(hint);
    }
    return true;
  };

  /** Beside its period, on the side with more room. */
  const place = (card, slot) => {
    const around = card.offsetParent.getBoundingClientRect();
    const at = slot.getBoundingClientRect();
    const isLeft = at.left + at.width / 2 > around.left + around.width / 2;
    const left = isLeft ? at.left - around.left - card.offsetWidth - 8 : at.right - around.left + 8;
    card.style.left = `${Math.max(0, Math.min(left, around.width - card.offsetWidth))}px`;
  };

  const setUp = (figure) => {
    const card = cardOf(figure);
    const bars = figure.querySelector(".bars");
    const slots = [...bars.querySelectorAll(".slot")];
    const show = (slot) => {
      card.hidden = !fill(card, figure, slot);
      if (!card.hidden) place(card, slot);
    };
    for (const slot of slots) {
      const title = slot.querySelector("title");
      // The browser's own tooltip would cover the card.
      if (slot.hasAttribute("href")) slot.setAttribute("aria-label", title.textContent);
      title.remove();
      slot.addEventListener("pointerenter", () => show(slot));
      slot.addEventListener("focus", () => show(slot));
      slot.addEventListener("blur", () => (card.hidden = true));
    }
    bars.addEventListener("pointerleave", () => (card.hidden = true));

    // One stop for Tab, at the newest period; arrows move between periods.
    const links = slots.filter((slot) => slot.hasAttribute("href"));
    const reach = (link) => {
      for (const other of links) other.setAttribute("tabindex", other === link ? "0" : "-1");
    };
    if (links.length > 0) reach(links.at(-1));
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -links.length, End: links.length };
    bars.addEventListener("keydown", (event) => {
      const from = links.indexOf(document.activeElement);
      const step = steps[event.key];
      if (from < 0 || step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      const next = links[Math.max(0, Math.min(links.length - 1, from + step))];
      reach(next);
      next.focus();
    });
  };

  // A page may replace its chart by a newer one, and a drawer show another page.
  const setUpNew = () => {
    for (const figure of document.querySelectorAll("figure.chart")) if (!figure.querySelector(".chart-card")) setUp(figure);
  };
  setUpNew();
  new MutationObserver(setUpNew).observe(document.body, { childList: true, subtree: true });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const card of document.querySelectorAll(".chart-card")) card.hidden = true;
  });
}
