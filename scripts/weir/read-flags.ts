/**
 * Reads the flags and the operand of one verb, and makes the example of its help.
 *
 * Node's `parseArgs` splits the words; the sentences about mistakes are Weir's own, and name the nearest flag. All that is missing is named at
 * once, a wrong value alone.
 */
import { parseArgs } from "node:util";
import { nearest } from "../../src/kernel/text.ts";
import { UsageError } from "./value.ts";
import { nameOf, type Flag, type Verb } from "./verb.ts";

/** By their names; flags without a value have `true`. */
type Values = Record<string, string | true | undefined>;

/** Flags of every verb. */
const common = { as: { type: "string" }, json: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;

/** @throws UsageError for a flag that is unknown, given twice, or without its value */
export function readFlags(verb: Verb, words: string[]): { values: Values; operands: string[] } {
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
export function readFields(verb: Verb, { values, operands }: ReturnType<typeof readFlags>): Record<string, unknown> {
  const { operand, flags } = verb;
  const [given, ...more] = operands;
  const isNeeded = (flag: Flag): boolean =>
    flag.required === true || (flag.requiredUnlessAs === true && values["as"] === undefined);
  const absent = flags.filter((flag) => isNeeded(flag) && values[flag.name] === undefined);
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
export function usageOf({ name, value }: Flag): string {
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

/** @throws UsageError also where the next word is a flag: then the value was forgotten */
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
