/** The command line: a thin client of the control API of a running service, and a check of catalog files. `npm run -s weir -- --help` lists its commands. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { folderOfCaller, readClientConfig, type ClientConfig } from "../src/config.ts";
import { ConfigError } from "../src/process/environment/variables.ts";
import type { Service } from "./weir/call.ts";
import { run } from "./weir/run.ts";

// The service's data is relative to the project's folder, where it was started. Paths that the user types are relative to the user's folder.
const projectFolder = process.cwd();
process.chdir(folderOfCaller("weir"));

function readClient(): ClientConfig {
  const config = readClientConfig();
  return { ...config, dataDir: resolve(projectFolder, config.dataDir), catalogDir: resolve(projectFolder, config.catalogDir) };
}

function readService(): Service {
  const { url, token, dataDir } = readClient();
  return { url, token: token?.reveal() ?? readToken(join(dataDir, "operator-token")) };
}

function readToken(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    throw new ConfigError(
      `There is no operator token at ${path}: set WEIR_TOKEN, or set DATA_DIR to the folder of a service that runs on this machine`,
    );
  }
}

// The reader of a pipe may end early, as `head` does.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
}

const { stdout, stderr } = process;
process.exitCode = await run(
  process.argv.slice(2),
  { service: readService, files: readClient },
  {
    out: (text) => stdout.write(`${text}\n`),
    error: (text) => stderr.write(`${text}\n`),
    screen: stdout.isTTY ? { width: stdout.columns, colours: stdout.hasColors() } : null,
    coloursErrors: stderr.isTTY && stderr.hasColors(),
  },
);
