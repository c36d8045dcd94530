import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "../support/servers/services.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(30_000);
const root = dirname(dirname(import.meta.dir));

/**
 * A clone with a fake npm that needs no network. It records its runs and creates the package "thing" and, without `--omit=dev`,
 * "development". Bun's binary is the one that runs this test.
 */
async function clone(): Promise<string> {
  const folder = await temporaryFolder("bootstrap");
  cpSync(join(root, "scripts/bootstrap.mjs"), join(folder, "scripts/bootstrap.mjs"));
  cpSync(join(root, "scripts/bootstrap"), join(folder, "scripts/bootstrap"), { recursive: true });
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "package-lock.json"), "{}");
  writeFileSync(
    join(folder, "src/main.ts"),
    `console.log(process.env.NODE_ENV, process.argv.slice(2).join(" ")); process.exit(7);`,
  );
  writeFileSync(join(folder, "scripts/test.ts"), `console.log("tests", process.env.NODE_ENV);`);
  writeFileSync(join(folder, "npm-cli.js"), fakeNpm);
  return folder;
}

const fakeNpm = `
const { appendFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } = require("node:fs");
const all = !process.argv.includes("--omit=dev");
appendFileSync("npm-runs", (all ? "all" : "production") + (existsSync("node_modules/thing/half") ? " over half" : "") + "\\n");
writeFileSync("npm-arguments", process.argv.join(" "));
const begun = existsSync("npm-wait");
mkdirSync("node_modules/thing", { recursive: true });
if (begun) { writeFileSync("node_modules/thing/half", ""); setInterval(() => {}, 1000); }
else {
  if (!existsSync("node_modules/thing/data")) writeFileSync("node_modules/thing/data", "x".repeat(1000));
  if (all) { mkdirSync("node_modules/development", { recursive: true }); writeFileSync("node_modules/development/data", "y"); }
  mkdirSync("node_modules/.bin", { recursive: true });
  if (!existsSync("node_modules/.bin/bun")) symlinkSync(${JSON.stringify(process.execPath)}, "node_modules/.bin/bun");
  const packages = { thing: {}, ...(all ? { development: { dev: true } } : {}) };
  writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages }));
}`;

function command(folder: string) {
  return { cwd: folder, env: { PATH: process.env["PATH"], npm_execpath: join(folder, "npm-cli.js") } };
}

function run(folder: string, ...rest: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync("node", ["scripts/bootstrap.mjs", ...rest], { ...command(folder), encoding: "utf8" });
}

function npmRuns(folder: string): string[] {
  const path = join(folder, "npm-runs");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
}

describe("on a fresh clone", () => {
  test("start installs without development packages or their scripts, once, runs the service and exits with its code", async () => {
    const folder = await clone();
    expect(run(folder, "start", "--flag")).toMatchObject({
      status: 7,
      stdout: "production --flag\n",
      stderr: "Installing packages (this may take a minute)\n",
    });
    expect(npmRuns(folder)).toEqual(["production"]);
    expect(run(folder, "start").stderr).toBe("");
    // So that every installed file has a digest in the lock file.
    expect(readFileSync(join(folder, "npm-arguments"), "utf8")).toContain("--ignore-scripts");
  });

  test("--help explains the command, and installs and starts nothing", async () => {
    const folder = await clone();
    const { status, stdout } = run(folder, "start", "--help");
    expect([status, npmRuns(folder)]).toEqual([0, []]);
    expect(stdout).toContain("Example: PORT=8090 DATA_DIR=/srv/weir npm start");
  });

  test("a test after a start adds the development packages, and a later start keeps them", async () => {
    const folder = await clone();
    run(folder, "start");
    expect(run(folder, "test").stdout).toBe("tests undefined\n");
    run(folder, "start");
    writeFileSync(join(folder, "package-lock.json"), '{"new":1}');
    run(folder, "start");
    expect(npmRuns(folder)).toEqual(["production", "all", "all"]);
  });

  test("Bun's allocator gets the settings of the operations page, and the user's where they are set", async () => {
    const folder = await clone();
    writeFileSync(
      join(folder, "src/main.ts"),
      `const { env } = process; console.log(env.MIMALLOC_PURGE_DELAY, env.MIMALLOC_PURGE_HOLES, env.MIMALLOC_PURGE_HOLES_MIN_INTERVAL);`,
    );
    expect(run(folder, "start").stdout).toBe("5000 1 10000\n");
    const { cwd, env } = command(folder);
    const otherwise = { cwd, env: { ...env, MIMALLOC_PURGE_HOLES: "0" }, encoding: "utf8" } as const;
    expect(spawnSync("node", ["scripts/bootstrap.mjs", "start"], otherwise).stdout).toBe("5000 0 10000\n");
  });

  test("an unknown script is refused with the list of all scripts", async () => {
    expect(run(await clone(), "strat")).toMatchObject({ status: 1, stderr: expect.stringContaining("start, test, ok") });
  });
});

describe("from any state of node_modules", () => {
  async function installed(): Promise<string> {
    const folder = await clone();
    run(folder, "start");
    return folder;
  }

  test("the next start installs a changed lock file", async () => {
    const folder = await installed();
    writeFileSync(join(folder, "package-lock.json"), '{"changed":true}');
    expect(run(folder, "start").status).toBe(7);
    expect(npmRuns(folder)).toHaveLength(2);
  });

  test("the next start restores a deleted package", async () => {
    const folder = await installed();
    rmSync(join(folder, "node_modules/thing"), { recursive: true });
    run(folder, "start");
    expect(readFileSync(join(folder, "node_modules/thing/data"))).toHaveLength(1000);
  });

  test("the next start restores a truncated file, which npm alone would keep", async () => {
    const folder = await installed();
    truncateSync(join(folder, "node_modules/thing/data"), 10);
    run(folder, "start");
    expect(readFileSync(join(folder, "node_modules/thing/data"))).toHaveLength(1000);
  });

  test("a package that unpacked more files into itself does not count as damaged", async () => {
    const folder = await installed();
    writeFileSync(join(folder, "node_modules/thing/unpacked"), "on first use");
    run(folder, "start");
    expect(npmRuns(folder)).toHaveLength(1);
  });

  test("the next start first removes what a killed install left", async () => {
    const folder = await clone();
    writeFileSync(join(folder, "npm-wait"), "");
    const broken = spawn("node", ["scripts/bootstrap.mjs", "start"], { ...command(folder), detached: true, stdio: "ignore" });
    await until(() => existsSync(join(folder, "node_modules/thing/half")));
    process.kill(-(broken.pid ?? 0), "SIGKILL");
    await once(broken, "exit");
    rmSync(join(folder, "npm-wait"));
    expect(run(folder, "start").status).toBe(7);
    expect(npmRuns(folder)).toEqual(["production", "production"]);
    expect(existsSync(join(folder, "node_modules/thing/half"))).toBe(false);
  });

  test("npm checks packages that a person installed, and they stay", async () => {
    const folder = await clone();
    spawnSync("node", ["npm-cli.js"], command(folder));
    run(folder, "start");
    expect(npmRuns(folder)).toEqual(["all", "all"]);
    expect(existsSync(join(folder, "node_modules/development"))).toBe(true);
  });

  test("the binary of the platform package replaces Bun's stub, and Bun's install script, which may download another, never runs", async () => {
    const folder = await installed();
    const stub = join(folder, "node_modules/bun/bin/bun.exe");
    rmSync(join(folder, "node_modules/.bin/bun"));
    symlinkSync("../bun/bin/bun.exe", join(folder, "node_modules/.bin/bun"));
    mkdirSync(dirname(stub), { recursive: true });
    writeFileSync(stub, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    writeFileSync(join(folder, "node_modules/bun/install.js"), `require("node:fs").writeFileSync("it-ran", "")`);
    const platform = join(folder, "node_modules/@oven/bun-this-platform/bin");
    mkdirSync(platform, { recursive: true });
    symlinkSync(process.execPath, join(platform, "bun"));
    expect(run(folder, "start").status).toBe(7);
    expect(spawnSync(join(folder, "node_modules/.bin/bun"), ["--version"]).status).toBe(0);
    expect(existsSync(join(folder, "node_modules/bun/it-ran"))).toBe(false);
  });

  test("the error where no Bun works names the remedy", async () => {
    const folder = await installed();
    rmSync(join(folder, "node_modules/.bin/bun"));
    writeFileSync(join(folder, "node_modules/.bin/bun"), "#!/bin/sh\nexit 1\n".padEnd(process.execPath.length), { mode: 0o755 });
    const refusal = { status: 1, stdout: "", stderr: expect.stringMatching(/^Cannot run Bun on .*Remove node_modules/s) };
    expect(run(folder, "start")).toMatchObject(refusal);
  });
});

describe("several starts at once", () => {
  test("only one of them installs", async () => {
    const folder = await clone();
    const both = [1, 2, 3].map(() => spawn("node", ["scripts/bootstrap.mjs", "start"], { ...command(folder), stdio: "ignore" }));
    const codes = await Promise.all(both.map(async (child) => (await once(child, "exit"))[0]));
    expect(codes).toEqual([7, 7, 7]);
    expect(npmRuns(folder)).toEqual(["production"]);
    expect(readdirSync(join(folder, "node_modules")).filter((name) => name.startsWith(".installing"))).toEqual([]);
  });
});

describe("signals", () => {
  const service = `
    let count = 0;
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {
      console.log(signal, ++count);
      if (count === 1) setTimeout(() => process.exit(0), 900);
    });
    setInterval(() => {}, 1000);
    console.log("up", process.pid);`;

  async function started(): Promise<{ pid: number; servicePid: number; output: () => string; ended: Promise<unknown[]> }> {
    const folder = await clone();
    writeFileSync(join(folder, "src/main.ts"), service);
    const child = spawn("node", ["scripts/bootstrap.mjs", "start"], {
      ...command(folder),
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (data) => (output += String(data)));
    // By then all of its output has arrived, also that of the service.
    const ended = once(child, "close");
    await until(() => /^up \d+\n/.test(output), 20_000);
    return { pid: child.pid ?? 0, servicePid: Number(output.split(" ")[1]), output: () => output, ended };
  }

  test("a Ctrl-C, which the terminal and npm both send, reaches the service once", async () => {
    const { pid, output, ended } = await started();
    process.kill(-pid, "SIGINT");
    process.kill(pid, "SIGINT");
    expect(await ended).toEqual([0, null]);
    expect(output().split("\n").slice(1)).toEqual(["SIGINT 1", ""]);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("a %s to the bootstrap process alone reaches the service once", async (signal) => {
    const { pid, output, ended } = await started();
    process.kill(pid, signal);
    expect(await ended).toEqual([0, null]);
    expect(output().split("\n").slice(1)).toEqual([`${signal} 1`, ""]);
  });

  test("a kill -9 of the bootstrap process leaves no service behind", async () => {
    const { pid, servicePid, ended } = await started();
    expect(isRunning(servicePid)).toBe(true);
    process.kill(pid, "SIGKILL");
    await ended;
    await until(() => !isRunning(servicePid));
  });
});

function isRunning(pid: number): boolean {
  const found = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return found.status === 0 && !found.stdout.startsWith("Z");
}
