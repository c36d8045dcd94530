/** What a page may give an endpoint, and what it gets. `npm run ok` checks the types: if one of these lines compiled, it would fail. */
import { expect, test } from "bun:test";
import { asTyped, type GivenTo } from "../../src/control-api/endpoint.ts";
import type { keyEndpoints } from "../../src/control-api/endpoints/keys.ts";
import type { workspaceEndpoints } from "../../src/control-api/endpoints/workspaces.ts";

test("a call takes the id of the path and the fields of the endpoint, and no others", () => {
  const edits: GivenTo<typeof keyEndpoints.edit>[] = [
    { id: "key-1" },
    { id: "key-1", monthly_spend_limit_usd: "5", rate_limit_rpm: null },
    { id: "key-1", workspace: "w", name: "n" },
    // @ts-expect-error The path names a key.
    { name: "n" },
    // @ts-expect-error There is no such field.
    { id: "key-1", limit: "5" },
    // @ts-expect-error Requests a minute are a number.
    { id: "key-1", rate_limit_rpm: "5" },
  ];
  // @ts-expect-error The path of the list names no key.
  const list: GivenTo<typeof keyEndpoints.list> = { id: "key-1" };
  // @ts-expect-error A workspace has a name.
  const unnamed: GivenTo<typeof workspaceEndpoints.create> = {};
  expect([...edits, list, unnamed]).toHaveLength(8);
});

test("what a person typed stands for any field, which the endpoint then checks", () => {
  const typed: GivenTo<typeof keyEndpoints.edit> = { id: "key-1", rate_limit_rpm: asTyped("many") };
  const features: GivenTo<typeof workspaceEndpoints.edit> = { id: "w", early_access: [asTyped("routing")] };
  expect([typed.rate_limit_rpm, features.early_access]).toEqual([asTyped("many"), [asTyped("routing")]]);
});
