/** Prints the first keys once, and commands that work as pasted. */
import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../config.ts";
import type { FirstStart } from "../control-api/first-start.ts";

type Address = Pick<Config, "host" | "port" | "sandbox" | "slug">;
type Keys = Pick<FirstStart, "key" | "toolsKey">;

interface Greeting {
  /** null: not the first start. */
  first: Keys | null;
  /** A link that signs a person in once; absent: none. */
  signInUrl?: string | null;
}

export function welcome(address: Address, greeting: Greeting): void {
  console.log(greetingText(address, greeting));
}

/** What a start prints: the pages, the link to sign in, and the keys if they are new. */
export function greetingText({ host, port, sandbox, slug }: Address, { first, signInUrl = null }: Greeting): string {
  const url = urlOf({ host, port });
  const keys = first === null ? laterStart : firstStart({ url, ...first, sandbox, slug });
  return `
Weir is ready at ${url}

  ${url}/            what it offers, and whether it works
  ${url}/connectors  the connector catalog
  ${url}/reference   the API reference

${signInUrl === null ? "" : `Sign in with this link, which works once:\n\n  ${signInUrl}\n\n`}${keys}`;
}

/**
 * For a fleet: prints the keys on a terminal only. Elsewhere log collectors would keep them, so a file in the data folder that only its
 * owner can read gets them.
 */
export function welcomeFleet(config: Address & Pick<Config, "dataDir">, first: Keys): void {
  if (process.stdout.isTTY) return welcome(config, { first });
  const path = join(resolve(config.dataDir), "first-keys");
  // An existing file would keep its permissions.
  rmSync(path, { force: true });
  writeFileSync(path, firstStart({ ...config, ...first, url: urlOf(config) }), { mode: 0o600, flag: "wx" });
  console.log(`The first keys are in "${path}", which only its owner can read: copy them, then remove it`);
}

function urlOf({ host, port }: Pick<Config, "host" | "port">): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

const laterStart = `Keys are stored as hashes, so none can be shown again. Another one:

  npm run -s weir -- key create --workspace default --owner owner@localhost --name "another key"

With --kind tools it opens the tools API and MCP in place of the models.
`;

interface First extends Keys {
  url: string;
  sandbox: boolean;
  slug: string;
}

function firstStart({ url: service, key, toolsKey, sandbox, slug }: First): string {
  const url = `${service}/gpt/v1`;
  const bearer = `-H "Authorization: Bearer ${key}"`;
  return `The workspace "default" has 10 USD of credit and this key, which is shown this once:

  ${key}

${sandbox ? streamLine(url, bearer) : modelsLine(url, bearer)}
See what the key may still spend:

  curl ${url}/key ${bearer}

See what it cost:

  npm run -s weir -- log list --limit 1

The tools API, and MCP at ${service}/mcp, take a key of their own, shown this once as well:

  ${toolsKey}

See what its lists show:

  curl ${service}/api/tools/${slug}_get_active_scope -H "Authorization: Bearer ${toolsKey}" -H "Content-Type: application/json" -d '{}'
`;
}

function streamLine(url: string, bearer: string): string {
  const body = '{"model":"sandbox/echo","stream":true,"messages":[{"role":"user","content":"Hello, weir"}]}';
  return `Stream a chat with the sandbox:

  curl -N ${url}/chat/completions ${bearer} -H "Content-Type: application/json" -d '${body}'
`;
}

function modelsLine(url: string, bearer: string): string {
  return `See which models can be called, and why others cannot (SANDBOX=on adds one that needs no provider):

  curl "${url}/models?all=true" ${bearer}
`;
}
