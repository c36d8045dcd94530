/**
 * No text from outside blocks the thread that serves all other clients. The tests measure the thread's CPU time, so that a busy
 * machine does not matter. `npm run hostile -- blocking` does more of it, and with a running service.
 */
import { describe, expect, test } from "bun:test";
import { nearest } from "../../src/kernel/text.ts";
import { readYarnClassicLock } from "../../src/security/lockfiles/formats/yarn-lock.ts";
import { readRequirements, RequirementFiles } from "../../src/security/lockfiles/formats/requirements.ts";
import { parseBaseUrl } from "../../src/http/public-address.ts";
import { isSpdxLicenseId } from "../../src/security/sboms/formats/cyclonedx-shape.ts";
import { graphOf } from "../../src/security/sboms/formats/spdx-3.ts";
import { extractSpdx2 } from "../../src/security/sboms/formats/spdx-2.ts";
import { parsePackageUrl } from "../../src/security/versions/package-url.ts";
import { versionToMatch } from "../../src/security/versions/version-to-match.ts";
import { Dice } from "./bodies/dice.ts";
import { blockThread } from "./blocking/block-thread.ts";
import { blockService } from "./blocking/block-service.ts";
import { blockedMs, blockedMsMax } from "./blocking/thread-time.ts";

/** The size of the largest text in a file that is read on the event loop. */
const length = 30_000;
const gem = { ecosystem: "RubyGems", purl: null } as const;

const creators = (creator: string) => ({ spdxVersion: "SPDX-2.3", creationInfo: { creators: [creator] } });

const requirements = (text: string) =>
  readRequirements("requirements.txt", new RequirementFiles({ roots: ["requirements.txt"], textOf: () => text }));

describe("texts that once blocked the thread for seconds are read at once or refused", () => {
  test.each<[string, () => unknown]>([
    ["a requirement followed by blanks", () => requirements(`name${" ".repeat(length)}x`)],
    ["a requirement followed by comment marks", () => requirements(`name${" #".repeat(length / 2)}\u2028x`)],
    ["a comment with `via` and blanks", () => requirements(`a==1 # via${" ".repeat(length)}\rx`)],
    ["an option of requirements followed by tabs", () => requirements(`-c${"\t".repeat(length)}\0\u2028x`)],
    ["a package URL of slashes", () => parsePackageUrl(`pkg:npm/${"/".repeat(length)}a`)],
    ["a context of digits", () => graphOf({ "@context": `https://spdx.org/${"0".repeat(length)}` })],
    ["a creator of blanks", () => extractSpdx2(creators(`Tool:${" ".repeat(length)}\n`), "json")],
    ["a license of exceptions", () => isSpdxLicenseId(`a${"-exception-e".repeat(length / 12)}\0`)],
    ["a gem's version that begins as a platform", () => versionToMatch({ ...gem, version: `1-arm-aix${"il".repeat(40)}!` })],
    ["a gem's version of platforms", () => versionToMatch({ ...gem, version: `${"-arm-aix".repeat(length / 8)}!` })],
    ["a quoted word of escapes that does not end", () => readYarnClassicLock(`"${'\\"'.repeat(length / 2)}`)],
    ["a quoted word of escapes with an escaped line end", () => readYarnClassicLock(`"${'\\"'.repeat(length / 2)}\\\rx`)],
    ["an address of dots", () => parseBaseUrl(`https://a${".".repeat(length)}b`)],
    ["a field's name of a million letters", () => nearest("n".repeat(1_000_000), ["name", "limit", "offset"])],
  ])("%s", (_, read) => {
    const ms = blockedMs(() => {
      try {
        read();
      } catch {
        // A refusal counts like a success.
      }
    });
    expect(ms).toBeLessThan(blockedMsMax);
  });
});

// Other suites run at the same time: where they share a core's caches, the same work takes up to twice the CPU time.
test("no request of any API with a body of less than 1 MiB blocks the event loop of a running service", async () => {
  const dice = new Dice(crypto.getRandomValues(new Uint32Array(1))[0] ?? 0);
  const { runs, problems } = await blockService({ dice, oneIn: 120, msMax: 2 * blockedMsMax });
  expect(problems).toEqual([]);
  expect(runs).toBeGreaterThan(15);
}, 120_000);

test("no text made from the grammar of a regular expression blocks the thread, in any field, document or lock file", () => {
  const { runs, problems } = blockThread({
    seed: crypto.getRandomValues(new Uint32Array(1))[0] ?? 0,
    oneTextIn: 96,
    runsEach: 1,
  });
  expect(problems).toEqual([]);
  expect(runs).toBeGreaterThan(150);
});
