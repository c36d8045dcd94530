/** A database that was just filled has no statistics: the planner must not need them. */
import { describe, expect, test } from "bun:test";
import { lodash, SecurityWorld } from "../../../support/security/security-world.ts";
import { databases } from "../../../support/servers/databases.ts";

// Where there is a server, only there: to fill the embedded database takes seconds, and an upload over MCP fills it too.
describe.each(databases.slice(-1))("a first scan on $name", ({ open }) => {
  test("a document of 15,000 packages is scanned within the time limit of each statement", async () => {
    await using database = await open();
    const world = await SecurityWorld.open(database);
    await world.publish(lodash("CVE-1"));
    const project = await world.project("large");
    const others = Array.from({ length: 14_999 }, (_, index) => `pkg:npm/part-${index}@1.0.0`);
    await world.upload(project, ["pkg:npm/lodash@4.17.20", ...others]);
    await world.scan();
    expect(await world.scanState(project)).toMatchObject({ scan_status: "completed", scan_attempts: 0 });
    expect(await world.findingLines(project)).toEqual(["CVE-1 4.17.20 open"]);
  }, 60_000);
});
