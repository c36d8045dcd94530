/** A command that works as an example of a verb: its own, or one with a value for each required flag. */
import type { Flag, Verb } from "../verb.ts";

/** By the flag's name. */
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
