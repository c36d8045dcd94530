/** The reference pages of the control API and of the command line name what the code has; the OpenAPI description has every field. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { controlPages, withLists } from "../../scripts/control-tables.ts";
import { help } from "../../scripts/weir/read-command.ts";
import { verbs } from "../../scripts/weir/verbs.ts";
import { changesRecords } from "../../src/accounts/audit/events.ts";
import { errorStatuses } from "../../src/accounts/errors.ts";
import { endpoints } from "../../src/control-api/endpoints.ts";
import { openApiDocument } from "../../src/openapi/document.ts";
import { isJson, jsonOf, resolve, type Json } from "../support/described.ts";

const pageOf = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), "utf8");
const text = pageOf("reference/control-api.md");

const description: Json = JSON.parse(JSON.stringify(openApiDocument({ slug: "acme" })));
const followed = (value: unknown): Json =>
  isJson(value) && typeof value["$ref"] === "string" ? resolve(description, value["$ref"]) : jsonOf(value ?? {});
const contentOf = (body: unknown): Json => followed(jsonOf(jsonOf(jsonOf(body)["content"])["application/json"])["schema"]);
const marked = (fields: string[], required: unknown): string[] =>
  fields.map((field) => (Array.isArray(required) && required.includes(field) ? field : `${field}?`));

/** The fields of a described request, `?` after those that may be left out. */
function describedFields(operation: Json, inBody: boolean): string[] {
  if (inBody) {
    const { properties = {}, required } = contentOf(operation["requestBody"]);
    return marked(Object.keys(jsonOf(properties)), required);
  }
  const parameters = (operation["parameters"] as unknown[]).map(followed).filter((parameter) => parameter["in"] === "query");
  return parameters.map(({ name, required }) => `${String(name)}${required === true ? "" : "?"}`);
}

describe("the OpenAPI description", () => {
  test.each(endpoints)(
    "has the fields of $method $path and of its answer",
    ({ method, path, fields, view, status, file, completes }) => {
      const paths = jsonOf(jsonOf(description["paths"])[`/api/console${path.replaceAll(/:(\w+)/g, "{$1}")}`]);
      const operation = jsonOf(paths[method.toLowerCase()]);
      const inBody = !["GET", "DELETE"].includes(method) && file === null && !completes;
      expect(describedFields(operation, inBody)).toEqual(marked(Object.keys(fields.properties), fields.required));
      if (completes) return;
      const answer = contentOf(jsonOf(operation["responses"])[status]);
      expect(Object.keys(jsonOf(answer["properties"] ?? {}))).toEqual(Object.keys(jsonOf(view["properties"] ?? {})));
    },
  );
});

describe("docs/reference", () => {
  test.each(controlPages)("%s has the list that scripts/control-tables.ts writes", (path) => {
    const page = readFileSync(path, "utf8");
    expect(page.match(/^<!-- Made by scripts\/control-tables\.ts/gm)).toHaveLength(1);
    expect(withLists(page, verbs)).toBe(page);
  });

  test("control-api.md names every code with its status", () => {
    const listed = [...text.matchAll(/^- (\d{3}) `([a-z_]+)`/gm)].map(([, status, code]) => [code, Number(status)]);
    expect(Object.fromEntries(listed)).toEqual(errorStatuses);
  });

  test("the help of each verb has its flags, which no page repeats", () => {
    const lacking = verbs.flatMap((verb) => verb.flags.filter(({ name }) => !help([verb]).includes(`\n--${name} `)));
    expect(lacking).toEqual([]);
  });

  test("the page names the events of the audit log, and no others", () => {
    const listed = /^Events: [^]*?\n\n/m.exec(text)?.[0] ?? "";
    const named = [...listed.matchAll(/`([a-z_]+(?:\.[a-z_]+)+)`/g)].map(([, event]) => event ?? "");
    expect(named.toSorted()).toEqual(Object.keys(changesRecords).toSorted());
  });
});
