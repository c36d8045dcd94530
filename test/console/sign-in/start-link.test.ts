/** The link that a start in one process gives out signs in its owner, who is the operator there too. Other links do not. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createSignInLink } from "../../../src/accounts/sessions/links.ts";
import type { LinkPurpose } from "../../../src/accounts/sessions/store.ts";
import { resolveActors } from "../../../src/control-api/actor-resolver.ts";
import { SessionAuthenticator } from "../../../src/control-api/authenticate.ts";
import { type Browser, ConsoleWorld, sessionOf } from "../../support/console.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(oneDatabase)("the link of a start on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    for (const name of ["own", "foreign"]) await world.control.workspace(name);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const follow = async (purpose: LinkPurpose) => {
    const { sql, clock } = world.control.parts;
    const { path } = await createSignInLink({ email: "super_admin@own", purpose }, { sql, clock });
    return { page: (await world.get(path)).text, browser: sessionOf(await world.post(path, {})) };
  };
  const statuses = (browser: Browser) =>
    Promise.all(
      ["operator/ledger", "w/own/workbench", "w/foreign/settings"].map(
        async (path) => (await world.get(`/console/${path}`, browser)).status,
      ),
    );

  test("opens the operator's pages, the person's own, and those of other workspaces as the operator", async () => {
    const { page, browser } = await follow("start");
    expect(page).toContain("and as the operator of this service");
    expect(await statuses(browser)).toEqual([200, 200, 200]);
    expect((await world.get("/console/w/own", browser)).text).toContain('<a href="/console/operator/providers"');
    expect((await world.get("/console/w/own/workbench", browser)).text).not.toContain("The operator is not a member");
  });

  test("opens the operator's verbs of the control API", async () => {
    const principalOfLink = async (purpose: LinkPurpose) => {
      const headers = { cookie: `weir=${(await follow(purpose)).browser.token}`, host: "localhost" };
      const principal = await new SessionAuthenticator(world.control.parts).authenticate(
        new Request("http://localhost/", { headers }),
      );
      if (principal === null) throw new Error("The session is not found");
      return resolveActors(principal, world.control.parts);
    };
    expect((await principalOfLink("start")).operator("list workspaces")).toEqual({ kind: "operator" });
    const handedOver = await principalOfLink("sign in");
    expect(() => handedOver.operator("list workspaces")).toThrow("only the operator may");
  });

  test("is the only one that does: the operator's link for a person opens what the person may see", async () => {
    const { page, browser } = await follow("sign in");
    expect(page).not.toContain("operator");
    expect(await statuses(browser)).toEqual([403, 200, 404]);
  });
});
