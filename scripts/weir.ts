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

/** A tools key in the environment stands over the token of a service on this machine, which opens more than the command needs. */
function readService(takesToolsKey: boolean): Service {
  const { url, token, toolsKey, dataDir } = readClient();
  const given = token ?? (takesToolsKey ? toolsKey : null);
  return {
    url,
    token: given?.reveal() ?? readToken(join(dataDir, "operator-token"), { takesToolsKey, hasKey: toolsKey !== null }),
  };
}

function hasToolsKey(): boolean {
  const { token, toolsKey } = readClient();
  return token === null && toolsKey !== null;
}

function readToken(path: string, { takesToolsKey, hasKey }: { takesToolsKey: boolean; hasKey: boolean }): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    const key = takesToolsKey ? ", set WEIR_TOOLS_KEY to a tools key" : "";
    const reason = hasKey
      ? "This command needs the operator token, which WEIR_TOOLS_KEY is not, and there is none"
      : "There is no operator token";
    throw new ConfigError(
      `${reason} at ${path}: set WEIR_TOKEN${key}, or set DATA_DIR to the folder of a service that runs on this machine`,
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
  { service: readService, files: readClient, hasToolsKey },
  {
    out: (text) => stdout.write(`${text}\n`),
    error: (text) => stderr.write(`${text}\n`),
    screen: stdout.isTTY ? { width: stdout.columns, colours: stdout.hasColors() } : null,
    coloursErrors: stderr.isTTY && stderr.hasColors(),
  },
);
