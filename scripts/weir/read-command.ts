/**
 * Parses a command line into its verb and the fields that it sends. Verbs are data (`verbs.ts`): the help, the request to the control API and
 * the suggestions for typing errors come from the same rows. The service judges values; here only their kind is read.
 */
import { nearest } from "../../src/kernel/text.ts";
import { readFields, readFlags } from "./read-flags.ts";
import { UsageError } from "./value.ts";
import { isRemote, nameOf, type LocalVerb, type RemoteVerb, type Verb } from "./verb.ts";
import { verbs } from "./verbs.ts";

export type Command =
  /** `verbs` are those that the words name, or all. */
  | { kind: "help"; verbs: readonly Verb[] }
  | { kind: "version" }
  | { kind: "call"; verb: RemoteVerb; fields: Record<string, unknown>; as: string | null; json: boolean }
  | { kind: "local"; verb: LocalVerb; fields: Record<string, unknown>; json: boolean };

/** @throws UsageError with the mistake and, for an unknown word, the nearest known one */
export function readCommand(words: string[]): Command {
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
  const fields = readFields(verb, flags);
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
