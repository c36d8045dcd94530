/**
 * No green without knowledge: a part of an ecosystem's first synchronization does not count as known, and neither does a withdrawn record.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { answerAs } from "../../../scripts/weir/call.ts";
import { agesText } from "../../../scripts/weir/print-findings.ts";
import type { EcosystemAge } from "../../../src/security/advisories/ecosystem-ages.ts";
import { selectUsedEcosystems } from "../../../src/security/advisories/sync-store.ts";
import { ConsoleWorld } from "../../support/console.ts";
import { lodash, SecurityWorld } from "../../support/security/security-world.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

const incomplete = "he first synchronization of advisories for npm is not complete, and the next one continues it";

describe.each(oneDatabase)("the first synchronization of an ecosystem, on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let security: SecurityWorld;
  let project = "";
  const note = (ended: boolean) =>
    world.control.expect("POST", "/advisories/syncs", { body: { ecosystem: "npm", etag: null, published_at: null, ended } });
  const shown = () => world.control.expect("GET", `/projects/${project}?workspace=acme`);
  const ages = async () => answerAs<{ data: EcosystemAge[] }>(await world.control.expect("GET", "/advisories")).data;
  const see = async (path: string) => (await world.get(path, await world.signIn(null))).text;

  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    const workspace = await world.control.workspace("acme");
    security = new SecurityWorld({ sql: database.sql, clock: world.control.clock, workspace });
  });
  beforeEach(async () => {
    project = await security.onlyProject("shop");
    await security.upload(project, ["pkg:npm/lodash@4.17.20"]);
    await security.scan();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  test("a part of its records makes no project green, and page, ages and project say why, until it has ended", async () => {
    await note(false);
    expect(await selectUsedEcosystems(database.sql)).toEqual(["npm"]);
    await security.publish(lodash("CVE-2026-0001"));
    await security.scan();
    expect(await shown()).toMatchObject({
      scan_status: "not_comparable",
      components_not_compared: 1,
      metrics: { coverage: [{ not_compared: 1, advisories_updated_at: null, incomplete: true }] },
    });
    expect((await ages())[0]).toMatchObject({ known: false, sync_began_at: expect.stringMatching(/Z$/) });
    expect(agesText(await ages(), world.control.clock.now())).toContain(`t${incomplete}`);
    const page = await see("/console/operator/advisories");
    expect(page).toContain(`T${incomplete}.`);
    expect(page).not.toContain("components without advisories");
    expect(page).toContain('<span class="badge warn">incomplete</span>');
    const member = await world.signIn("member@acme");
    expect((await world.get("/console/w/acme/projects", member)).text).toContain(`T${incomplete}.`);
    expect((await world.get(`/console/w/acme/projects/${project}`, member)).text).toContain(`t${incomplete} (1 component)`);

    await note(true);
    expect(await shown()).toMatchObject({
      scan_status: "completed",
      components_not_compared: 0,
      metrics: { coverage: [{ not_compared: 0, incomplete: false }] },
      vulnerability_counts: { total: 1 },
    });
    expect((await ages())[0]).toMatchObject({ known: true, sync_began_at: null });
  });

  test("what continues an interrupted one keeps the ecosystem unknown until its own end", async () => {
    await note(false);
    await security.publish(lodash("CVE-2026-0001"));
    await note(false);
    await security.scan();
    expect(await shown()).toMatchObject({ scan_status: "not_comparable" });
    await note(true);
    expect(await shown()).toMatchObject({ scan_status: "completed" });
  });

  test("once it was complete, the ecosystem stays known while a later one runs", async () => {
    await note(false);
    await security.publish(lodash("CVE-2026-0001"));
    await note(true);
    await note(false);
    await security.scan();
    expect(await shown()).toMatchObject({ scan_status: "completed", metrics: { coverage: [{ incomplete: false }] } });
  });

  test("what was imported by hand makes the ecosystem known, and a synchronization after it does not take that away", async () => {
    await security.publish(lodash("CVE-2026-0001"));
    await security.scan();
    expect(await shown()).toMatchObject({ scan_status: "completed" });
    await note(false);
    expect(await shown()).toMatchObject({ scan_status: "completed" });
  });

  test("a withdrawn record alone makes no ecosystem known", async () => {
    await security.publish({ ...lodash("CVE-2026-0001"), withdrawn: true });
    await security.scan();
    expect(await shown()).toMatchObject({ scan_status: "not_comparable", components_not_compared: 1 });
    expect((await ages())[0]).toMatchObject({ known: false, imported_at: null });
    await security.publish(lodash("CVE-2026-0002"));
    await security.scan();
    expect(await shown()).toMatchObject({ scan_status: "completed" });
  });
});
