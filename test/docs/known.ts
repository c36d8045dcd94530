/** What blocks of code may name: variables, commands of npm, programs, and paths of the service. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readClientConfig, readConfig, readMcpConfig } from "../../src/config.ts";
import { openApiDocument } from "../../src/openapi/document.ts";
import { secretVariables } from "../../src/process/environment/variables.ts";
import { repository } from "../support/processes/process.ts";

/** Variables of Bun, which reads them itself. */
const ofTheRuntime = [
  "NODE_ENV",
  "NODE_EXTRA_CA_CERTS",
  "MIMALLOC_PURGE_DELAY",
  "MIMALLOC_PURGE_HOLES",
  "MIMALLOC_PURGE_HOLES_MIN_INTERVAL",
];

/** Variables that Weir reads. */
export const variables: ReadonlySet<string> = (() => {
  const asked = new Set<string>();
  const noticing = new Proxy<Record<string, string | undefined>>({}, { get: (_, name) => void asked.add(String(name)) });
  for (const read of [readConfig, readClientConfig, readMcpConfig]) read(noticing);
  const providers: { key_env: string | null }[] = JSON.parse(
    readFileSync(join(repository, "catalog-data/providers.json"), "utf8"),
  );
  const providerKeys = providers.flatMap(({ key_env }) => key_env ?? []);
  const inFiles = [...secretVariables, ...providerKeys].map((name) => `${name}_FILE`);
  return new Set([...asked, ...providerKeys, ...inFiles, ...ofTheRuntime]);
})();

/** The commands of `npm run`. */
export const npmScripts: ReadonlySet<string> = new Set(
  Object.keys(JSON.parse(readFileSync(join(repository, "package.json"), "utf8")).scripts),
);

/** Variables of Claude Code that its makers document, in front of its name. */
export const claudeVariables: ReadonlySet<string> = new Set(["ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_MODEL"]);

/** Programs that are not Weir's, whose arguments this test does not know. A new one is added here by intention, a mistyped one is found. */
export const otherPrograms: ReadonlySet<string> = new Set(
  (
    "bun cat cd chmod claude codex cp createdb curl cut docker echo git grep haproxy head helm jq kill kubectl ls mkdir node npx openssl " +
    "pg_dump pg_restore printf python3 read rm sed sha256sum sort systemctl tail tar test wc"
  ).split(" "),
);

const paths = Object.keys(openApiDocument({ slug: "platform" }).paths).map(
  (path) => new RegExp(`^${path.replace(/[.]/g, "\\.").replace(/\{[^}]+\}/g, "[^?]+")}$`),
);
/** Paths that people open, and the APIs that have no description. */
const otherPaths = [/^\/$/, /^\/mcp$/, /^\/console/, /^\/reference/, /^\/connectors/, /^\/gpt\/v1$/];

/** Whether the service has this path, without its query. */
export function isServed(path: string): boolean {
  return [...paths, ...otherPaths].some((known) => known.test(path));
}
