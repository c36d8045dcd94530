import { cycleRule } from "./cycle-rule.ts";
import { folderRules } from "./folder-rules.ts";
import { forbiddenImports, layerOf, layers, packageHomes } from "./layers.ts";
import { moduleRules } from "./module-rules.ts";
import { importsOf, sourceFiles, withoutComments, type Import, type SourceTree } from "./source-tree.ts";

export interface Rule {
  /** The test's name. */
  name: string;
  /** One line for each violation. */
  violations(tree: SourceTree): string[];
  /** Files by path: each of the first breaks the rule, none of the second does. */
  invalid: Record<string, string>;
  /** Further files for each invalid one, for a rule about several. */
  invalidWith?: Record<string, string>;
  valid: Record<string, string>;
}

const linesMax = 450;

export const rules: Rule[] = [
  cycleRule,
  ...folderRules,
  ...moduleRules,
  {
    name: "a folder imports only from folders to its left",
    violations: (tree) =>
      imports(tree)
        .filter(({ kind }) => kind === "own")
        .filter(({ from, to }) => layerOf(to) === -1 || layerOf(to) > layerOf(from))
        .map(({ from, to }) => `${from} (${layerName(from)}) imports ${to} (${layerName(to)})`),
    invalid: {
      "src/accounts/keys/find.ts": 'import type { Charge } from "../../gateway/credit/charge.ts";',
      "src/main.ts": 'await import("../scripts/seed.ts");',
    },
    valid: {
      "src/gateway/credit/charge.ts": 'import { find } from "../../accounts/keys/find.ts";\nexport { x } from "./y.ts";',
      "src/server/embedded.ts": 'import { start } from "../../workers/metering.ts";',
      "src/kernel/a.ts": '// import x from "../accounts/keys/find.ts"',
    },
  },
  {
    name: "no folder imports another that is forbidden to it",
    violations: (tree) =>
      imports(tree).flatMap(({ from, to }) =>
        forbiddenImports
          .filter((pair) => from.startsWith(pair.from) && to.startsWith(pair.to))
          .map(({ why }) => `${from} imports ${to}, but ${why}`),
      ),
    invalid: {
      "src/gateway/api/generate.ts": 'import { startMetering } from "../../../workers/metering.ts";',
      "src/gateway/models/model.ts": 'import { readPurl } from "../../security/sboms/document.ts";',
      "src/security/sboms/document.ts": 'import { priceOf } from "../../gateway/models/price.ts";',
    },
    valid: { "src/backing/backing.ts": 'import { EmbeddedBus } from "./embedded/bus.ts";' },
  },
  {
    name: "each npm package is imported only by the files that packageHomes lists",
    violations: (tree) =>
      imports(tree)
        .filter(({ kind, to, typeOnly }) => kind === "package" && !(to === "postgres" && typeOnly))
        .filter(({ from, to }) => !(packageHomes[to] ?? []).some((home) => from.startsWith(home)))
        .map(({ from, to }) => `${from} imports ${to}`),
    invalid: {
      "src/accounts/keys/find.ts": 'import postgres from "postgres";',
      "src/gateway/credit/x.ts": 'import { TypeCompiler } from "left-pad/compiler";',
    },
    valid: {
      "src/accounts/keys/store.ts": 'import type { Sql } from "postgres";',
      "src/backing/nats/bus.ts": 'import {\n  connect,\n} from "nats";\nimport { once } from "node:events";',
      "src/gateway/models/models.ts": 'import { Value } from "@sinclair/typebox/value";',
    },
  },
  textRule({
    name: "only src/config.ts reads the environment",
    pattern: /process\.env|\bimport\.meta\.env|\bBun\.env/,
    allowed: (path) => path === "src/config.ts",
    invalid: { "src/accounts/keys/find.ts": 'const slug = process.env["SERVICE_SLUG"];' },
    valid: { "src/config.ts": "readConfig(process.env)", "src/a.ts": "// process.env is read elsewhere" },
  }),
  textRule({
    name: "SQL is written only in store files and in src/backing",
    pattern: /\b(sql|tx|transaction)(<[^`;]*>)?`/i,
    allowed: (path) => /(\/|-)store\.ts$/.test(path) || path.startsWith("src/backing/"),
    invalid: {
      "src/accounts/keys/find.ts": "await backing.sql<Row[]>`SELECT 1`",
      "src/accounts/keys/keys.ts": "await tx`UPDATE api_keys`",
    },
    valid: {
      "src/accounts/keys/store.ts": "await sql`SELECT 1`",
      "src/gateway/metering/verify-store.ts": "await sql`SELECT 1`",
    },
  }),
  textRule({
    name: "only the homes of bun use it; the rest runs on web standards and Node's modules",
    pattern: /\bBun\.|from "bun(:[a-z]+)?"/,
    allowed: (path) => packageHomes["bun"]?.includes(path) === true,
    invalid: { "src/kernel/ids.ts": "Bun.randomUUIDv7()", "src/a.ts": 'import { $ } from "bun";' },
    valid: { "src/a.ts": "// Bun.serve ends quiet streams" },
  }),
  textRule({
    name: "only admission makes reservations, which every call of a provider needs",
    pattern: /\breservationFrom\b/,
    allowed: (path) => path.startsWith("src/gateway/admission/") || path === "src/gateway/credit/reservation.ts",
    invalid: { "src/gateway/api/call/dispatch.ts": 'import { reservationFrom } from "../../credit/reservation.ts";' },
    valid: { "src/gateway/admission/client.ts": "reservationFrom(facts)" },
  }),
  textRule({
    name: "only the prober and tests of own keys call providers without a reservation of credit",
    pattern: /\bprobeTicket\b/,
    allowed: (path) =>
      ["workers/prober.ts", "src/gateway/own-keys/try-key.ts", "src/gateway/credit/reservation.ts"].includes(path),
    invalid: { "src/gateway/api/generate.ts": "probeTicket({ generation, request, nowMs })" },
    valid: { "workers/prober.ts": "probeTicket({ generation, request, nowMs })" },
  }),
  textRule({
    name: "only two calls that need a reservation, and the count of a prompt, post to providers",
    pattern: /\bpostEncoded\b/,
    allowed: (path) => ["src/gateway/providers/http.ts", "src/gateway/providers/embed.ts"].includes(path),
    invalid: { "src/gateway/api/count-tokens.ts": 'import { postEncoded } from "../providers/http.ts";' },
    valid: { "src/gateway/providers/http.ts": "await postEncoded(post, upstream, context)" },
  }),
  textRule({
    name: "only the counts of tokens ask a provider for the count of a prompt, which needs no reservation",
    pattern: /\bpromptCounts\b|\bgateway\.count\b/,
    allowed: (path) =>
      ["src/gateway/providers/http.ts", "src/gateway/api/count-tokens.ts", "src/server/own-keys.ts"].includes(path),
    invalid: { "src/gateway/api/generate.ts": "await gateway.count({ chat, route })" },
    valid: { "src/gateway/api/count-tokens.ts": "await gateway.count({ chat, route })" },
  }),
  {
    name: `no file of code has more than ${linesMax} lines`,
    violations: (tree) =>
      [...tree.files]
        .filter(([path]) => !path.endsWith(".md"))
        .map(([path, text]) => ({ path, lines: text.replace(/\n$/, "").split("\n").length }))
        .filter(({ lines }) => lines > linesMax)
        .map(({ path, lines }) => `${path} has ${lines} lines`),
    invalid: { "test/a.test.ts": "x\n".repeat(linesMax + 1) },
    valid: { "src/a.ts": "x\n".repeat(linesMax), "docs/a.md": "x\n".repeat(linesMax + 1) },
  },
  {
    name: "files and folders have kebab-case names; none is a drawer (utils, common) or a barrel (index)",
    violations: (tree) =>
      [...tree.files.keys()].filter(
        (path) =>
          !path.endsWith(".md") &&
          (!/^([a-z0-9-]+\/)*[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(path) ||
            /(^|\/)(utils?|helpers?|common|shared|misc|lib)(\/|\.)/.test(path) ||
            /^src\/.*\bindex\.ts$/.test(path)),
      ),
    invalid: {
      "src/accounts/keys/utils.ts": "",
      "src/common/a.ts": "",
      "src/accounts/keys/findKey.ts": "",
      "src/gateway/providers/index.ts": "",
    },
    valid: { "src/accounts/keys/find-key.ts": "", "test/gateway/api/chat.200.test.ts": "", "README.md": "" },
  },
  textRule({
    name: "no comment leaves work to be done",
    pattern: /\b(TODO|FIXME|XXX|HACK)\b/,
    withComments: true,
    allowed: () => false,
    invalid: { "src/a.ts": "// TODO: later" },
    valid: { "src/a.ts": "// It is done." },
  }),
  {
    name: "every path in the documents exists",
    violations: (tree) =>
      [...tree.files]
        .filter(([path]) => /^((README|CONTRIBUTING|SECURITY)\.md|docs\/.*\.md)$/.test(path))
        .flatMap(([path, text]) =>
          namedPaths(text)
            .filter((named) => !tree.has(named))
            .map((named) => `${path} names ${named}`),
        ),
    invalid: { "README.md": "Read `docs/nowhere.md` and src/accounts/keys/gone.ts, then run `node scripts/none.mjs start`." },
    valid: {
      "docs/a.md":
        "See `src/accounts/keys/<verb>.ts`, `src/accounts/keys/*.ts`, src/accounts/keys/find.ts, bench/results/2026-11-20.md and https://x.org/src/y.ts.",
      "src/accounts/keys/find.ts": "",
    },
  },
];

interface TextRule extends Omit<Rule, "violations"> {
  pattern: RegExp;
  withComments?: boolean;
  allowed(path: string): boolean;
}

/** A rule about the text of files in src and workers. */
function textRule({ pattern, allowed, withComments = false, ...rule }: TextRule): Rule {
  const violations = (tree: SourceTree) =>
    sourceFiles(tree).flatMap(([path, text]) => {
      const found = allowed(path) ? null : pattern.exec(withComments ? text : withoutComments(text));
      return found ? [`${path}: ${found[0]}`] : [];
    });
  return { ...rule, violations };
}

function imports(tree: SourceTree): Import[] {
  return sourceFiles(tree).flatMap(([path, text]) => importsOf(path, text));
}

function layerName(path: string): string {
  return layers[layerOf(path)]?.join(", ") ?? "no layer";
}

/** The paths below our folders. `bench/results` is left out: it exists only after a run. A <>, {} or * ends the path before it. */
function namedPaths(text: string): string[] {
  const found = text.matchAll(/(?<![\w/.-])(?:src|workers|scripts|bench|test|docs|catalog-data)\/(?:[\w./-]*\w)?/g);
  return [...new Set([...found].map(([path]) => path.replace(/\/$/, "")))].filter((path) => !path.startsWith("bench/results"));
}
