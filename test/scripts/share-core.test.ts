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
  "on two cores, processes that share a core run on the last one allowed to them; elsewhere they stay where they are",
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

test.skipIf(!canMove)(
  "on two cores, a process with a core of its own runs on the first; elsewhere it stays where it is",
  async () => {
    const child = spawn("sleep", ["60"]);
    try {
      await once(child, "spawn");
      takeFirstCore(child.pid ?? 0);
      const own = coresOf("self") ?? "";
      expect(coresOf(child.pid ?? 0)).toBe(availableParallelism() === 2 ? /^\d+/.exec(own)?.[0] : own);
    } finally {
      child.kill("SIGKILL");
    }
  },
);

test("a server written in Go starts with one thread where it gets one core, and with all elsewhere", () => {
  expect(goStart().environment).toEqual(availableParallelism() === 2 ? { GOMAXPROCS: "1" } : {});
});

test.skipIf(process.platform !== "linux")(
  "on two cores, the server's timers may be five milliseconds late; elsewhere they are not changed",
  () => {
    const [command = "", ...words] = [...goStart().prefix, "cat", "/proc/self/timerslack_ns"];
    const slack = spawnSync(command, words, { encoding: "utf8" }).stdout;
    expect(slack).toBe(availableParallelism() === 2 ? "5000000\n" : readFileSync("/proc/self/timerslack_ns", "utf8"));
  },
);
