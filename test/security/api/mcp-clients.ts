/** The official client in both of its eras, through both transports, and the process that it calls. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { atEnd } from "../../support/processes/at-end.ts";
import { bun, repository } from "../../support/processes/process.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { startGithub } from "../repositories/github-stub.ts";

export type Era = "legacy" | "auto";

export interface McpService {
  url: string;
  key: string;
  /** Files below it may be attached over stdio. */
  attachRoot: string;
}

interface CalledFleet {
  fleet: Fleet;
  key: string;
}

let started: Promise<CalledFleet> | null = null;

/** One process and one tools key for both files, with a stub in place of GitHub. The end of the test process stops it. */
export function mcpFleet(): Promise<CalledFleet> {
  return (started ??= start());
}

async function start(): Promise<CalledFleet> {
  const stack = new AsyncDisposableStack();
  atEnd(() => stack.disposeAsync());
  const github = stack.use(startGithub({ "go.mod": "module m\ngo 1.21\nrequire golang.org/x/text v0.3.0\n" }));
  const fleet = stack.use(
    await Fleet.start({
      services: null,
      inTest: true,
      environment: { GITHUB_API_URL: github.url, MCP_ORIGINS: "https://Inspector.example.com, vscode-webview://a1b2" },
    }),
  );
  return { fleet, key: await fleet.operator().agentKey() };
}

export function mcpClient(era: Era): Client {
  return new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: era } });
}

export async function overHttp(era: Era, { url, key }: McpService): Promise<Client> {
  const connected = mcpClient(era);
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await connected.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return connected;
}

export async function overStdio(era: Era, { url, key, attachRoot }: McpService): Promise<Client> {
  const connected = mcpClient(era);
  const args = ["scripts/mcp.ts", "--attach-root", attachRoot];
  const env = { PATH: process.env["PATH"] ?? "", WEIR_URL: url, WEIR_TOOLS_KEY: key };
  await connected.connect(new StdioClientTransport({ command: bun, args, env, cwd: repository, stderr: "ignore" }));
  return connected;
}
