// Runs in the browser, in the Workbench: makes a list of hundreds of models one that is searched, with price and context of each. The native
// list stays the source of what is chosen, and is hidden. Arrow keys, Enter and Escape work as in every combobox
// (https://www.w3.org/WAI/ARIA/apg/patterns/combobox/). All words of the search have to be in a model's id or name.
"use strict";

{
  /** Models that are listed at once. */
  const rowsMax = 50;

  const make = (name, attributes, ...contents) => {
    const made = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    made.append(...contents);
    return made;
  };

  /** Such as `$3.00 in · $15.00 out · 200K context`, or why it cannot be called. */
  const factsOf = ({ dataset: { why, prices, context } }) =>
    why ?? [prices, context && `${context} context`].filter(Boolean).join(" · ");

  /** @param search what was typed */
  const matchesOf = (options, search) => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return options.filter(({ value, dataset: { name = "" } }) => {
      const text = `${value} ${name}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  };

  class ModelPicker {
    /** The row that Enter chooses; -1: none. */
    active = -1;
    options = [];

    constructor(select) {
      this.select = select;
      const label = document.querySelector(`label[for="${select.id}"]`);
      const ids = { input: `${select.id}-search`, list: `${select.id}-list`, facts: `${select.id}-facts` };
      const combobox = { role: "combobox", "aria-expanded": "false", "aria-controls": ids.list, "aria-autocomplete": "list" };
      const further = { type: "text", autocomplete: "off", spellcheck: "false", "aria-describedby": ids.facts };
      this.input = make("input", { id: ids.input, ...combobox, ...further });
      this.list = make("ul", { id: ids.list, role: "listbox", "aria-label": "Models" });
      this.more = make("p", { class: "hint", role: "status" });
      this.popup = make("div", { class: "picker-popup" }, this.list, this.more);
      this.popup.hidden = true;
      this.facts = make("p", { class: "hint picker-facts", id: ids.facts });
      label.htmlFor = ids.input;
      select.hidden = true;
      select.after(make("div", { class: "picker" }, this.input, this.popup), this.facts);
      this.listen();
      this.show();
    }

    listen() {
      this.input.addEventListener("focus", () => this.input.select());
      this.input.addEventListener("click", () => this.open());
      this.input.addEventListener("input", () => this.open(this.input.value));
      this.input.addEventListener("blur", () => this.close());
      this.input.addEventListener("keydown", (event) => this.press(event));
      // The field keeps the focus.
      this.popup.addEventListener("pointerdown", (event) => event.preventDefault());
      this.list.addEventListener("click", ({ target }) => {
        const row = target.closest("[role=option]");
        if (row !== null) this.choose(this.options[Number(row.dataset.index)]);
      });
    }

    get isOpen() {
      return !this.popup.hidden;
    }

    press(event) {
      const { key, ctrlKey, metaKey } = event;
      if (key === "Escape" && this.isOpen) {
        // It only leaves the list: the answer goes on.
        event.stopPropagation();
        event.preventDefault();
        this.close();
      }
      if (key === "Enter" && !ctrlKey && !metaKey) {
        event.preventDefault();
        if (this.isOpen && this.active >= 0) this.choose(this.options[this.active]);
      }
      if (key !== "ArrowDown" && key !== "ArrowUp") return;
      event.preventDefault();
      if (!this.isOpen) return this.open();
      const step = key === "ArrowDown" ? 1 : -1;
      if (this.options.length > 0) this.activate((this.active + step + this.options.length) % this.options.length);
    }

    /** @param search what was typed; absent: all models are listed */
    open(search = "") {
      const found = matchesOf([...this.select.options], search);
      this.options = found.slice(0, rowsMax);
      this.list.replaceChildren(...this.options.map((option, index) => this.row(option, index)));
      const left = found.length - this.options.length;
      this.more.textContent =
        found.length === 0 ? "No model has these words." : left > 0 ? `${left} more. Type to find them.` : "";
      this.popup.hidden = false;
      this.input.setAttribute("aria-expanded", "true");
      const chosen = search === "" ? this.options.findIndex(({ selected }) => selected) : 0;
      this.active = -1;
      this.activate(found.length === 0 ? -1 : Math.max(0, chosen));
    }

    row(option, index) {
      const facts = make("span", { class: "under" }, factsOf(option));
      const row = make("li", { role: "option", id: `${this.list.id}-${index}` }, make("bdi", {}, option.value), facts);
      row.dataset.index = String(index);
      row.setAttribute("aria-selected", String(option.selected));
      row.classList.toggle("picker-off", option.dataset.why !== undefined);
      return row;
    }

    activate(index) {
      this.list.children[this.active]?.classList.remove("picker-active");
      this.active = index;
      const row = this.list.children[index];
      row?.classList.add("picker-active");
      row?.scrollIntoView({ block: "nearest" });
      if (row === undefined) this.input.removeAttribute("aria-activedescendant");
      else this.input.setAttribute("aria-activedescendant", row.id);
    }

    close() {
      this.popup.hidden = true;
      this.input.setAttribute("aria-expanded", "false");
      this.input.removeAttribute("aria-activedescendant");
      this.show();
    }

    choose({ value }) {
      this.select.value = value;
      this.close();
      this.select.dispatchEvent(new Event("input", { bubbles: true }));
    }

    /** Shows the chosen model, also when another script has chosen it. */
    show() {
      const [option] = this.select.selectedOptions;
      this.input.value = this.select.value;
      this.facts.textContent = option === undefined ? "" : factsOf(option);
    }
  }

  globalThis.workbench = { ...globalThis.workbench, ModelPicker, matchesOf };
}
