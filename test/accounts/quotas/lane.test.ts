/** For whom a person's calls count: names, workspaces or removals open no further lane. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { laneOf, memberLane, operatorLane } from "../../../src/accounts/quotas/lane.ts";
import type { Principal } from "../../../src/accounts/members/principal.ts";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(oneDatabase)("the lane of a person on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  const workspaces: Record<string, string> = {};
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    for (const name of ["first", "second", "third"]) workspaces[name] = await control.workspace(name);
    const join = (workspace: string, email: string) =>
      control.expect("POST", "/members", { body: { workspace, email, role: "member" } });
    await join("second", "both@people.test");
    control.clock.advance(1_000);
    await join("first", "both@people.test");
    for (const email of ["gone1@people.test", "gone2@people.test"]) {
      await join("first", email);
      await control.expect("POST", `/members/${email}/deactivate`, { body: { workspace: "first" } });
    }
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const person = (email: string): Principal => ({ kind: "person", email, carriedBy: "session" });
  const lane = (email: string, named: string | null) => laneOf(person(email), named, database.sql);

  test("is of the named workspace where they are a member, by its name or id, and else of the one that they joined first", async () => {
    const [first, second] = [
      memberLane("both@people.test", workspaces["first"] ?? ""),
      memberLane("both@people.test", workspaces["second"] ?? ""),
    ];
    expect(await lane("both@people.test", "first")).toEqual(first);
    expect(await lane("BOTH@people.test", workspaces["first"] ?? "")).toEqual(first);
    for (const named of [null, "third", "nowhere", "no\u0000where"])
      expect(await lane("both@people.test", named)).toEqual(second);
  });

  test("is shared by all who belong to no workspace any more, and apart for the operator", async () => {
    const [one, other] = [await lane("gone1@people.test", "first"), await lane("gone2@people.test", null)];
    expect(one.group).toBe(other.group);
    expect(one.member).not.toBe(other.member);
    expect(await laneOf({ kind: "operator" }, "first", database.sql)).toEqual(operatorLane);
  });
});
