import { expect, test } from "bun:test";
import { hostname } from "node:os";
import type { Bus, Topic } from "../../src/backing/bus.ts";
import { fleetState, answerRollCalls } from "../../src/backing/fleet-state.ts";
import { EmbeddedBus } from "../../src/backing/embedded/bus.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { version } from "../../src/process/version.ts";
import { openEmbeddedDatabase } from "../support/servers/databases.ts";

const [clock, log] = [systemClock, silentLog];
const well = async () => ({ ready: true, states: { database: "ok" } });

test("the state names every process that runs, the roles that are missing, and what database and version lack of each other", async () => {
  await using database = await openEmbeddedDatabase();
  const { sql } = database;
  await using bus = new EmbeddedBus({ sql, clock, log });
  using _gateway = answerRollCalls("gateway", { bus, clock, log });
  using _metering = answerRollCalls("metering", { bus, clock, log });
  const state = fleetState({ backing: { sql, reads: sql, bus }, clock, health: well, roles: ["gateway", "metering"] });
  const whole = await state();
  expect(whole).toMatchObject({ ok: true, problems: [], ready: true, version, settlements_waiting: 0 });
  expect(whole.processes.map(({ role, host, pid }) => ({ role, host, pid }))).toEqual(
    ["gateway", "metering"].map((role) => ({ role, host: hostname(), pid: process.pid })),
  );
  expect(whole.schema).toMatchObject({ missing: [], unknown: [] });

  using _background = answerRollCalls("background", { bus, clock, log });
  const joint = fleetState({ backing: { sql, reads: sql, bus }, clock, health: well, roles: ["prober", "mailer", "scanner"] });
  expect((await joint()).problems).toEqual([]);
  _background[Symbol.dispose]();

  await sql`DELETE FROM migrations WHERE name = ${whole.schema?.newest ?? ""}`;
  await sql`INSERT INTO migrations (name, sha256) VALUES ('9999-next.sql', '')`;
  bus.listen("roll-call", () => bus.broadcast("roll-answer", Buffer.from("not one of ours")));
  const other = { role: "mailer", version: "0.0.1", host: "there", pid: 1, started_at: "2026-01-01T00:00:00Z" };
  bus.listen("roll-call", () => bus.broadcast("roll-answer", Buffer.from(JSON.stringify(other))));
  const ill = async () => ({ ready: false, states: { spool: "the disk is full" } });
  const broken = await fleetState({ backing: { sql, reads: sql, bus }, clock, health: ill, roles: ["gateway", "prober"] })();
  expect(broken.problems).toEqual([
    "spool: the disk is full",
    "The database lacks 1 of this version's migrations: weir migrate applies them",
    "The database has 1 migrations that this version does not know: a newer version was started",
    "No process answers as prober",
    `Several versions run: 0.0.1, ${version}`,
  ]);
});

test("servers that do not answer are problems, and the state is shown all the same", async () => {
  const failing = () => {
    throw new Error("away");
  };
  const bus = { broadcast: failing, listen: (_topic: Topic) => ({ [Symbol.dispose]() {} }), backlog: failing } as unknown as Bus;
  const sql = (() => Promise.reject(new Error("away"))) as never;
  const backing = { sql, reads: sql, bus };
  const { ok, problems, processes } = await fleetState({ backing, clock, health: well, roles: ["gateway"] })();
  expect({ ok, processes }).toEqual({ ok: false, processes: [] });
  expect(problems).toEqual([
    "The database's schema cannot be read",
    "No process answers as gateway",
    "The queue of settlements cannot be read",
  ]);
});
