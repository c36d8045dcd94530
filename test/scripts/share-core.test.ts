import { expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { goStart, shareCore, takeFirstCore } from "../../scripts/services/share-core.ts";

const coresOf = (pid: number | string): string | undefined =>
  /^Cpus_allowed_list:\s*(.+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];

const canMove = process.platform === "linux" && spawnSync("taskset", ["--version"]).status === 0;

test.skipIf(!canMove)(
  "on two cores processes that share one run on the last that they may run on; elsewhere they stay",
  async () => {
    const children = [1, 2].map(() => spawn("sleep", ["60"]));
    try {
      await Promise.all(children.map((child) => once(child, "spawn")));
      const pids = children.flatMap(({ pid }) => pid ?? []);
      shareCore(pids);
      const own = coresOf("self") ?? "";
      const expected = availableParallelism() === 2 ? /\d+$/.exec(own)?.[0] : own;
      expect(pids.map(coresOf)).toEqual([expected, expected]);
    } finally {
      for (const child of children) child.kill("SIGKILL");
    }
  },
);

test.skipIf(!canMove)("on two cores whoever is to have one to itself runs on the first; elsewhere it stays", async () => {
  const child = spawn("sleep", ["60"]);
  try {
    await once(child, "spawn");
    takeFirstCore(child.pid ?? 0);
    const own = coresOf("self") ?? "";
    expect(coresOf(child.pid ?? 0)).toBe(availableParallelism() === 2 ? /^\d+/.exec(own)?.[0] : own);
  } finally {
    child.kill("SIGKILL");
  }
});

test("a server written in Go is started for the one core that it will have, and elsewhere for all", () => {
  expect(goStart().environment).toEqual(availableParallelism() === 2 ? { GOMAXPROCS: "1" } : {});
});

test.skipIf(process.platform !== "linux")(
  "on two cores its timers may be five milliseconds late; elsewhere they stay as they are",
  () => {
    const [command = "", ...words] = [...goStart().prefix, "cat", "/proc/self/timerslack_ns"];
    const slack = spawnSync(command, words, { encoding: "utf8" }).stdout;
    expect(slack).toBe(availableParallelism() === 2 ? "5000000\n" : readFileSync("/proc/self/timerslack_ns", "utf8"));
  },
);
