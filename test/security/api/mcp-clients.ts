/** The official client in both of its eras, through both transports. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { bun, repository } from "../../support/processes/process.ts";

export type Era = "legacy" | "auto";

export interface McpService {
  url: string;
  key: string;
  /** Files below it may be attached over stdio. */
  attachRoot: string;
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
