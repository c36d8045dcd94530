// Runs in the browser, in the Workbench: reads a model's Markdown as blocks, and the text of a block as bold words, links, code and the
// like. It knows no page: answer-text.js draws what it returns. Links lead to http and https alone; of any other the address is shown as
// text. What CommonMark has and models hardly write stays text: raw HTML, underlined headings, code by indentation, references.
// The work grows with the length of the text alone: depths, columns and open marks are bounded.
"use strict";

{
  const depthMax = 6;
  const columnsMax = 50;
  /** Characters of one paragraph. A longer one has no bold words, links or code. */
  const inlineMax = 20_000;
  const openersMax = 50;

  // Blocks

  const isBlank = (line) => line.trim() === "";
  const fenceOf = (line) => /^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$/.exec(line);
  const headingOf = (line) => /^ {0,3}(#{1,6})(?:[ \t](.*))?$/.exec(line);
  const isQuote = (line) => /^ {0,3}>/.test(line);
  const isOf = (text, mark) => text === mark.repeat(text.length);

  const isRule = (line) => {
    const bare = line.replaceAll(/\s/g, "");
    return bare.length >= 3 && "-*_".includes(bare[0]) && isOf(bare, bare[0]);
  };

  const startsBlock = (line) => fenceOf(line) !== null || headingOf(line) !== null || isQuote(line) || isRule(line);

  const indentOf = (line) => {
    let columns = 0;
    for (const character of line) {
      if (character !== " " && character !== "\t") break;
      columns += character === "\t" ? 4 : 1;
    }
    return columns;
  };

  const without = (line, columns) => {
    let taken = 0;
    let at = 0;
    for (; at < line.length && taken < columns && (line[at] === " " || line[at] === "\t"); at++)
      taken += line[at] === "\t" ? 4 : 1;
    return line.slice(at);
  };

  const markerOf = (line) => {
    const [whole, indent, mark] = /^( {0,3})([-*+]|\d{1,9}[.)])(?:[ \t]{1,4}|$)/.exec(line) ?? [];
    if (whole === undefined || isRule(line)) return null;
    const isOrdered = mark.length > 1;
    return { isOrdered, number: isOrdered ? Number.parseInt(mark, 10) : 0, width: indent.length + mark.length + 1 };
  };

  const readFence = (lines, index) => {
    const [, mark, info] = fenceOf(lines[index]) ?? [];
    if (mark === undefined) return null;
    const indent = indentOf(lines[index]);
    const isEnd = (line) => line.trim().length >= mark.length && isOf(line.trim(), mark[0]);
    const body = [];
    let next = index + 1;
    for (; next < lines.length && !isEnd(lines[next]); next++) body.push(without(lines[next], indent));
    const isClosed = next < lines.length;
    const block = { type: "code", language: info.trim().split(/\s/, 1)[0], text: body.join("\n"), isClosed };
    return { block, next: isClosed ? next + 1 : next };
  };

  const readHeading = (lines, index) => {
    const [, marks, text = ""] = headingOf(lines[index]) ?? [];
    if (marks === undefined) return null;
    let end = text.trimEnd().length;
    while (end > 0 && text[end - 1] === "#") end--;
    const isClosed = end === 0 || text[end - 1] === " ";
    return {
      block: { type: "heading", level: marks.length, text: (isClosed ? text.slice(0, end) : text).trim() },
      next: index + 1,
    };
  };

  const readRule = (lines, index) => (isRule(lines[index]) ? { block: { type: "rule" }, next: index + 1 } : null);

  const readQuote = (lines, index, depth) => {
    if (!isQuote(lines[index]) || depth >= depthMax) return null;
    const own = [];
    let next = index;
    for (; next < lines.length && isQuote(lines[next]); next++) own.push(lines[next].replace(/^ {0,3}> ?/, ""));
    return { block: { type: "quote", blocks: readBlocks(own, depth + 1) }, next };
  };

  /** The lines of one item, and where the next block or item begins. Blank lines belong to an item that goes on after them. */
  const readItem = (lines, index, { width }) => {
    const own = [lines[index].slice(width)];
    let next = index + 1;
    let blanks = 0;
    while (next + blanks < lines.length) {
      const line = lines[next + blanks];
      if (isBlank(line)) {
        blanks++;
        continue;
      }
      // Models indent by two columns, also below a number.
      const isInside = indentOf(line) >= 2;
      const isLazy = blanks === 0 && !startsBlock(line) && markerOf(line) === null;
      if (!isInside && !isLazy) break;
      for (; blanks > 0; blanks--, next++) own.push("");
      own.push(without(line, width));
      next++;
    }
    return { own, next, after: next + blanks };
  };

  const readList = (lines, index, depth) => {
    const first = markerOf(lines[index]);
    if (first === null || depth >= depthMax) return null;
    const items = [];
    let next = index;
    for (let at = index; at < lines.length;) {
      const marker = markerOf(lines[at]);
      if (marker === null || marker.isOrdered !== first.isOrdered) break;
      const item = readItem(lines, at, marker);
      items.push(readBlocks(item.own, depth + 1));
      next = item.next;
      at = item.after;
    }
    return { block: { type: "list", isOrdered: first.isOrdered, start: first.number, items }, next };
  };

  const cellsOf = (line) => {
    const bare = line.trim().replace(/^\|/, "");
    const cells = bare.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
    return cells.at(-1) === "" ? cells.slice(0, -1) : cells;
  };

  const isDelimiter = (line) => line.includes("-") && line.includes("|") && cellsOf(line).every((cell) => /^:?-+:?$/.test(cell));

  const startsTable = (lines, index) =>
    lines[index].includes("|") &&
    index + 1 < lines.length &&
    isDelimiter(lines[index + 1]) &&
    cellsOf(lines[index]).length <= columnsMax;

  const readTable = (lines, index) => {
    if (!startsTable(lines, index)) return null;
    const head = cellsOf(lines[index]);
    const rows = [];
    let next = index + 2;
    for (; next < lines.length && lines[next].includes("|"); next++) {
      const cells = cellsOf(lines[next]);
      rows.push(head.map((_, column) => cells[column] ?? ""));
    }
    return { block: { type: "table", head, rows }, next };
  };

  const readParagraph = (lines, index, depth) => {
    const goesOn = (line, at) =>
      !isBlank(line) && !startsBlock(line) && !(markerOf(line)?.number <= 1 && depth < depthMax) && !startsTable(lines, at);
    let next = index + 1;
    while (next < lines.length && goesOn(lines[next], next)) next++;
    return {
      block: {
        type: "paragraph",
        text: lines
          .slice(index, next)
          .map((line) => line.trim())
          .join("\n"),
      },
      next,
    };
  };

  const readers = [readFence, readHeading, readRule, readQuote, readList, readTable, readParagraph];

  /** Each with the number of its first line. */
  function readBlocks(lines, depth = 0) {
    const blocks = [];
    for (let index = 0; index < lines.length;) {
      if (isBlank(lines[index])) {
        index++;
        continue;
      }
      for (const read of readers) {
        const found = read(lines, index, depth);
        if (found === null) continue;
        blocks.push({ ...found.block, line: index });
        index = found.next;
        break;
      }
    }
    return blocks;
  }

  // Text within a block: bold, italic, struck out, code, links

  /** null: the address is none of the web. */
  const webAddress = (text) => {
    if (!/^https?:\/\//i.test(text)) return null;
    try {
      return new URL(text).href;
    } catch {
      return null;
    }
  };

  const plain = /(?:[^\\`*_~[\]!<h]|h(?!ttps?:))+/iy;
  const destination =
    /\([ \n]{0,9}<?([^\s()<>]{0,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500}){0,4})>?(?:[ \n]{1,9}"[^"]{0,500}")?[ \n]{0,9}\)/y;
  const bracketed = /<(https?:\/\/[^\s<>]{1,2000})>/iy;
  const bare = /https?:\/\/[^\s<>"`]{1,2000}/iy;
  const marks = /\*{1,3}|_{1,3}|~~/y;
  const isWord = (character = " ") => /[\p{L}\p{N}]/u.test(character);
  const isSpace = (character = " ") => /\s/.test(character);

  class InlineReader {
    nodes = [];
    openers = [];
    /** Runs of backticks that nothing closes from here on, by their length. */
    unclosed = new Set();
    at = 0;

    constructor(text) {
      this.text = text;
    }

    read() {
      while (this.at < this.text.length) {
        const found = this.code() || this.link() || this.emphasis() || this.escaped() || this.bracket();
        if (!found) this.add({ type: "text", text: this.match(plain)?.[0] ?? this.text[this.at] });
      }
      return this.nodes;
    }

    match(expression) {
      expression.lastIndex = this.at;
      return expression.exec(this.text);
    }

    /** @param length what it takes of the text */
    add(node, length = node.text.length) {
      const last = this.nodes.at(-1);
      if (node.type === "text" && last?.type === "text" && !node.isMark && !last.isMark) last.text += node.text;
      else this.nodes.push(node);
      this.at += length;
      return true;
    }

    /** A mark stays text unless another one closes it. */
    open(mark) {
      this.openers.push({ mark, from: this.nodes.length });
      if (this.openers.length > openersMax) this.openers.shift();
      return this.add({ type: "text", text: mark, isMark: true });
    }

    escaped() {
      const next = this.text[this.at + 1] ?? "";
      return this.text[this.at] === "\\" && /[!-/:-@[-`{-~]/.test(next) && this.add({ type: "text", text: next }, 2);
    }

    code() {
      const [run] = this.match(/`+/y) ?? [];
      if (run === undefined) return false;
      const end = run.length > 9 || this.unclosed.has(run.length) ? -1 : this.closing(run);
      if (end === -1) {
        this.unclosed.add(run.length);
        return this.add({ type: "text", text: run });
      }
      const inner = this.text.slice(this.at + run.length, end).replaceAll("\n", " ");
      const isPadded = inner.startsWith(" ") && inner.endsWith(" ") && inner.trim() !== "";
      return this.add({ type: "code", text: isPadded ? inner.slice(1, -1) : inner }, end + run.length - this.at);
    }

    closing(run) {
      for (let end = this.text.indexOf(run, this.at + run.length); end !== -1;) {
        let after = end + run.length;
        while (this.text[after] === "`") after++;
        if (after - end === run.length) return end;
        end = this.text.indexOf(run, after);
      }
      return -1;
    }

    link() {
      const [whole, inner] = this.match(bracketed) ?? [];
      if (whole !== undefined) return this.addLink(inner, whole.length);
      if (isWord(this.text[this.at - 1])) return false;
      let [address] = this.match(bare) ?? [];
      if (address === undefined) return false;
      while (/[.,;:!?'*_~\]]$/.test(address) || (address.endsWith(")") && !address.includes("("))) address = address.slice(0, -1);
      return this.addLink(address, address.length);
    }

    addLink(address, length) {
      const href = webAddress(address);
      const text = { type: "text", text: address };
      return this.add(href === null ? text : { type: "link", href, nodes: [text] }, length);
    }

    emphasis() {
      const [run] = this.match(marks) ?? [];
      if (run === undefined) return false;
      const [before, after] = [this.text[this.at - 1], this.text[this.at + run.length]];
      const isInWord = run[0] === "_" && isWord(before) && isWord(after);
      const opener = isSpace(before) || isInWord ? -1 : this.openerOf(run);
      if (opener === -1) return isSpace(after) || isInWord ? this.add({ type: "text", text: run }) : this.open(run);
      const { mark, from } = this.openers[opener];
      const inner = this.nodes.splice(from).slice(1);
      this.openers.length = opener;
      return this.add(emphasized(mark, inner), mark.length);
    }

    /** The last equal mark with something after it. Three marks may also close two or one. */
    openerOf(run) {
      const hasText = ({ from }) => this.nodes.length > from + 1;
      const equal = this.openers.findLastIndex((one) => one.mark === run && hasText(one));
      if (equal !== -1 || run.length < 3) return equal;
      return this.openers.findLastIndex((one) => one.mark[0] === run[0] && one.mark.length < 3 && hasText(one));
    }

    bracket() {
      const [mark] = this.match(/!?\[|\]/y) ?? [];
      if (mark === undefined) return false;
      if (mark !== "]") return this.open(mark);
      const opener = this.openers.findLastIndex((one) => one.mark.endsWith("["));
      this.at++;
      const [whole, address] = (opener === -1 ? null : this.match(destination)) ?? [];
      this.at--;
      if (opener === -1) return this.add({ type: "text", text: mark });
      const [{ mark: opened, from }] = this.openers.splice(opener);
      if (whole === undefined) return this.add({ type: "text", text: mark });
      // A link has no further link within.
      this.openers = this.openers.filter((one) => !one.mark.endsWith("["));
      const inner = this.nodes.splice(from).slice(1);
      return this.add(linked(opened === "![", address, inner), 1 + whole.length);
    }
  }

  const emphasized = (mark, nodes) => {
    if (mark === "~~") return { type: "del", nodes };
    if (mark.length === 3) return { type: "strong", nodes: [{ type: "em", nodes }] };
    return { type: mark.length === 2 ? "strong" : "em", nodes };
  };

  /** What an address that is none of the web would have done is said in its place. */
  const linked = (isImage, address, nodes) => {
    const href = webAddress(address);
    const shown = isImage ? [{ type: "text", text: "Image: " }, ...nodes] : nodes;
    if (href === null) return { type: "span", nodes: [...shown, { type: "text", text: ` (${address})` }] };
    return { type: "link", href, nodes: nodes.length === 0 ? [...shown, { type: "text", text: address }] : shown };
  };

  const inlineOf = (text) => (text.length > inlineMax ? [{ type: "text", text }] : new InlineReader(text).read());

  globalThis.workbench = { ...globalThis.workbench, readBlocks, inlineOf };
}
