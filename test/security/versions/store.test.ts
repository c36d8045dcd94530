import { describe, expect, test } from "bun:test";
import type { Database } from "../../../src/backing/backing.ts";
import { type PackageName, packageIdentity } from "../../../src/security/versions/ecosystem.ts";
import { packageIds } from "../../../src/security/versions/store.ts";
import { databases } from "../../support/servers/databases.ts";

const lodash: PackageName = { ecosystem: "npm", name: "lodash" };
const flaskLogin: PackageName = { ecosystem: "PyPI", name: "Flask_Login" };

describe.each(databases)("packages in $name", ({ open, runsAll }) => {
  test("one package has one id, in every spelling and for every call", async () => {
    await using database = await open();
    const first = await packageIds([lodash, flaskLogin, lodash], database.sql);
    const again = await packageIds([{ ecosystem: "PyPI", name: "flask.login" }, lodash], database.sql);
    expect([...first.keys()].toSorted()).toEqual(["PyPI flask-login", "npm lodash"]);
    expect(again).toEqual(first);
    expect(await namesIn(database.sql)).toEqual(["Flask_Login", "lodash"]);
  });

  test("ecosystems share no names", async () => {
    await using database = await open();
    const ids = await packageIds([lodash, { ecosystem: "PyPI", name: "lodash" }], database.sql);
    expect(new Set(ids.values()).size).toBe(2);
  });

  if (!runsAll) return;

  test("names are stored with all their characters", async () => {
    await using database = await open();
    const odd: PackageName = { ecosystem: "Maven", name: String.raw`a"b\c{d},e:' NULL 𝒳` };
    const ids = await packageIds([odd], database.sql);
    expect([...ids.keys()]).toEqual([packageIdentity(odd)]);
    expect(await namesIn(database.sql)).toEqual([odd.name]);
  });

  test("asking for none gives none", async () => {
    await using database = await open();
    expect(await packageIds([], database.sql)).toEqual(new Map());
  });

  test("writers that meet over the same new packages, each in an order of its own, all get the same ids", async () => {
    await using database = await open();
    const names = Array.from({ length: 200 }, (_, index): PackageName => ({ ecosystem: "npm", name: `package-${index}` }));
    const orders = [names, names.toReversed(), names.slice(100), names.slice(0, 150).toReversed()];
    const found = await Promise.all(orders.map((order) => database.sql.begin((tx) => packageIds(order, tx))));
    const all = await packageIds(names, database.sql);
    expect(all.size).toBe(200);
    for (const ids of found) for (const [identity, id] of ids) expect(all.get(identity)).toBe(id);
  });
});

async function namesIn(sql: Database): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`SELECT name FROM packages ORDER BY name COLLATE "C"`;
  return rows.map(({ name }) => name);
}
