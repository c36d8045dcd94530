/**
 * Generates the tables of fields in docs/reference/inference.md from the code: `node_modules/.bin/bun scripts/inference-tables.ts`. A test
 * compares the page with it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chatFields, type ChatField } from "../src/gateway/api/request/chat-fields.ts";
import { completionFields } from "../src/gateway/api/request/completion.ts";
import { factsOf, supportWords, type SupportWord } from "../src/gateway/api/request/requested-model.ts";

const file = join(import.meta.dirname, "../docs/reference/inference.md");

const code = (text: string): string => `\`${text}\``;

/** Fields that are accepted. The page says that an empty effect means "sent on". */
function fieldTable(fields: readonly ChatField[]): string {
  const accepted = fields.filter(({ accepts }) => accepts !== "nothing");
  const alike = Map.groupBy(accepted, ({ accepts, effect }) => JSON.stringify([accepts, effect]));
  const rows = [...alike.values()].map((group) => {
    const [{ accepts, effect } = { accepts: "", effect: "" }] = group;
    return [group.map(({ name }) => code(name)).join(", "), accepts, effect === "sent on" ? "" : effect];
  });
  return table(["field", "accepted", "effect"], rows);
}

/** Fields for which no value is accepted. */
function refused(fields: readonly ChatField[]): string {
  const names = fields.filter(({ accepts }) => accepts === "nothing").map(({ name }) => code(name));
  return `No value is accepted for ${listed(names)}.\n`;
}

function fieldsOfChat(): string {
  const names = completionFields.filter((field) => chatFields.includes(field)).map(({ name }) => code(name));
  return `These fields are as in a chat completion: ${listed(names)}.\n`;
}

function supportList(): string {
  // The keys of this object are exactly the support words.
  const words = Object.keys(supportWords) as SupportWord[];
  const lines = words.map((word) => {
    const { opensWithin, impliedBy, without } = factsOf(word);
    const fields = chatFields.filter(({ needs }) => needs === word).map(({ name }) => name);
    const opens = [...fields, ...[opensWithin ?? []].flat()];
    const orWord = impliedBy === undefined ? "" : ` or ${code(impliedBy)}`;
    const otherwise = without === "refused" ? "" : `; without it, ${without}`;
    return `- ${code(word)}${orWord}: ${opens.map(code).join(", ")}${otherwise}\n`;
  });
  return lines.join("");
}

function listed(names: string[]): string {
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** Formats a table as `bun fmt` does. */
function table(head: string[], rows: string[][]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[]): string => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |\n`;
  return [head, widths.map((width) => "-".repeat(width)), ...rows].map(line).join("");
}

/** Replaces each paragraph or table of the page that follows a comment "Made by scripts/inference-tables.ts from <file>". */
export function withTables(page: string): string {
  const made: Record<string, string> = {
    "chat-fields.ts": fieldTable(chatFields),
    "chat-fields.ts, refused": refused(chatFields),
    "completion.ts": fieldTable(completionFields.filter((field) => !chatFields.includes(field))),
    "completion.ts, refused": refused(completionFields),
    "completion.ts, asInChat": fieldsOfChat(),
    "requested-model.ts": supportList(),
  };
  return page.replace(
    /(<!-- Made by scripts\/inference-tables\.ts from \S*\/(\S[^>]*?) -->\n\n)(?:.+\n)*/g,
    (whole, comment: string, source: string) => (source in made ? `${comment}${made[source]}` : whole),
  );
}

if (import.meta.main) writeFileSync(file, withTables(readFileSync(file, "utf8")));
