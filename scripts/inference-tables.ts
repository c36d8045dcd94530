/**
 * Generates the tables of docs/reference/inference.md from the code: `node_modules/.bin/bun scripts/inference-tables.ts`. A test compares the page
 * with them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chatFields, type ChatField } from "../src/gateway/api/request/chat-fields.ts";
import { completionFields } from "../src/gateway/api/request/completion-fields.ts";
import { factsOf, supportWords, type SupportWord } from "../src/gateway/api/request/supports.ts";

const file = join(import.meta.dirname, "../docs/reference/inference.md");

const code = (text: string | undefined): string => (text === undefined ? "" : `\`${text}\``);

function fieldTable(fields: readonly ChatField[]): string {
  const rows = fields.map(({ name, nullable, needs, accepts, effect }) => [
    code(name),
    nullable ? "yes" : "no",
    code(needs),
    accepts,
    effect,
  ]);
  return table(["field", "null", "needs", "accepted", "effect"], rows);
}

function supportTable(): string {
  // The keys of this object are exactly the support words.
  const words = Object.keys(supportWords) as SupportWord[];
  const rows = words.map((word) => {
    const { opensWithin, impliedBy, without } = factsOf(word);
    const fields = chatFields.filter(({ needs }) => needs === word).map(({ name }) => name);
    const opens = [...fields, ...[opensWithin ?? []].flat()];
    return [code(word), opens.map(code).join(", "), code(impliedBy), without];
  });
  return table(["word", "enables", "implied by", "without it"], rows);
}

/** Formats a table as `bun fmt` does. */
function table(head: string[], rows: string[][]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[]): string => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |\n`;
  return [head, widths.map((width) => "-".repeat(width)), ...rows].map(line).join("");
}

/** Replaces each table of the page that follows a comment "Made by scripts/inference-tables.ts from <file>". */
export function withTables(page: string): string {
  const tables: Record<string, string> = {
    "chat-fields.ts": fieldTable(chatFields),
    "completion-fields.ts": fieldTable(completionFields),
    "supports.ts": supportTable(),
  };
  return page.replace(
    /(<!-- Made by scripts\/inference-tables\.ts from \S*\/(\S+?) -->\n\n)(?:\|.*\n)*/g,
    (whole, comment: string, source: string) => (source in tables ? `${comment}${tables[source]}` : whole),
  );
}

if (import.meta.main) writeFileSync(file, withTables(readFileSync(file, "utf8")));
