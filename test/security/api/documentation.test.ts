/** docs/reference/tools.md lists every operation with its fields. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { operations } from "../../../src/security/api/operations.ts";
import { aboutFields } from "../../../src/security/tickets/schema.ts";
import { repository } from "../../support/processes/process.ts";

const page = readFileSync(join(repository, "docs/reference/tools.md"), "utf8");
const [, section = ""] = /\n## Operations\n(.*?)\n## /s.exec(page) ?? [];
const rows = new Map(
  section
    .split(/\n(?=- |\n)/)
    .flatMap((row) => [...row.matchAll(/^- `(\w+)`([^]*)/g)].map(([, name = "", fields = ""]) => [name, fields] as const)),
);

test("the reference lists exactly the operations that are served, each with its fields, the required ones in bold", () => {
  const lacks = operations.map(({ name, input }) => {
    const required = new Set(input.required ?? []);
    const fields = Object.keys(input.properties).filter((field) => !(field in aboutFields));
    return [name, fields.filter((field) => !rows.get(name)?.includes(required.has(field) ? `**\`${field}\`**` : `\`${field}\``))];
  });
  expect(lacks).toEqual(operations.map(({ name }) => [name, []]));
  expect([...rows.keys()].toSorted()).toEqual(operations.map(({ name }) => name).toSorted());
  for (const field of Object.keys(aboutFields)) expect(section).toContain(`\`${field}\``);
});
