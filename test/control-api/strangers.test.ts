/** A member of one workspace learns nothing about another: existing ids get the same answer as unknown ones. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemClock } from "../../src/kernel/clock.ts";
import { newGenerationId } from "../../src/kernel/ids.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { PromptQueue } from "../../src/gateway/prompts/prompt-queue.ts";
import { publishVendors } from "../connectors/connections/vendors.ts";
import { Control } from "../support/control.ts";
import { book, settlement } from "../support/gateway/settlements.ts";
import { openEmbeddedDatabase, type TestDatabase } from "../support/servers/databases.ts";

let database: TestDatabase;
let control: Control;
const credentials = { okta_domain: "acme.okta.com", api_token: "a-token" };
/** The contents of the other workspace. */
const theirs = { key: "", connection: "", generation: newGenerationId(systemClock.now()) };
const nobodys = { key: "key-unknown", connection: "con-unknown", generation: newGenerationId(systemClock.now()) };

beforeAll(async () => {
  database = await openEmbeddedDatabase();
  control = new Control(database.sql);
  control.connectors.published = await publishVendors(database.sql);
  await control.workspace("own");
  const other = await control.workspace("other");
  theirs.key = (await control.key("other")).id;
  const body = { workspace: "other", connector: "okta", credentials };
  theirs.connection = String((await control.expect("POST", "/connections", { body }))["id"]);
  await storeGeneration(other);
}, 60_000);
afterAll(() => database[Symbol.asyncDispose]());

/** A log row and a prompt. */
async function storeGeneration(workspace: string): Promise<void> {
  const { generation, key } = theirs;
  await book(database.sql, settlement({ generation, workspace, key, admittedAt: systemClock.now() }));
  const queue = new PromptQueue({ sql: database.sql, keyring: control.keyring, clock: systemClock, log: silentLog });
  queue.add(
    { generation, workspace, at: systemClock.now(), messages: [], parameters: {}, answer: { content: "" }, answerCut: false },
    100,
  );
  await queue.flushed(10_000);
}

type Ids = typeof theirs;
const none = () => null;
const requests: [string, string, (ids: Ids) => string, (ids: Ids) => object | null][] = [
  ["a key", "GET", ({ key }) => `/keys/${key}`, none],
  ["an edit of a key", "PATCH", ({ key }) => `/keys/${key}`, () => ({ name: "x" })],
  ["the end of a key", "POST", ({ key }) => `/keys/${key}/revoke`, none],
  ["what a key asked for", "GET", ({ key }) => `/log?key=${key}`, none],
  ["a generation", "GET", ({ generation }) => `/log/${generation}`, none],
  ["a prompt", "GET", ({ generation }) => `/prompts/${generation}`, none],
  ["the end of a prompt", "POST", () => "/prompts/delete", ({ generation: id }) => ({ id })],
  ["a connection's test", "POST", ({ connection }) => `/connections/${connection}/test`, none],
  ["a connection's credentials", "PUT", ({ connection: id }) => `/connections/${id}/credentials`, () => ({ credentials })],
  ["a connection's people", "GET", ({ connection }) => `/connections/${connection}/people`, none],
  ["a reading of a connection's people", "POST", ({ connection }) => `/connections/${connection}/people`, none],
  ["the end of a connection's people", "DELETE", ({ connection }) => `/connections/${connection}/people`, none],
  ["a connection's end", "DELETE", ({ connection }) => `/connections/${connection}`, none],
];

/** What names a workspace, with what a form sends besides. */
const ofWorkspaces: [string, (workspace: string) => string, object | null][] = [
  ["GET", (name) => `/workspaces/${name}`, null],
  ["GET", (name) => `/views?workspace=${name}`, null],
  ["POST", () => "/views", { list: "findings", name: "Mine", query: "severity=high" }],
  ["GET", (name) => `/components?workspace=${name}&name=lodash`, null],
  ["GET", (name) => `/findings?workspace=${name}`, null],
  ["GET", (name) => `/vex?workspace=${name}&project=shop`, null],
  ["GET", (name) => `/evidence?workspace=${name}`, null],
  ["GET", (name) => `/usage?workspace=${name}`, null],
  ["GET", (name) => `/checklist?workspace=${name}`, null],
  ["PATCH", () => "/checklist", { hidden: true }],
  ["POST", () => "/sample", {}],
  ["GET", (name) => `/provider-keys?workspace=${name}`, null],
  ["POST", () => "/provider-keys", { provider: "mistral", key: "sk-0123456789abcdef" }],
];

describe.each(["admin@own", "member@own", "auditor@own", "nobody@nowhere"])("for %s", (as) => {
  test.each(requests)("%s of another workspace does not exist", async (_, method, path, body) => {
    const answer = async (ids: Ids) => {
      const { status, body: answered } = await control.call(method, path(ids), { as, ...(body(ids) && { body: body(ids) }) });
      return { status, answered: JSON.stringify(answered).replaceAll(/key-\w+|con-\w+|gen-\w+/g, "ID") };
    };
    const unknown = await answer(nobodys);
    expect(unknown.status).toBe(404);
    expect(await answer(theirs)).toEqual(unknown);
  });

  test.each(ofWorkspaces)("another workspace gets the same answer as a missing one: %s %s", async (method, path, fields) => {
    const answer = async (name: string) => {
      const body = fields === null ? null : { workspace: name, ...fields };
      const { status, body: answered } = await control.call(method, path(name), { as, ...(body && { body }) });
      return { status, answered: JSON.stringify(answered).replaceAll(name, "NAME") };
    };
    const missing = await answer("nowhere-at-all");
    expect(missing.status).toBe(403);
    expect(await answer("other")).toEqual(missing);
  });
});
