/**
 * MCP over stdio: `npm run -s mcp -- [--attach-root DIR]`, a client of the running service that WEIR_URL names, with the tools key
 * in WEIR_TOOLS_KEY. It writes only the protocol to stdout.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { folderOfCaller, readMcpConfig } from "../src/config.ts";
import { ConfigError } from "../src/process/environment/variables.ts";
import { mcpServer } from "../src/security/api/mcp-server.ts";
import { help } from "./bootstrap/help.mjs";
import { callService } from "./call-service.ts";

function main(): void {
  const attachRoot = readAttachRoot();
  const { url, key } = readMcpConfig();
  // The slug of the service begins its keys and the names of its operations.
  const [, slug] = /^([a-z][a-z0-9-]*)-mcp-[0-9a-f]{64}$/.exec(key?.reveal() ?? "") ?? [];
  if (key === null || slug === undefined) {
    throw new ConfigError(
      "WEIR_TOOLS_KEY holds no tools key: npm run -s weir -- key create --kind tools --workspace default --owner owner@localhost makes one",
    );
  }
  const service = { url, key, slug, attachRoot: resolve(folderOfCaller("mcp"), attachRoot) };
  serveStdio(() => mcpServer(slug, (operation, input) => callService({ operation, input }, service)), {
    onerror: (error) => process.stderr.write(`mcp: ${error.message}\n`),
  });
}

/** @throws ConfigError */
function readAttachRoot(): string {
  try {
    return parseArgs({ options: { "attach-root": { type: "string", default: "." } } }).values["attach-root"];
  } catch (error) {
    throw new ConfigError(`${error instanceof Error ? error.message : String(error)}\n\n${help.mcp}`, { cause: error });
  }
}

try {
  main();
} catch (error) {
  process.stderr.write(`mcp: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
