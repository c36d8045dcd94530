/** The pages of docs/ and their blocks of code. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../support/processes/process.ts";

export interface Block {
  /** Where it begins, such as `docs/how-to/upgrade.md:12`. */
  at: string;
  /** The first word after the fence; empty: output of the block before it. */
  language: string;
  /** The other words after the fence. */
  info: string;
  text: string;
  /** The last line of text before it. */
  before: string;
}

export interface Page {
  /** Below docs/, such as `how-to/upgrade.md`. */
  path: string;
  text: string;
  blocks: Block[];
}

export const docs = join(repository, "docs");

/** All pages, by their path. */
export function readPages(): Page[] {
  const paths = readdirSync(docs, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".md"));
  return paths.toSorted().map(readPage);
}

export function readPage(path: string): Page {
  const text = readFileSync(join(docs, path), "utf8");
  return { path, text, blocks: blocksOf(path, text) };
}

export function blocksOf(path: string, text: string): Block[] {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  for (let number = 0; number < lines.length; number++) {
    const fence = /^( *)```(\S*) *(.*)$/.exec(lines[number] ?? "");
    if (fence === null) continue;
    const [, indent = "", language = "", info = ""] = fence;
    const end = lines.findIndex((line, at) => at > number && line.trim() === "```");
    const inside = lines.slice(number + 1, end === -1 ? undefined : end).map((line) => line.slice(indent.length));
    const before = lines.slice(0, number).findLast((line) => line.trim() !== "") ?? "";
    blocks.push({ at: `docs/${path}:${number + 1}`, language, info, text: `${inside.join("\n")}\n`, before });
    number = end === -1 ? lines.length : end;
  }
  return blocks;
}
