/** docs/how-to/upgrade.md promises that a fleet is upgraded process by process without a pause. */
import { afterAll, expect, test } from "bun:test";
import { runRollingRestart } from "../chaos/harness/rolling-restart.ts";
import { formerVersion, lastRelease } from "../chaos/harness/world/former-version.ts";
import { testServers } from "../support/servers/services.ts";

const servers = await testServers();
const release = lastRelease();
const before = release === null ? null : await formerVersion(release);
if (before === null)
  console.log("Not run: the upgrade from the last release, since no commit before this one has a tag such as v0.1.0");
/** Its files are many, and the machine may be busy. */
const removedMsMax = 60_000;
afterAll(() => before?.[Symbol.asyncDispose](), removedMsMax);

test.skipIf(servers === null || before === null)(
  "the last release is replaced process by process under load: no request is refused, and all that is served is settled",
  async () => {
    if (servers === null || before === null) throw new Error("There are no servers or no former version");
    const { calls, violations, tally } = await runRollingRestart({
      servers,
      streams: 8,
      streamSeconds: 1,
      requestsPerSecond: 20,
      leaveMs: 500,
      logLevel: "info",
      former: before.folder,
      say: () => {},
    });
    expect(violations).toEqual([]);
    expect(tally).toMatchObject({ unknown: 0, lost: [], doubled: [], unmetered: [] });
    expect(tally.charged).toBeGreaterThan(calls * 0.85);
  },
  60_000,
);
