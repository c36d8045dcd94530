import { bunFiles, packageHomes, placeOf, places, strangers } from "./places.ts";
import { importsOf, sourceFiles, withoutComments, type Import, type Tree } from "./tree.ts";

export interface Rule {
  /** The test's name. */
  name: string;
  /** What breaks it, one line each. */
  broken(tree: Tree): string[];
  /** Texts that break it, and texts beside them that do not. */
  bites: Record<string, string>;
  spares: Record<string, string>;
}

const linesMax = 300;

export const rules: Rule[] = [
  {
    name: "a folder imports only from folders to its left",
    broken: (tree) =>
      imports(tree)
        .filter(({ kind }) => kind === "own")
        .filter(({ from, to }) => placeOf(to) === -1 || placeOf(to) > placeOf(from))
        .map(({ from, to }) => `${from} (${placeName(from)}) imports ${to} (${placeName(to)})`),
    bites: {
      "src/accounts/keys/find.ts": 'import type { Charge } from "../../gateway/credit/charge.ts";',
      "src/main.ts": 'await import("../scripts/seed.ts");',
    },
    spares: {
      "src/gateway/credit/charge.ts": 'import { find } from "../../accounts/keys/find.ts";\nexport { x } from "./y.ts";',
      "src/server/embedded.ts": 'import { start } from "../../workers/metering.ts";',
      "src/kernel/a.ts": '// import x from "../accounts/keys/find.ts"',
    },
  },
  {
    name: "folders that must not know each other do not",
    broken: (tree) =>
      imports(tree).flatMap(({ from, to }) =>
        strangers
          .filter((pair) => from.startsWith(pair.from) && to.startsWith(pair.to))
          .map(({ why }) => `${from} imports ${to}, but ${why}`),
      ),
    bites: {
      "src/gateway/inference/chat.ts": 'import { startMetering } from "../../../workers/metering.ts";',
      "src/gateway/models/model.ts": 'import { parsePurl } from "../../security/sboms/purl.ts";',
      "src/security/sboms/purl.ts": 'import { priceOf } from "../../gateway/models/price.ts";',
    },
    spares: { "src/backing/backing.ts": 'import { EmbeddedBus } from "./embedded/bus.ts";' },
  },
  {
    name: "each npm package is imported in its own few files",
    broken: (tree) =>
      imports(tree)
        .filter(({ kind, to, typeOnly }) => kind === "package" && !(to === "postgres" && typeOnly))
        .filter(({ from, to }) => !(packageHomes[to] ?? []).some((home) => from.startsWith(home)))
        .map(({ from, to }) => `${from} imports ${to}`),
    bites: {
      "src/accounts/keys/find.ts": 'import postgres from "postgres";',
      "src/gateway/credit/x.ts": 'import { TypeCompiler } from "left-pad/compiler";',
    },
    spares: {
      "src/accounts/keys/store.ts": 'import type { Sql } from "postgres";',
      "src/backing/distributed/bus.ts": 'import {\n  connect,\n} from "nats";\nimport { once } from "node:events";',
      "src/gateway/models/check.ts": 'import { Value } from "@sinclair/typebox/value";',
    },
  },
  textRule({
    name: "the environment is read in src/config.ts alone",
    pattern: /process\.env|\bimport\.meta\.env|\bBun\.env/,
    allowed: (path) => path === "src/config.ts",
    bites: { "src/accounts/keys/find.ts": 'const slug = process.env["SERVICE_SLUG"];' },
    spares: { "src/config.ts": "readConfig(process.env)", "src/a.ts": "// process.env is read elsewhere" },
  }),
  textRule({
    name: "SQL is written in store files and in src/backing alone",
    pattern: /\b(sql|tx|transaction)(<[^`;]*>)?`/i,
    allowed: (path) => /(\/|-)store\.ts$/.test(path) || path.startsWith("src/backing/"),
    bites: {
      "src/accounts/keys/find.ts": "await backing.sql<Row[]>`SELECT 1`",
      "src/accounts/keys/edit.ts": "await tx`UPDATE api_keys`",
    },
    spares: {
      "src/accounts/keys/store.ts": "await sql`SELECT 1`",
      "src/gateway/metering/verify-store.ts": "await sql`SELECT 1`",
    },
  }),
  textRule({
    name: "the code runs on web standards and Node's modules, but for a few named files",
    pattern: /\bBun\.|from "bun(:[a-z]+)?"/,
    allowed: (path) => bunFiles.includes(path),
    bites: { "src/kernel/ids.ts": "Bun.randomUUIDv7()", "src/a.ts": 'import { $ } from "bun";' },
    spares: { "src/a.ts": "// Bun.serve ends quiet streams" },
  }),
  textRule({
    name: "admission alone makes reservations, the only tickets to a provider",
    pattern: /\breservationFrom\b/,
    allowed: (path) => path.startsWith("src/gateway/admission/") || path === "src/gateway/credit/reservation.ts",
    bites: { "src/gateway/inference/dispatch.ts": 'import { reservationFrom } from "../credit/reservation.ts";' },
    spares: { "src/gateway/admission/client.ts": "reservationFrom(facts)" },
  }),
  {
    name: `no file of code has more than ${linesMax} lines`,
    broken: (tree) =>
      [...tree.files]
        .filter(([path]) => !path.endsWith(".md"))
        .map(([path, text]) => ({ path, lines: text.replace(/\n$/, "").split("\n").length }))
        .filter(({ lines }) => lines > linesMax)
        .map(({ path, lines }) => `${path} has ${lines} lines`),
    bites: { "test/a.test.ts": "x\n".repeat(linesMax + 1) },
    spares: { "src/a.ts": "x\n".repeat(linesMax), "docs/a.md": "x\n".repeat(linesMax + 1) },
  },
  {
    name: "files and folders are named in kebab-case after what they hold; there is no drawer and no barrel",
    broken: (tree) =>
      [...tree.files.keys()].filter(
        (path) =>
          !path.endsWith(".md") &&
          (!/^([a-z0-9-]+\/)*[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(path) ||
            /(^|\/)(utils?|helpers?|common|shared|misc|lib)(\/|\.)/.test(path) ||
            /^src\/.*\bindex\.ts$/.test(path)),
      ),
    bites: {
      "src/accounts/keys/utils.ts": "",
      "src/common/a.ts": "",
      "src/accounts/keys/findKey.ts": "",
      "src/gateway/providers/index.ts": "",
    },
    spares: { "src/accounts/keys/find-key.ts": "", "test/gateway/inference/chat.200.test.ts": "", "README.md": "" },
  },
  textRule({
    name: "nothing is left to be done in a comment",
    pattern: /\b(TODO|FIXME|XXX|HACK)\b/,
    withComments: true,
    allowed: () => false,
    bites: { "src/a.ts": "// TODO: later" },
    spares: { "src/a.ts": "// It is done." },
  }),
  {
    name: "every path that the documents name exists",
    broken: (tree) =>
      [...tree.files]
        .filter(([path]) => /^((README|CONTRIBUTING|SECURITY)\.md|docs\/.*\.md)$/.test(path))
        .flatMap(([path, text]) =>
          namedPaths(text)
            .filter((named) => !tree.has(named))
            .map((named) => `${path} names ${named}`),
        ),
    bites: { "README.md": "Read `docs/nowhere.md` and src/accounts/keys/gone.ts, then run `node scripts/none.mjs start`." },
    spares: {
      "docs/a.md":
        "See `src/accounts/keys/<verb>.ts`, `src/accounts/keys/*.ts`, src/accounts/keys/find.ts, bench/results/2026-11-20.md and https://x.org/src/y.ts.",
      "src/accounts/keys/find.ts": "",
    },
  },
];

interface TextRule extends Omit<Rule, "broken"> {
  pattern: RegExp;
  withComments?: boolean;
  allowed(path: string): boolean;
}

/** A rule about words in src and workers. */
function textRule({ pattern, allowed, withComments = false, ...rule }: TextRule): Rule {
  const broken = (tree: Tree) =>
    sourceFiles(tree).flatMap(([path, text]) => {
      const found = allowed(path) ? null : pattern.exec(withComments ? text : withoutComments(text));
      return found ? [`${path}: ${found[0]}`] : [];
    });
  return { ...rule, broken };
}

function imports(tree: Tree): Import[] {
  return sourceFiles(tree).flatMap(([path, text]) => importsOf(path, text));
}

function placeName(path: string): string {
  return places[placeOf(path)]?.name ?? "no place";
}

/** Paths below our folders; made by running something, bench/results may be absent. A name in <>, {} or * ends the path before it. */
function namedPaths(text: string): string[] {
  const found = text.matchAll(/(?<![\w/.-])(?:src|workers|scripts|bench|test|docs|catalog-data)\/(?:[\w./-]*\w)?/g);
  return [...new Set([...found].map(([path]) => path.replace(/\/$/, "")))].filter((path) => !path.startsWith("bench/results"));
}
