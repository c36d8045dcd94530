/** Checks a command that a page prints. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCommand } from "../../scripts/weir/read-command.ts";
import { verbs } from "../../scripts/weir/verbs.ts";
import { claudeVariables, isServed, npmScripts, otherPrograms, variables } from "./known.ts";
import type { ShellCommand } from "./shell-commands.ts";

/** Flags that take a file, which a page cannot have. */
const fileFlags = new Set(
  verbs.flatMap(({ flags }) => flags.filter(({ value }) => value.placeholder === "FILE|-").map(({ name }) => `--${name}`)),
);
const emptyFile = join(mkdtempSync(join(tmpdir(), "weir-docs-")), "object.json");
writeFileSync(emptyFile, "{}");

const services = /^(?:http:\/\/127\.0\.0\.1:8080|https:\/\/weir\.example\.com|\$url|\$WEIR_URL)(\/[^?]*)?/;

/** @returns what is wrong with it @param isUsed whether a later command uses this variable, which then is the reader's own */
export function problemsOf({ sets, words }: ShellCommand, isUsed: (variable: string) => boolean): string[] {
  const [program = "", ...rest] = words;
  const known = program === "claude" ? claudeVariables : variables;
  const unknown = sets.filter((name) => !known.has(name) && !isUsed(name));
  return [
    ...unknown.map((name) => `${program === "claude" ? "Claude Code" : "Weir"} reads no variable ${name}`),
    ...(words.length === 0 ? [] : (checks[program] ?? checkOther)(rest, program)),
  ];
}

type Check = (words: string[], program: string) => string[];

const checks: Record<string, Check> = {
  weir: checkWeir,
  npm: checkNpm,
  curl(words) {
    const served = words.flatMap((word) => services.exec(word)?.[1] ?? []).filter((path) => !isServed(path));
    const bodies = words.filter((word, index) => ["-d", "--data"].includes(words[index - 1] ?? "") && word.startsWith("{"));
    return [...served.map((path) => `the service has no path ${path}`), ...bodies.flatMap(jsonProblems)];
  },
};

function checkWeir(words: string[]): string[] {
  const given = words.map((word, index) => (fileFlags.has(words[index - 1] ?? "") ? emptyFile : word));
  try {
    readCommand(given);
    return [];
  } catch (error) {
    return [`weir ${words.join(" ")}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function checkNpm(words: string[]): string[] {
  const [name = "", ...rest] = words.filter((word) => word !== "-s");
  if (["install", "ci", "audit", "sbom"].includes(name)) return [];
  if (name !== "run") return npmScripts.has(name) ? [] : [`npm has no command ${name} here`];
  const [script = "", dashes, ...own] = rest;
  if (!npmScripts.has(script)) return [`package.json has no script ${script}`];
  if (dashes !== undefined && dashes !== "--") return [`npm run ${script} takes its words after --`];
  return script === "weir" ? checkWeir(own) : [];
}

function checkOther(words: string[], program: string): string[] {
  if (program.startsWith("node_modules/.bin/") || program.startsWith("deploy/")) return [];
  if (!otherPrograms.has(program)) return [`${program} is no program that this test knows`];
  const [inside, ...rest] = ["docker", "kubectl"].includes(program) ? commandInside(words) : [];
  return inside === undefined ? [] : (checks[inside] ?? checkOther)(rest, inside);
}

/** The command in `docker compose … exec SERVICE COMMAND` or `kubectl exec POD -- COMMAND`; empty: there is none. */
function commandInside(words: string[]): string[] {
  const at = words.indexOf("exec");
  const after = at === -1 ? [] : words.slice(at + 1);
  const place = after.includes("--") ? after.indexOf("--") : after.findIndex((word) => !word.startsWith("-"));
  return after.slice(place + 1);
}

export function jsonProblems(text: string): string[] {
  try {
    JSON.parse(text);
    return [];
  } catch (error) {
    return [`is no JSON: ${error instanceof Error ? error.message : String(error)}`];
  }
}
