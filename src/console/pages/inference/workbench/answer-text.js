// Runs in the browser, in the Workbench: draws a text that is still arriving, as Markdown or as it is. The text comes from a stranger, so it
// never becomes HTML: its blocks become elements whose contents are text, and no image is loaded.
// An answer may have a megabyte. A block is drawn once something follows it; only the last one is read again when more arrives, and a long
// one more and more seldom, with what came since then as plain text after it. From a bound on, everything is plain text. So the work and the
// elements grow with the length of the answer alone.
"use strict";

{
  const { readBlocks, inlineOf } = globalThis.workbench;

  /** Characters and elements of an answer that are drawn as Markdown. */
  const charactersMax = 300_000;
  const elementsMax = 10_000;
  /** Characters of an element of plain text: a browser lays out a whole element again when it grows. */
  const plainMax = 20_000;
  /** Characters of the last block that are read again each time. */
  const alwaysRead = 4_000;

  let drawings = 0;

  class Drawing {
    /** What the elements so far have used up. */
    used = { elements: 0, codes: 0, level: 2 };
    number = ++drawings;

    element(name, className, ...contents) {
      this.used.elements++;
      const made = document.createElement(name);
      if (className !== "") made.className = className;
      made.append(...contents);
      return made;
    }

    blocks(blocks) {
      return blocks.map((block) => this.block(block));
    }

    block(block) {
      if (block.type === "code") return this.code(block);
      if (block.type === "rule") return this.element("hr", "");
      if (block.type === "quote") return this.element("blockquote", "", ...this.blocks(block.blocks));
      if (block.type === "list") return this.list(block);
      if (block.type === "table") return this.table(block);
      const made = this.element(block.type === "heading" ? this.heading(block) : "p", "", ...this.inline(block.text));
      made.dir = "auto";
      return made;
    }

    /** Below the page's own headings, and no level is left out. */
    heading({ level }) {
      this.used.level = Math.min(6, level + 2, this.used.level + 1);
      return `h${this.used.level}`;
    }

    inline(text) {
      return this.used.elements > elementsMax ? [text] : inlineOf(text).map((node) => this.node(node));
    }

    node({ type, text, href, nodes = [] }) {
      if (type === "text") return text;
      if (type === "code") return this.element("code", "", text);
      const contents = nodes.map((one) => this.node(one));
      if (type !== "link") return this.element(type, "", ...contents);
      const link = this.element("a", "outward", ...contents);
      return Object.assign(link, { href, rel: "noopener noreferrer nofollow", target: "_blank", title: href });
    }

    list({ isOrdered, start, items }) {
      const list = this.element(isOrdered ? "ol" : "ul", "");
      for (const blocks of items) list.append(this.element("li", "", ...this.blocks(blocks)));
      if (isOrdered && start !== 1) list.start = start;
      return list;
    }

    table({ head, rows }) {
      const row = (cells, name) => this.element("tr", "", ...cells.map((cell) => this.element(name, "", ...this.inline(cell))));
      const body = rows.map((cells) => row(cells, "td"));
      const table = this.element("table", "", this.element("thead", "", row(head, "th")), this.element("tbody", "", ...body));
      return reachable(this.element("div", "answer-table", table), "Table");
    }

    code({ language, text }) {
      const name = `Code ${++this.used.codes}`;
      const code = this.element("code", "", text);
      code.id = `answer-${this.number}-code-${this.used.codes}`;
      const head = this.element("div", "answer-code-head", this.element("span", "", language || "Code"));
      if (navigator.clipboard) head.append(this.copyButton(code.id, name));
      return this.element("div", "answer-code", head, reachable(this.element("pre", "", code), name));
    }

    /** As copyButton of parts.ts makes it, with whose script it copies. */
    copyButton(id, name) {
      const unseen = this.element("span", "unseen", ` ${name}`);
      const button = this.element("button", "quiet small", this.element("span", "", "Copy"), unseen);
      button.type = "button";
      button.dataset.copies = id;
      return button;
    }
  }

  /** It may scroll, so the keyboard has to reach it. */
  const reachable = (element, name) => {
    element.tabIndex = 0;
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", name);
    return element;
  };

  /** Adds text in elements of a bounded length. */
  class PlainWriter {
    constructor(target) {
      this.target = target;
      this.last = null;
    }

    add(text) {
      for (let at = 0; at < text.length;) {
        if (this.last === null || this.last.length >= plainMax) this.open();
        // A new element is a new line, so it begins where the text has one, if it has one soon.
        const room = at + plainMax - this.last.length;
        const lineEnd = text.indexOf("\n", room);
        const end = lineEnd === -1 || lineEnd > room + plainMax ? room : lineEnd;
        this.last.appendData(text.slice(at, end));
        at = text[end] === "\n" && end < text.length ? end + 1 : end;
        if (at > end) this.open();
      }
    }

    open() {
      const element = document.createElement("div");
      element.className = "answer-plain";
      element.dir = "auto";
      this.last = element.appendChild(document.createTextNode(""));
      this.target.append(element);
    }
  }

  /** Adds text as Markdown. What it shows may lag behind until the next frame, or until `end`. */
  class MarkdownWriter {
    drawing = new Drawing();
    /** The text from the beginning of the last block on. */
    pending = "";
    /** The elements of the last block, and what they used up. */
    tail = [];
    before = { ...this.drawing.used };
    /** How much of `pending` was read, and how much is shown. */
    read = 0;
    shown = 0;
    /** Shows what came after the last reading. */
    rest = null;
    characters = 0;
    plain = null;
    frame = 0;

    constructor(target) {
      this.target = target;
    }

    add(text) {
      this.characters += text.length;
      this.pending += text;
      this.frame ||= requestAnimationFrame(() => {
        this.frame = 0;
        this.draw(false);
      });
    }

    end() {
      cancelAnimationFrame(this.frame);
      this.frame = 0;
      this.draw(true);
    }

    draw(isEnd) {
      if (this.plain === null && (this.characters > charactersMax || this.drawing.used.elements > elementsMax)) this.turnPlain();
      if (this.plain !== null) {
        this.plain.add(this.pending);
        this.pending = "";
        return;
      }
      const grown = this.pending.length - this.read;
      if (isEnd || this.read < alwaysRead || grown > this.read / 8) this.readAgain(isEnd);
      else this.rest.appendData(this.pending.slice(this.shown));
      this.shown = this.pending.length;
    }

    readAgain(isEnd) {
      for (const element of this.tail) element.remove();
      this.drawing.used = { ...this.before };
      const settled = isEnd ? this.pending.length : lastBlockIn(this.pending);
      this.target.append(...this.drawing.blocks(readBlocks(this.pending.slice(0, settled).split("\n"))));
      this.before = { ...this.drawing.used };
      this.pending = this.pending.slice(settled);
      this.tail = this.drawing.blocks(readBlocks(this.pending.split("\n")));
      this.rest = document.createTextNode("");
      this.target.append(...this.tail);
      const last = this.tail.at(-1);
      if (last !== undefined) (last.className === "answer-code" ? last.querySelector("code") : last).append(this.rest);
      this.read = this.pending.length;
    }

    /** What is within the bound stays Markdown, to the end of a line. */
    turnPlain() {
      const { pending } = this;
      const within = Math.max(0, pending.length - Math.max(0, this.characters - charactersMax));
      const end = within === pending.length ? within : pending.lastIndexOf("\n", within) + 1;
      this.pending = pending.slice(0, end);
      this.readAgain(true);
      this.pending = pending.slice(end);
      const hint = this.drawing.element("p", "hint", "The answer is long: the rest is shown as plain text.");
      this.target.append(hint);
      this.plain = new PlainWriter(this.target);
    }
  }

  /** Where the last block of the whole lines begins: what is before it does not change any more. */
  const lastBlockIn = (text) => {
    const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
    const first = readBlocks(lines).at(-1)?.line ?? 0;
    let at = 0;
    for (let line = 0; line < first; line++) at += lines[line].length + 1;
    return at;
  };

  // What an answer has besides its text

  /** Adds to the model's thoughts, which stand before the answer and are folded. */
  const showThoughts = (pane, text) => {
    const fold = pane.find("thoughts");
    pane.data.thoughts += text;
    delete pane.answer.dataset.empty;
    if (fold.hidden) {
      const summary = document.createElement("summary");
      summary.textContent = "Thoughts";
      fold.replaceChildren(summary);
      pane.thoughts = new PlainWriter(fold);
      pane.thoughts.add(pane.data.thoughts);
    } else pane.thoughts.add(text);
    fold.hidden = false;
  };

  /** The calls of tools, each with its arguments as they are read best. */
  const showCalls = (target, calls) => {
    const drawing = new Drawing();
    const shown = calls.map(({ type, [type]: { name, arguments: given, input } }) =>
      drawing.code({ language: `Call of ${name}`, text: input ?? indented(given) }),
    );
    target.replaceChildren(...shown);
  };

  const indented = (json) => {
    try {
      return JSON.stringify(JSON.parse(json), null, 2);
    } catch {
      return json;
    }
  };

  globalThis.workbench = { ...globalThis.workbench, MarkdownWriter, PlainWriter, showThoughts, showCalls };
}
