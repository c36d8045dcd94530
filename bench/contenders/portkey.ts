/**
 * Portkey's gateway, the best-known one in TypeScript, from npm. It runs on Node as its documentation recommends for production
 * (`node build/start-server.js`, NODE_ENV=production), with `--headless`, which omits its console. It has no accounts here.
 */
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../scripts/services/ports.ts";
import { peersFolder, root } from "../paths.ts";
import type { Contender, Running } from "./contender.ts";
import { answers, startOneProcess } from "./one-process.ts";
import { agentModel, agentTarget, sameName, openaiTarget, type Provider } from "./provider.ts";

const folder = join(peersFolder, "portkey");
const packageFolder = join(folder, "node_modules/@portkey-ai/gateway");

export function portkey(provider: Provider): Contender {
  return {
    name: "Portkey",
    warmUpSeconds: 10,
    model: sameName,
    agentModel: () => agentModel,
    start: () => start(provider),
  };
}

async function start(provider: Provider): Promise<Running> {
  const port = await freePort();
  const routed = (to: string): string[] => {
    return ["--header", `x-portkey-provider: ${to}`, "--header", `x-portkey-custom-host: http://127.0.0.1:${provider.port}/v1`];
  };
  return startOneProcess({
    child: {
      name: "portkey",
      program: "node",
      arguments: [join(packageFolder, "build/start-server.js"), "--headless", `--port=${port}`],
    },
    serves: () => answers(`http://127.0.0.1:${port}/`),
    prepare: async () => ({
      target: [...openaiTarget(port), ...routed("openai")],
      agentTarget: (api) => [...agentTarget(port, api), ...routed(api === "messages" ? "anthropic" : "openai")],
    }),
  });
}

export function portkeyVersion(): string {
  return String(JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")).version);
}

/** Installs it from the lock file in bench/peers, if it is missing. @throws Error when npm fails */
export async function installPortkey(say: (line: string) => void): Promise<void> {
  const wanted = readFileSync(join(root, "bench/peers/portkey/package-lock.json"), "utf8");
  const present = existsSync(packageFolder) && readFileSync(join(folder, "package-lock.json"), "utf8") === wanted;
  if (present) return;
  say("installing Portkey's gateway in bench/.peers");
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, "bench/peers/portkey"), folder, { recursive: true });
  const npm = spawn("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await new Promise((resolve) => npm.once("exit", resolve).once("error", resolve));
  if (code !== 0) throw new Error(`Cannot install Portkey's gateway: npm ended with ${String(code)}`);
}
