/** Where a severity comes from, as the pages of security say it. */
import { expect, test } from "bun:test";
import { ConsoleWorld } from "../support/console.ts";
import { fixedIn, SecurityWorld } from "../support/security/security-world.ts";
import { openEmbeddedDatabase } from "../support/servers/databases.ts";

test("a severity says where it comes from, and malware stands in the list", async () => {
  await using database = await openEmbeddedDatabase();
  const world = new ConsoleWorld(database.sql);
  const workspace = await world.control.workspace("acme");
  const security = new SecurityWorld({ sql: database.sql, clock: world.control.clock, workspace });
  const affected = [{ ecosystem: "npm" as const, name: "evil", ranges: fixedIn("2.0.0") }];
  await security.publish({ id: "MAL-2026-1", affected }, { id: "GHSA-aaaa-bbbb-cccc", affected, specific: { severity: "HIGH" } });
  const project = await security.project("shop");
  await security.upload(project, ["pkg:npm/evil@1.0.0"]);
  await security.scan();
  const browser = await world.signIn("member@acme");
  const see = async (path: string) => (await world.get(`/console/w/acme${path}`, browser)).text;
  expect(await see("/findings")).toContain("critical, malware");
  const pages = await Promise.all((await security.findings(project)).map(({ id }) => see(`/findings/${id}`)));
  for (const words of ["the package is malware, which is critical", "the advisory&#39;s word: it has no valid CVSS vector"])
    expect([words, pages.some((page) => page.includes(words))]).toEqual([words, true]);
  expect(await see("/vulnerabilities/MAL-2026-1")).toContain("the package is malware, which is critical");
});
