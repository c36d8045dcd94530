/** How the blocks of each language are checked. A block that is not in this table says in its first line why it is not checked. */
import { spawnSync } from "node:child_process";
import { load } from "js-yaml";
import { ModelsFile, ProviderEntry } from "../../src/gateway/models/schema.ts";
import { Connector, DeclaredProbe, Evidence } from "../../src/connectors/catalog/files/schema.ts";
import { Value } from "@sinclair/typebox/value";
import type { TSchema } from "@sinclair/typebox";
import { jsonProblems, problemsOf } from "./check-command.ts";
import { variables } from "./known.ts";
import { shellCommands } from "./shell-commands.ts";
import type { Block, Page } from "./pages.ts";

/** @returns what is wrong with the block */
type Check = (block: Block, page: Page) => string[];

/** `json schema=provider` */
const schemas: Record<string, TSchema> = {
  provider: ProviderEntry,
  models: ModelsFile,
  connector: Connector,
  evidence: Evidence,
  probe: DeclaredProbe,
};

export const checks: Record<string, Check> = {
  sh: checkShell,
  json: checkJson,
  ts: ({ text }) => syntaxProblems(text, "ts"),
  js: ({ text }) => syntaxProblems(text, "js"),
  // checked together, by one process: pythonProblems
  python: () => [],
  yaml: checkYaml,
  toml: ({ text }) => thrown(() => Bun.TOML.parse(text)),
  env: ({ text }) => text.split("\n").flatMap(variableProblems),
  ini: ({ text }) => text.split("\n").filter((line) => !/^(?:\[[\w@.-]+\]|[A-Za-z]\w*=.+|[#;].*|)$/.test(line)),
};

/** The reason after `unchecked:`; null: the block has to be checked. */
export function reasonOf({ info }: Block): string | null {
  const [, reason] = /^unchecked: (.{10,})$/.exec(info) ?? [];
  return reason ?? null;
}

/** All blocks in one process. @returns null where there is no python3 */
export function pythonProblems(blocks: Block[]): string[] | null {
  if (Bun.which("python3") === null) return null;
  const script = `import ast, json, sys
for block in json.load(sys.stdin):
    try:
        ast.parse(block["text"])
    except SyntaxError as error:
        print(block["at"] + ": " + str(error))`;
  const { stdout, status, stderr } = spawnSync("python3", ["-c", script], { input: JSON.stringify(blocks), encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout.split("\n").filter((line) => line !== "");
}

function checkShell({ text }: Pick<Block, "text">, { text: page }: Page): string[] {
  const isUsed = (name: string): boolean =>
    new RegExp(`\\$\\{?${name}\\b|process\\.env\\.${name}\\b|environ\\["${name}"\\]`).test(page);
  return thrown(() => shellCommands(text)).concat(shellCommandsOrNone(text).flatMap((command) => problemsOf(command, isUsed)));
}

function shellCommandsOrNone(text: string): ReturnType<typeof shellCommands> {
  try {
    return shellCommands(text);
  } catch {
    return [];
  }
}

function checkJson({ text, info }: Block): string[] {
  const problems = jsonProblems(text);
  const [, name] = /^schema=(\w+)$/.exec(info) ?? [];
  if (problems.length > 0 || name === undefined) return problems;
  const schema = schemas[name];
  if (schema === undefined) return [`there is no schema ${name}`];
  return [...Value.Errors(schema, JSON.parse(text))].map(({ path, message }) => `${path}: ${message}`);
}

/** Jobs of a CI have commands of Weir as texts. */
function checkYaml({ text }: Block, page: Page): string[] {
  const problems = thrown(() => load(text));
  if (problems.length > 0) return problems;
  return textsIn(load(text))
    .flatMap((command) => command.match(/(?:^|\s)(weir \w.*)$/s)?.[1] ?? [])
    .flatMap((command) => checkShell({ text: command }, page));
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function syntaxProblems(text: string, loader: "ts" | "js"): string[] {
  return thrown(() => new Bun.Transpiler({ loader }).transformSync(text));
}

function variableProblems(line: string): string[] {
  const [, name] = /^(?:export )?([A-Z_]+)=/.exec(line) ?? [];
  if (name === undefined) return line === "" || line.startsWith("#") ? [] : [`${line} sets no variable`];
  return variables.has(name) ? [] : [`Weir reads no variable ${name}`];
}

function thrown(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
