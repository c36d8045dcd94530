import { spawn } from "node:child_process";
import { describe, expect, test } from "bun:test";
import { LoadGenerator } from "../../bench/measure/load-generator.ts";
import { root } from "../../bench/paths.ts";

function startServer(): { url: string; stop(): void } {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("{}") });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => void server.stop(true) };
}

const short = ["--warm-up", "0", "--seconds", "0.2"];

describe("a load generator process", () => {
  test("the generator runs several loads, and reports the cause of one that it cannot run", async () => {
    const { url, stop } = startServer();
    await using generator = new LoadGenerator();
    const load = (...words: string[]) => generator.load(["--url", url, "--key", "key", ...short, ...words]);
    const closed = await load("--connections", "2");
    expect(closed.result).toMatchObject({ failedInAll: 0, mode: "closed loop, 2 connections" });
    expect(closed.cpuSeconds).toBeGreaterThan(0);
    await expect(load("--keys", "/no/such/file")).rejects.toThrow("no such file");
    expect((await load("--rate", "50")).result).toMatchObject({ succeeded: 10, mode: "open loop, 50 requests/s" });
    stop();
  });

  test("the error reports how the generator ended when it dies during a load", async () => {
    const { url, stop } = startServer();
    await using generator = new LoadGenerator();
    const loading = generator.load(["--url", url, "--key", "key", "--seconds", "20"]);
    process.kill(generator.pid, "SIGKILL");
    await expect(loading).rejects.toThrow("The load generator ended without a result (SIGKILL)");
    stop();
  });

  test("the generator ends when its input closes, also during a load", async () => {
    const { url, stop } = startServer();
    const child = spawn(process.execPath, ["bench/load/main.ts"], { cwd: root, stdio: ["pipe", "ignore", "ignore"] });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.stdin.write(`${JSON.stringify(["--url", url, "--key", "key", "--seconds", "60"])}\n`);
    child.stdin.end();
    expect(await ended).toBe(0);
    stop();
  });
});
