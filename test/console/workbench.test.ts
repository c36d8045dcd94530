/** The page of the Workbench: who sees it, and what it says where no model can be called. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { choosableModels } from "../../src/console/pages/inference/workbench-page.ts";
import { ConsoleWorld } from "../support/console.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

describe.each(oneDatabase)("the page of the Workbench on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("acme", "1");
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const shown = async (email: string | null) => world.get("/console/w/acme/workbench", await world.signIn(email));

  test("a member gets the page with the addresses that its script asks, and an auditor does not", async () => {
    const { status, text, headers } = await shown("member@acme");
    expect([status, text.match(/data-endpoint="(\/api\/console\/workbench\?workspace=ws-\w+)"/)?.length]).toEqual([200, 2]);
    expect(headers.get("content-security-policy")).toContain("connect-src 'self'");
    expect((await shown("auditor@acme")).status).toBe(403);
  });

  test("the page says why nothing can be run: to the operator, in a switched-off workspace, and without a callable model", async () => {
    expect((await shown(null)).text).toContain("sign in as a member");
    expect((await shown("member@acme")).text).toContain("No model can be called right now");
    await world.control.expect("PATCH", "/workspaces/acme", { body: { enabled: false } });
    expect((await shown("member@acme")).text).toContain("switched off for this workspace");
  });
});

test("callable chat models are offered before the others, and embeddings models are not", () => {
  const model = (id: string, runnable: boolean, kind?: "embeddings") => ({ id, runnable, ...(kind && { kind }) }) as never;
  const models = [model("a/later", false), model("a/vectors", true, "embeddings"), model("b/now", true)];
  expect(choosableModels(models)).toEqual({ callable: ["b/now"], others: ["a/later"] });
});
