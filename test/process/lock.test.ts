import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "bun:test";
import { ConfigError } from "../../src/process/environment/variables.ts";
import { LockedError, takeLock, takeNumberedFolder } from "../../src/process/lock.ts";
import { canFillDisk } from "../support/processes/full-disk.ts";
import { until } from "../support/until.ts";

const root = await mkdtemp(join(tmpdir(), "weir-lock-"));
afterAll(() => rm(root, { recursive: true, force: true }));

let folders = 0;
const newFolder = () => join(root, `data-${++folders}`);

/**
 * Another process that tries to take the lock of `folder` and prints "taken" or "refused <pid>".
 * @param before the command that starts it @param then the command that it starts after that, whose id it prints too
 */
function startTaker(
  folder: string,
  before: string[] = [],
  then: string[] = [],
): { child: ChildProcess; answer: Promise<string> } {
  const command = [...before, process.execPath, join(import.meta.dir, "../support/processes/take-lock.ts"), folder, ...then];
  const [program = "", ...words] = command;
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
  const answer = once(child.stdout, "data").then(([data]) => String(data).trim());
  return { child, answer };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}

describe("one process owns a data folder", () => {
  test("a second owner is refused with the id of the first, even of a stopped one, until that dies by kill -9", async () => {
    const folder = newFolder();
    const first = startTaker(folder);
    expect(await first.answer).toBe("taken");
    const refusal = await takeLock(folder).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LockedError);
    expect(refusal).toMatchObject({ folder, pid: first.child.pid });
    expect(String(refusal)).toContain(`process ${first.child.pid}`);
    expect(String(refusal)).toContain(folder);
    first.child.kill("SIGSTOP");
    await expect(takeLock(folder)).rejects.toThrow(LockedError);
    await end(first.child, "SIGKILL");
    await using _lock = await takeLock(folder);
    expect(JSON.parse(await readFile(join(folder, "lock"), "utf8"))).toMatchObject({ pid: process.pid });
  });

  test("a folder that cannot be written is refused in one sentence that names it", async () => {
    const refusal = await takeLock("/proc/none").catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ConfigError);
    expect(String(refusal)).toContain('Cannot use the data folder "/proc/none": ENOENT');
  });

  test.skipIf(!canFillDisk)("a process that could not write its name to a full disk blocks no other", async () => {
    const folder = newFolder();
    const unlucky = startTaker(folder, ["prlimit", "--fsize=0", "--"]);
    expect(await unlucky.answer).toContain("EFBIG");
    expect(await readdir(folder)).toEqual([]);
    await using _lock = await takeLock(folder);
    await end(unlucky.child, "SIGKILL");
  });

  test("a process that a dead owner started does not keep its lock", async () => {
    const folder = newFolder();
    const first = startTaker(folder, [], ["sleep", "60"]);
    const child = Number((await first.answer).replace("taken ", ""));
    await end(first.child, "SIGKILL");
    await using _lock = await takeLock(folder);
    expect(process.kill(child, "SIGKILL")).toBe(true);
  });

  test("a process that reuses a dead owner's id does not count as the owner", async () => {
    const folder = newFolder();
    await mkdir(folder);
    await writeFile(join(folder, "lock"), JSON.stringify({ pid: process.ppid, host: hostname() }));
    await using _lock = await takeLock(folder);
    expect(JSON.parse(await readFile(join(folder, "lock"), "utf8"))).toMatchObject({ pid: process.pid });
  });

  test.each(["", "null", "{", '{"pid":1}'])("a lock that a power cut left as %p has no owner", async (left) => {
    const folder = newFolder();
    await mkdir(folder);
    await writeFile(join(folder, "lock"), left);
    await using _lock = await takeLock(folder);
    await expect(takeLock(folder)).rejects.toThrow(LockedError);
  });

  test("the folder contains only the lock of a living owner, and nothing after its release", async () => {
    const folder = newFolder();
    const lock = await takeLock(folder);
    await takeLock(folder).catch(() => {});
    expect(await readdir(folder)).toEqual(["lock"]);
    await lock[Symbol.asyncDispose]();
    expect(await readdir(folder)).toEqual([]);
  });

  test("the lock refuses its own process a second time, and accepts it after a release", async () => {
    const folder = newFolder();
    const first = await takeLock(folder);
    await expect(takeLock(folder)).rejects.toThrow(LockedError);
    await first[Symbol.asyncDispose]();
    await using _second = await takeLock(folder);
    await first[Symbol.asyncDispose]();
    await expect(takeLock(folder)).rejects.toThrow(LockedError);
  });

  test("exactly one of many processes that start at once gets a dead owner's lock", async () => {
    const folder = newFolder();
    const dead = startTaker(folder);
    await dead.answer;
    await end(dead.child, "SIGKILL");
    const takers = Array.from({ length: 5 }, () => startTaker(folder));
    const answer = await Promise.all(takers.map((taker) => taker.answer));
    const winner = takers[answer.indexOf("taken")]?.child.pid;
    expect(answer.filter((word) => word === "taken")).toHaveLength(1);
    expect(answer.filter((word) => word === `refused ${winner}`)).toHaveLength(4);
    await Promise.all(takers.map((taker) => end(taker.child, "SIGKILL")));
  });
});

describe("a data folder that containers share has one owner", () => {
  /** Runs a command where it sees no process but its own, and another name of the machine, like a container. */
  const apart = ["unshare", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc", "--"];
  const named = [...apart, "sh", "-c", 'hostname elsewhere && exec "$@"', "sh"];
  const canLiveApart = spawnSync(apart[0] ?? "", [...apart.slice(1), "hostname", "elsewhere"]).status === 0;

  test.skipIf(!canLiveApart)("a process does not take the lock of one that lives in another container", async () => {
    const folder = newFolder();
    const other = startTaker(folder, named);
    expect(await other.answer).toBe("taken");
    const refusal = await takeLock(folder).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LockedError);
    expect(String(refusal)).toContain('process 1 of "elsewhere", which is running');
    const { number, lock } = await takeNumberedFolder(join(folder, ".."), folder.slice(root.length + 1).replace(/-\d+$/, ""));
    await lock[Symbol.asyncDispose]();
    expect(join(root, `data-${number}`)).not.toBe(folder);
    await end(other.child, "SIGKILL");
    await until(() => takeLock(folder).then(Boolean, () => false));
  });
});

describe("processes of a fleet keep their spools in DATA_DIR/<role>-<n>", () => {
  test("each process takes the lowest free number", async () => {
    const dataDir = newFolder();
    await using stack = new AsyncDisposableStack();
    const first = await takeNumberedFolder(dataDir, "gateway");
    const second = await takeNumberedFolder(dataDir, "gateway");
    stack.use(second.lock);
    expect(second.number).toBe(2);
    const metering = await takeNumberedFolder(dataDir, "metering");
    stack.use(metering.lock);
    expect(first).toMatchObject({ number: 1, folder: join(dataDir, "gateway-1") });
    expect(metering).toMatchObject({ number: 1, folder: join(dataDir, "metering-1") });
    await first.lock[Symbol.asyncDispose]();
    const third = await takeNumberedFolder(dataDir, "gateway");
    stack.use(third.lock);
    expect(third.number).toBe(1);
    const fourth = await takeNumberedFolder(dataDir, "gateway");
    stack.use(fourth.lock);
    expect(fourth.number).toBe(3);
  });

  test("a process that starts after a kill -9 takes the spool of the dead one", async () => {
    const dataDir = newFolder();
    const dead = startTaker(join(dataDir, "gateway-1"));
    await dead.answer;
    await end(dead.child, "SIGKILL");
    await writeFile(join(dataDir, "gateway-1", "spool"), "intent");
    const { folder, lock } = await takeNumberedFolder(dataDir, "gateway");
    await using _lock = lock;
    expect(await readFile(join(folder, "spool"), "utf8")).toBe("intent");
  });
});
