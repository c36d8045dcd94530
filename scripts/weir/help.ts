/** The texts of `--help`: the list of verbs, or the usage of one verb with its flags and an example. */
import { exampleOf, usageOf } from "./read-flags.ts";
import { columns } from "./print.ts";
import { nameOf, type Verb } from "./verb.ts";

const common: readonly [string, string][] = [
  ["--as EMAIL", "act as this member of the workspace, under that member's role"],
  ["--json", "print one JSON document and nothing else"],
  ["--help", "show this"],
];

const environment =
  "WEIR_URL: address of the service (default http://127.0.0.1:$PORT). WEIR_TOKEN: operator token (default DATA_DIR/operator-token), or WEIR_TOKEN_FILE.";

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
  return [usage, "", columns(rows), "", columns(common), "", ...example, environment].join("\n");
}

function helpOfVerb(verb: Verb): string {
  const yes: [string, string][] = verb.confirm === undefined ? [] : [["--yes", `${verb.confirm}; do it anyway`]];
  const operand = verb.operand ? [[verb.operand.placeholder, verb.operand.help] as const] : [];
  const rows = [...operand, ...verb.flags.map((flag): [string, string] => [usageOf(flag), flag.help]), ...yes, ...common];
  const required = verb.flags.filter((flag) => flag.required).map((flag) => ` ${usageOf(flag)}`);
  const named = verb.operand ? ` ${verb.operand.placeholder}` : "";
  const usage = `weir ${nameOf(verb)}${named}${required.join("")}${verb.confirm === undefined ? "" : " --yes"} [--flag value]`;
  return [usage, "", verb.summary, "", columns(rows), "", `Example: ${exampleOf(verb)}`, "", environment].join("\n");
}
