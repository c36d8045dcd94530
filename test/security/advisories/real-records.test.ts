/** All records of golang/vulndb and of the Python advisory database; WEIR_TEST_DATA names their folder. */
import { describe, expect, test } from "bun:test";
import { type Advisory, isCve } from "../../../src/security/advisories/advisory.ts";
import { groupAliases, groupsByName } from "../../../src/security/advisories/alias-groups.ts";
import { chooseSeverity, factsOf } from "../../../src/security/advisories/issue.ts";
import { readArchive } from "../../support/security/advisories.ts";
import { testData } from "../../support/test-data.ts";

const sources = [
  { name: "golang-vulndb-osv.tar.gz", records: 4291 },
  { name: "pypa-advisories-a-to-m.tar.gz", records: 983 },
];
const paths = sources.map(({ name }) => testData(name));
const absent = paths.includes(null);

async function advisoriesOf(path: string | null): Promise<{ advisories: Advisory[]; failures: string[] }> {
  const readings = await readArchive(path ?? "");
  return {
    advisories: readings.flatMap((reading) => ("advisory" in reading ? [reading.advisory] : [])),
    failures: readings.flatMap((reading) => ("failure" in reading ? [`${reading.name} ${reading.failure}`] : [])),
  };
}

describe.skipIf(absent)("real records (WEIR_TEST_DATA)", () => {
  test.each(sources)("all $records of $name are read, none fails", async ({ name, records }) => {
    const { advisories, failures } = await advisoriesOf(testData(name));
    expect(failures).toEqual([]);
    expect(new Set(advisories.map(({ id }) => id)).size).toBe(records);
  });

  test("every issue has at most one CVE id, and every id leads to an issue", async () => {
    const advisories = (await Promise.all(paths.map(advisoriesOf))).flatMap((read) => read.advisories);
    const groups = groupAliases(advisories);
    const byName = groupsByName(groups);
    expect(groups.filter(({ ids }) => ids.filter(isCve).length > 1)).toEqual([]);
    expect(advisories.filter(({ id }) => !byName.has(id))).toEqual([]);
    expect(byName.get("GO-2022-0586")?.filter(({ id }) => isCve(id)).length).toBe(4);
  });

  test("every vector is scored, or refused with its record", async () => {
    const { advisories } = await advisoriesOf(testData("pypa-advisories-a-to-m.tar.gz"));
    const judged = advisories.map((advisory) => chooseSeverity({ own: [factsOf(advisory)], shared: [] }));
    expect(judged.flatMap(({ refused }) => refused)).toEqual([]);
    expect(judged.filter(({ severity }) => severity !== null).length).toBeGreaterThan(100);
  });
});
