/** Imports while scans run: the result is always what the records describe. */
import { describe, expect, test } from "bun:test";
import { randomFrom } from "../../support/random.ts";
import { about, AdvisoryStore } from "../../support/security/advisory-store.ts";
import { SecurityWorld } from "../../support/security/security-world.ts";
import { oneDatabase } from "../../support/servers/databases.ts";

const rounds = 8;
const projects = 4;

describe.each(oneDatabase)("imports during scans on $name", ({ open }) => {
  test("after aliases change during scans, each issue has one finding in each affected package", async () => {
    await using database = await open();
    const world = await SecurityWorld.open(database);
    const store = new AdvisoryStore(database.sql, () => world.clock.now());
    const random = randomFrom(7);
    const names = await Promise.all(Array.from({ length: projects }, (_, index) => world.project(`project-${index}`)));
    for (const name of names) await world.upload(name, ["pkg:npm/lodash@1.0.0", "pkg:npm/left-pad@1.0.0"]);
    const record = (index: number) => {
      const aliases = [`CVE-2026-100${Math.floor(random() * 4)}`, ...(random() < 0.3 ? [`OSV-${Math.floor(random() * 8)}`] : [])];
      return about(`OSV-${index}`, { name: index % 2 === 0 ? "lodash" : "left-pad", aliases });
    };
    for (let round = 0; round < rounds; round++) {
      const half = (from: number) => store.publish(...Array.from({ length: 4 }, (_, index) => record(from + index)));
      await Promise.all([half(0), half(4), world.scan(), world.scan()]);
    }
    await world.scan();
    for (const name of names) {
      const present = (await world.findings(name)).filter((finding) => finding.present);
      const pairs = await database.sql<{ name: string; count: number }[]>`
        SELECT vulnerabilities.name, count(DISTINCT affected_packages.package_id)::integer AS count FROM affected_packages
        JOIN vulnerability_names ON vulnerability_names.name = advisory_id
        JOIN vulnerabilities ON vulnerabilities.id = vulnerability_id GROUP BY vulnerabilities.name ORDER BY 1`;
      const counts = [...Map.groupBy(present, (finding) => finding.name)].map(([issue, found]) => ({
        name: issue,
        count: found.length,
      }));
      expect(counts).toEqual([...pairs]);
    }
  }, 60_000);
});
