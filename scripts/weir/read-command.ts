/**
 * Parses a command line into its verb and the fields that it sends, and writes the help. Verbs are data (`verbs.ts`): the help, the request
 * to the control API and the suggestions for typing errors come from the same rows. Only the kind of a value is checked here; the service
 * checks the value.
 *
 * Node's `parseArgs` splits the words; the messages about mistakes are Weir's own, and suggest the nearest flag. One message names
 * everything that is missing, or else the first wrong value.
 */
import { parseArgs } from "node:util";
import { nearest } from "../../src/kernel/text.ts";
import { columns } from "./print.ts";
import { UsageError } from "./value.ts";
import { isRemote, nameOf, type LocalVerb, type RemoteVerb, type Verb, type Flag } from "./verb.ts";
import { verbs } from "./verbs.ts";

type Command =
  /** `verbs` are those that the words name, or all verbs. */
  | { kind: "help"; verbs: readonly Verb[] }
  | { kind: "version" }
  | { kind: "call"; verb: RemoteVerb; fields: Record<string, unknown>; as: string | null; json: boolean }
  | { kind: "local"; verb: LocalVerb; fields: Record<string, unknown>; json: boolean };

/**
 * @param hasToolsKey asked of a verb for which a tools key is enough: whether it gets one, which belongs to one workspace
 * @throws UsageError with the mistake and, for an unknown word, the nearest known one
 */
export function readCommand(words: string[], hasToolsKey: () => boolean = () => false): Command {
  if (words.length === 1 && words[0] === "--version") return { kind: "version" };
  const flagsAt = words.findIndex((word) => word.startsWith("-"));
  const names = flagsAt === -1 ? words : words.slice(0, flagsAt);
  const rest = words.slice(names.length);
  const matching = verbsNamed(names, rest);
  const [verb] = matching;
  // A noun that does one thing has no verb.
  const isNamed = names.length > 1 || (names.length === 1 && verb?.verb === "");
  if (!verb || !isNamed) return helpFor(matching, rest);
  const flags = readFlags(verb, [...names.slice(verb.verb === "" ? 1 : 2), ...rest]);
  const { values } = flags;
  if (values["help"] === true) return { kind: "help", verbs: [verb] };
  const fields = readFields(verb, flags, hasToolsKey);
  if (verb.confirm !== undefined && values["yes"] !== true) throw new UsageError(`${verb.confirm}: add --yes to do it`);
  const { as } = values;
  const json = values["json"] === true;
  const actor = typeof as === "string" ? as : null;
  if (isRemote(verb)) return { kind: "call", verb, fields, as: actor, json };
  if (as !== undefined) throw new UsageError(`Cannot act as "${as}": ${nameOf(verb)} calls no service`);
  return { kind: "local", verb, fields, json };
}

/** The named verb, or all verbs of the noun, or all verbs. */
function verbsNamed([noun, name, ...more]: string[], rest: string[]): readonly Verb[] {
  if (noun === undefined) return verbs;
  const ofNoun = verbs.filter((verb) => verb.noun === noun);
  if (ofNoun.length === 0) throw unknown({ what: "noun", word: noun, known: verbs.map((verb) => verb.noun) });
  if (name === undefined) return ofNoun;
  const named = ofNoun.filter((verb) => verb.verb === name);
  const [alone] = ofNoun;
  if (named.length === 0 && ofNoun.length === 1 && alone?.verb === "" && alone.operand) return ofNoun;
  if (named.length === 0) throw unknown({ what: `${noun} verb`, word: name, known: ofNoun.map(({ verb }) => verb) });
  if (more.length > 0 && !named[0]?.operand && !rest.includes("--help"))
    throw new UsageError(`Cannot take "${more.join(" ")}": values are given by flags`);
  return named;
}

function helpFor(matching: readonly Verb[], rest: string[]): Command {
  const wantsHelp = rest.length > 0 && rest.every((word) => word === "--help" || word === "-h");
  if (wantsHelp) return { kind: "help", verbs: matching };
  const [first] = matching;
  const hint = matching.length === verbs.length ? "a noun and a verb are" : `a verb of ${first?.noun} is`;
  throw new UsageError(`${hint} missing; --help lists them`);
}

function unknown({ what, word, known }: { what: string; word: string; known: string[] }): UsageError {
  return new UsageError(`There is no ${what} "${word}": the nearest is "${nearest(word, known)}"`);
}

/** By their names; flags without a value have `true`. */
type Values = Record<string, string | true | undefined>;

/** Flags of every verb. */
const common = { as: { type: "string" }, json: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;

/** @throws UsageError for a flag that is unknown, given twice, or without its value */
function readFlags(verb: Verb, words: string[]): { values: Values; operands: string[] } {
  const options: Record<string, { type: "string" | "boolean"; short?: string }> = {
    ...common,
    ...(verb.confirm !== undefined && { yes: { type: "boolean" } }),
    ...Object.fromEntries(verb.flags.map(({ name, value }) => [name, { type: value.placeholder === "" ? "boolean" : "string" }])),
  };
  const { tokens } = parseArgs({ args: words, options, strict: false, tokens: true, allowPositionals: true });
  const values: Values = {};
  const operands: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined) throw unknownFlag(rawName, Object.keys(options));
    if (values[name] !== undefined) throw new UsageError(`${rawName} is given twice`);
    values[name] = option.type === "boolean" ? withoutValue(rawName, value) : withValue(rawName, value, Object.keys(options));
  }
  const [first] = operands;
  if (first !== undefined && !verb.operand && values["help"] === undefined) {
    throw new UsageError(`Cannot take "${first}": values are given by flags`);
  }
  return { values, operands };
}

/** The operand and the flags as fields of the request. @throws UsageError with all that is missing, or the first value of the wrong kind */
function readFields(
  verb: Verb,
  { values, operands }: ReturnType<typeof readFlags>,
  hasToolsKey: () => boolean,
): Record<string, unknown> {
  const { operand, flags } = verb;
  const [given, ...more] = operands;
  const isNeeded = (flag: Flag): boolean =>
    flag.required === true || (flag.requiredUnlessAs === true && values["as"] === undefined);
  const isKeys = ({ field }: Flag): boolean =>
    field === "workspace" && verb.takesToolsKey === true && values["as"] === undefined && hasToolsKey();
  const absent = flags.filter((flag) => isNeeded(flag) && values[flag.name] === undefined && !isKeys(flag));
  const missing = [...(operand && given === undefined ? [operand.placeholder] : []), ...absent.map(usageOf)];
  if (missing.length > 0) {
    const names = [missing.slice(0, -1).join(", "), missing.at(-1)].filter(Boolean).join(" and ");
    throw new UsageError(`${names} ${missing.length === 1 ? "is" : "are"} missing\nExample: ${exampleOf(verb)}`);
  }
  if (operand && more.length > 0) {
    throw new UsageError(`Cannot take "${more.join(" ")}": ${nameOf(verb)} takes one ${operand.placeholder}`);
  }
  const fields: Record<string, unknown> = operand ? { [operand.field]: given } : {};
  for (const flag of flags) {
    const value = values[flag.name];
    if (value === undefined) continue;
    const other = flags.find((one) => one !== flag && one.field === flag.field && values[one.name] !== undefined);
    if (other) throw new UsageError(`--${flag.name} and --${other.name} say the same: give one of them`);
    fields[flag.field] = readValue(flag, String(value));
  }
  return fields;
}

/** Such as `--usd USD`. */
function usageOf({ name, value }: Flag): string {
  return value.placeholder === "" ? `--${name}` : `--${name} ${value.placeholder}`;
}

function readValue(flag: Flag, given: string): unknown {
  try {
    return flag.value.read(given);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`--${flag.name}${error.message.startsWith("takes ") ? "" : ":"} ${error.message}`);
  }
}

/** @throws UsageError also if the next word is a flag, since then the value was forgotten */
function withValue(rawName: string, value: string | undefined, known: string[]): string {
  const isFlag = value?.startsWith("--") && known.includes(value.slice(2));
  if (value === undefined || isFlag) throw new UsageError(`${rawName} needs a value`);
  return value;
}

function withoutValue(rawName: string, value: string | undefined): true {
  if (value === undefined) return true;
  throw new UsageError(`${rawName} takes no value`);
}

function unknownFlag(rawName: string, known: string[]): UsageError {
  const names = known.map((name) => `--${name}`);
  return new UsageError(`There is no flag "${rawName}": the nearest is "${nearest(rawName, names)}"`);
}

/** Values for examples, by the flag's name. */
const samples: Record<string, string> = {
  workspace: "default",
  email: "ada@example.com",
  role: "member",
  name: '"Team A"',
  usd: "25",
  ref: "invoice-17",
  number: "2026-10",
  months: "6",
  url: "https://example.com/hooks/weir",
  connector: "okta",
  credentials: "credentials.json",
  provider: "openai",
  key: "key.txt",
  project: "web-shop",
  product: "Shop",
  kind: "balance",
};

/** Arguments without a flag, by the noun. */
const operandSamples: Record<string, string> = {
  model: "api.json",
  sbom: "sbom.json",
  repository: ".",
  advisories: "advisories/",
};

/** The beginning of ids, by the noun. */
const idPrefixes: Record<string, string> = {
  key: "key-",
  session: "ses-",
  "top-up": "top-",
  log: "gen-",
  prompt: "gen-",
  alert: "alert-",
  "alert-webhook": "hook-",
  connection: "con-",
  "provider-key": "own-",
  product: "prd_",
  project: "prj_",
  finding: "fnd_",
};

/** A command that works as an example of a verb: its own, or one with a value for each required flag. */
export function exampleOf(verb: Verb): string {
  const { noun, verb: name, operand, flags, confirm, example } = verb;
  const required = flags.filter((flag) => flag.required).map((flag) => `--${flag.name} ${sampleOf(flag, noun)}`);
  const generated = [
    ...(operand ? [operandSamples[noun] ?? operand.placeholder] : []),
    ...required,
    ...(confirm === undefined ? [] : ["--yes"]),
  ].join(" ");
  return ["npm run -s weir --", noun, name, example ?? generated].filter((word) => word !== "").join(" ");
}

function sampleOf({ name, value }: Flag, noun: string): string {
  if (name === "id") return `${idPrefixes[noun] ?? ""}…`;
  return samples[name] ?? value.placeholder.split("|")[0] ?? "";
}

const commonFlags: readonly [string, string][] = [
  ["--as EMAIL", "act as this member of the workspace, under that member's role"],
  ["--json", "print one JSON document and nothing else"],
  ["--help", "show this"],
];

const environment =
  "WEIR_URL: address of the service (default http://127.0.0.1:$PORT). WEIR_TOKEN: operator token (default DATA_DIR/operator-token), or WEIR_TOKEN_FILE. WEIR_TOOLS_KEY: tools key, enough for uploads, findings and VEX of its workspace, which needs no --workspace then.";

/** The usage of one verb, or the list of verbs. */
export function help(verbs: readonly Verb[]): string {
  const [only] = verbs;
  return only && verbs.length === 1 ? helpOfVerb(only) : helpOfVerbs(verbs);
}

function helpOfVerbs(verbs: readonly Verb[]): string {
  const rows = verbs.map((verb): [string, string] => [nameOf(verb), verb.summary]);
  const usage = "weir <noun> <verb> [--flag value] [--json], or weir --version";
  const [, second = verbs[0]] = verbs;
  const example = second ? [`Example: ${exampleOf(second)}`, ""] : [];
  return [usage, "", columns(rows), "", columns(commonFlags), "", ...example, environment].join("\n");
}

function helpOfVerb(verb: Verb): string {
  const yes: [string, string][] = verb.confirm === undefined ? [] : [["--yes", `${verb.confirm}; do it anyway`]];
  const operand = verb.operand ? [[verb.operand.placeholder, verb.operand.help] as const] : [];
  const rows = [...operand, ...verb.flags.map((flag): [string, string] => [usageOf(flag), flag.help]), ...yes, ...commonFlags];
  const required = verb.flags.filter((flag) => flag.required).map((flag) => ` ${usageOf(flag)}`);
  const named = verb.operand ? ` ${verb.operand.placeholder}` : "";
  const usage = `weir ${nameOf(verb)}${named}${required.join("")}${verb.confirm === undefined ? "" : " --yes"} [--flag value]`;
  return [usage, "", verb.summary, "", columns(rows), "", `Example: ${exampleOf(verb)}`, "", environment].join("\n");
}
