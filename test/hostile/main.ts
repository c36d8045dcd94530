/** `npm run hostile`: attacks of hostile clients, in amounts that do not fit into `npm test`. */
import { parseArgs } from "node:util";
import { runAtEnd } from "../support/processes/at-end.ts";
import { bodiesPart } from "./parts/bodies.ts";
import { hostileToolsPart } from "./parts/hostile-tools.ts";
import { blockingPart } from "./parts/blocking.ts";
import { documentsPart } from "./parts/documents.ts";
import { neverReadersPart } from "./parts/never-readers.ts";
import type { Part, PartOptions } from "./parts/part.ts";
import { slowBodiesPart } from "./parts/slow-bodies.ts";
import { scansPart } from "./parts/scans.ts";
import { wrongKeysPart } from "./parts/wrong-keys.ts";

const usage = `npm run hostile -- [bodies] [readers] [keys] [tools] [scans] [documents] [slow] [blocking] [--seed S] [--bodies N] [--readers N] [--wrong-keys N] [--good N] [--seconds S]

  bodies   malformed bodies: --bodies N (100000) of --seed S (a new one)
  readers  clients that never read: --readers N (500); takes a minute and a half
  keys     --wrong-keys N (2000) a second, all different, during --good N (600) requests a second, for --seconds S (15)
  tools    20 hostile tools keys (large and slow bodies, hostile package URLs, floods of calls, MCP) during --good N requests a second
  scans    an SBOM with 240,000 findings in one process, for --seconds S (15), during other requests and a small SBOM
  documents VEX documents of 20,000 findings, exported and imported by a member in one process, for --seconds S (15), during other requests
  slow     bodies a byte a second of 20 members, 128 unsigned posts and 128 strangers, and 16 accounts that ask for the dearest page,
           for --seconds S (15), during another workspace's forms, files, pages and signed events
  blocking texts and bodies that are made to block the event loop, of --seed S

Without a name all parts run, one after the other. Exit code 1: a promise was broken.

Example: npm run hostile -- bodies --bodies 1000`;

const parts: Record<string, Part> = {
  bodies: bodiesPart,
  readers: neverReadersPart,
  keys: wrongKeysPart,
  tools: hostileToolsPart,
  scans: scansPart,
  documents: documentsPart,
  slow: slowBodiesPart,
  blocking: blockingPart,
};

const options = {
  seed: { type: "string" },
  bodies: { type: "string", default: "100000" },
  readers: { type: "string", default: "500" },
  "wrong-keys": { type: "string", default: "2000" },
  good: { type: "string", default: "600" },
  seconds: { type: "string", default: "15" },
} as const;

class UsageError extends Error {}

function number(name: string, text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 0xffff_ffff) return value;
  throw new UsageError(`--${name} is "${text}": it must be a whole number`);
}

function read(words: string[]): { names: string[]; plan: PartOptions } {
  try {
    const { values, positionals } = parseArgs({ args: words, options, allowPositionals: true });
    const unknown = positionals.find((name) => !(name in parts));
    if (unknown !== undefined) throw new UsageError(`There is no part "${unknown}"`);
    const plan = {
      seed: values.seed === undefined ? (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) : number("seed", values.seed),
      bodies: number("bodies", values.bodies),
      readers: number("readers", values.readers),
      wrongKeys: number("wrong-keys", values["wrong-keys"]),
      goodRequests: number("good", values.good),
      seconds: number("seconds", values.seconds),
      say: (line: string) => console.log(line),
    };
    return { names: positionals.length === 0 ? Object.keys(parts) : positionals, plan };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function main(): Promise<number> {
  if (process.argv.slice(2).some((word) => word === "--help" || word === "-h")) {
    console.log(usage);
    return 0;
  }
  const { names, plan } = read(process.argv.slice(2));
  const broken: string[] = [];
  for (const name of names) {
    console.log(`\n${name}`);
    broken.push(...((await parts[name]?.(plan)) ?? []));
  }
  for (const line of broken) console.error(`Broken promise: ${line}`);
  console.log(broken.length === 0 ? "\nEvery promise held" : `\n${broken.length} promises broken`);
  return broken.length === 0 ? 0 : 1;
}

/** The processes that it started end with it. */
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof UsageError ? `${error.message}\n\n${usage}` : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
await runAtEnd();
process.exit();
