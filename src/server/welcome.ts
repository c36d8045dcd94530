/**
 * Prints the first keys once, and commands that work as pasted: a chat, two coding agents, the cost. Each key stands in one command, which
 * puts it into the variable that the others read, so they fit into a terminal's 80 columns. Log collectors would keep printed keys. So with
 * `FIRST_KEYS=file`, and in a fleet unless standard output is a terminal, keys and link are written to a file in the data folder that only
 * its owner can read.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../config.ts";
import type { FirstStart } from "../control-api/first-start.ts";
import { weirCommand, type CommandSettings } from "./weir-command.ts";

type Address = Pick<Config, "publicUrl" | "sandbox" | "slug"> & CommandSettings;
type Destination = Pick<Config, "dataDir" | "firstKeys">;
type Keys = Pick<FirstStart, "key" | "toolsKey">;

interface Greeting {
  /** null: not the first start. */
  first: Keys | null;
  /** A link that signs a person in once; absent: none. */
  signInUrl?: string | null;
  /** What /ready finds missing, such as "catalog: not read yet". */
  problems: readonly string[];
}

/** The welcome of one process. With `FIRST_KEYS=file` the output has neither the keys nor the link. */
export function welcome(config: Address & Destination, greeting: Greeting): void {
  const { first, signInUrl = null } = greeting;
  if (config.firstKeys !== "file") return console.log(greetingText(config, greeting));
  console.log(pages(config, greeting.problems));
  if (first !== null)
    writeApart(config, { name: "first-keys", what: "The first keys are", text: greetingText(config, greeting) });
  else if (signInUrl !== null)
    writeApart(config, { name: "sign-in-link", what: "A link that signs in once is", text: `${signInUrl}\n` });
}

/** What a start prints: the pages, the link to sign in, and the keys if they are new. */
export function greetingText(address: Address, { first, signInUrl = null, problems }: Greeting): string {
  const { sandbox, slug } = address;
  const command = weirCommand(address);
  const keys = first === null ? laterStart(command) : firstStart({ url: address.publicUrl, ...first, sandbox, slug, command });
  const link = signInUrl === null ? "" : `Sign in with this link, which works once:\n\n  ${signInUrl}\n\n`;
  return `${pages(address, problems)}
${link}${keys}`;
}

/** The welcome of a fleet: prints the keys on a terminal, unless the operator chose another place. */
export function welcomeFleet(config: Address & Destination, { first, problems }: { first: Keys; problems: string[] }): void {
  const { firstKeys } = config;
  if (firstKeys === "output" || (firstKeys === null && process.stdout.isTTY)) {
    return console.log(greetingText(config, { first, problems }));
  }
  const text = firstStart({ ...config, ...first, url: config.publicUrl, command: weirCommand(config) });
  writeApart(config, { name: "first-keys", what: "The first keys are", text });
}

function pages({ publicUrl: url }: Pick<Address, "publicUrl">, problems: readonly string[]): string {
  const unready = `Weir has started at ${url} and is not ready: ${problems.join("; ")}

  curl ${url}/ready  shows when it is`;
  return `
${problems.length === 0 ? `Weir is ready at ${url}` : unready}

  ${url}/            what it offers, and whether it works
  ${url}/connectors  the connector catalog
  ${url}/reference   the API reference
`;
}

/** Writes to a file in the data folder that only its owner can read. */
function writeApart({ dataDir }: Destination, { name, what, text }: { name: string; what: string; text: string }): void {
  const path = join(resolve(dataDir), name);
  // An existing file would keep its permissions.
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600, flag: "wx" });
  console.log(`${what} in "${path}", which only its owner can read: copy what you need, then remove the file`);
}

function laterStart(command: string): string {
  return `Keys are stored as hashes, so none can be shown again. Another one:

  ${command} key create --workspace default --owner owner@localhost --name "another key"

With --kind tools it opens the tools API and MCP in place of the models.
`;
}

interface First extends Keys {
  url: string;
  sandbox: boolean;
  slug: string;
  /** The command line in another terminal. */
  command: string;
}

function firstStart({ url: service, key, toolsKey, sandbox, slug, command }: First): string {
  return `The workspace "default" has 10 USD of credit and this key, which is shown only
once. Put it into a variable, in another terminal:

  export WEIR_KEY=${key}

${sandbox ? sandboxCommands(service) : modelsCommand(service)}
See what it cost, and what the key may still spend:

  ${command} log list --limit 1
  curl ${service}/gpt/v1/key -H "Authorization: Bearer $WEIR_KEY"

The tools API, and MCP at ${service}/mcp, take a separate key,
also shown only once. The second command says what it sees:

  export WEIR_TOOLS_KEY=${toolsKey}
  curl ${service}/api/tools/${slug}_get_active_scope \\
    -H "Authorization: Bearer $WEIR_TOOLS_KEY" \\
    -H "Content-Type: application/json" -d '{}'
`;
}

function sandboxCommands(service: string): string {
  return `Stream a chat with the sandbox, a model that echoes:

  curl -N ${service}/gpt/v1/chat/completions \\
    -H "Authorization: Bearer $WEIR_KEY" -H "Content-Type: application/json" \\
    -d '{"model":"sandbox/echo","stream":true,
         "messages":[{"role":"user","content":"Hello"}]}'

Run a coding agent on it, and later on a model that writes code:

  ANTHROPIC_BASE_URL=${service}/gpt ANTHROPIC_AUTH_TOKEN=$WEIR_KEY \\
    ANTHROPIC_MODEL=sandbox/echo claude

  codex -m sandbox/echo -c model_provider=weir \\
    -c model_providers.weir.name=Weir -c model_providers.weir.env_key=WEIR_KEY \\
    -c model_providers.weir.base_url=${service}/gpt/v1
`;
}

function modelsCommand(service: string): string {
  return `See which models can be called, and why others cannot (SANDBOX=on adds one
that needs no provider):

  curl "${service}/gpt/v1/models?all=true" -H "Authorization: Bearer $WEIR_KEY"
`;
}
