/** Reading the audit log in parts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(oneDatabase)("the audit log on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let startMs: number;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    await control.workspace("w");
    startMs = control.clock.now();
    for (const limit of ["1", "2", "3"]) {
      control.clock.advance(60_000);
      await control.expect("PATCH", "/workspaces/w", { body: { spend_limit_usd: limit }, as: "admin@w" });
    }
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const read = (query: string) => control.list(`/audit?workspace=w&event=workspace.updated${query}`);
  const limits = (rows: Record<string, unknown>[]) =>
    rows.map(({ changes }) => String(Object(Object(changes)["spend_limit_usd"])["to"]).slice(0, 1));
  const at = (minutes: number) => new Date(startMs + minutes * 60_000).toISOString();

  test("the id of the last row leads to the next page", async () => {
    const first = await read("&limit=2");
    expect(limits(first)).toEqual(["3", "2"]);
    expect(limits(await read(`&limit=2&before=${String(first[1]?.["id"])}`))).toEqual(["1"]);
  });

  test("rows are chosen by their actor", async () => {
    expect(limits(await read("&actor=admin@w"))).toEqual(["3", "2", "1"]);
    expect(await read("&actor=operator")).toEqual([]);
  });

  test("rows are chosen by time, from one inclusive to another exclusive", async () => {
    expect(limits(await read(`&from=${at(1)}&to=${at(3)}`))).toEqual(["2", "1"]);
    expect(await control.refusal("GET", "/audit?workspace=w&from=2026-13-40T00:00:00Z")).toBe("400 invalid_field from");
    expect(await control.refusal("GET", "/audit?workspace=w&before=x")).toBe("400 invalid_field before");
  });
});
