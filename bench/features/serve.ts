/** Runs a composed gateway as a process: `bun bench/features/serve.ts STEP KEYS_FILE MODEL`, with the environment of a gateway. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Elysia } from "elysia";
import { openBacking } from "../../src/backing/open-backing.ts";
import { readConfig } from "../../src/config.ts";
import { inferenceRoutes } from "../../src/gateway/api/routes.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { openLog } from "../../src/kernel/log.ts";
import { serverBodyBytesMax } from "../../src/process/limits.ts";
import { openModels } from "../../src/gateway/models/models.ts";
import { pause } from "../until.ts";
import { compose } from "./compose.ts";
import { steps, type ComposedStep } from "./steps.ts";

const [name = "", keysFile = "", model = ""] = process.argv.slice(2);
const clock = systemClock;
const config = readConfig();
const log = openLog(config, "composed");
const stack = new AsyncDisposableStack();
const backing = stack.use(await openBacking({ config, log, clock, role: "composed" }));
const { catalogDir: folder, sandbox, environmentKey } = config;
const models = stack.use(await openModels({ folder, sandbox, ...backing, clock, log, environmentKey, keyring: null }));
while (!isCallable()) await pause(100);
const [key = ""] = readFileSync(keysFile, "utf8").split("\n");
const parts = { step: composedStep(name), config, backing, models, clock, log, folder: join(config.dataDir, name), key, model };
const app = new Elysia({ normalize: false, handler: { standardHostname: false } }).use(
  inferenceRoutes(await compose(parts, stack)),
);
const { server } = app.listen({ port: 0, hostname: "127.0.0.1", idleTimeout: 255, maxRequestBodySize: serverBodyBytesMax });
console.log(`listening ${server?.port}`);

function isCallable(): boolean {
  const found = models.find(model);
  return (
    found !== null && models.usableRoutes(found, { zeroDataRetention: false, earlyAccess: ["embeddings"] }).routes.length > 0
  );
}

/** @returns the step, which must be a composed one */
function composedStep(text: string): ComposedStep {
  const known = steps.find((step) => step.name === text && !["relay", "metering", "prompts"].includes(text));
  if (known === undefined) throw new Error(`There is no composed step "${text}"`);
  return known.name as ComposedStep;
}
