/** What is written down is what the code does. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { environmentFor } from "../scripts/role-environment.ts";
import { fleetRoles } from "../src/backing/fleet-state.ts";
import { readClientConfig, readConfig, readMcpConfig } from "../src/config.ts";
import { secretVariables } from "../src/process/environment/variables.ts";
import { errorTable, type ErrorCode } from "../src/kernel/errors.ts";
import { openApiDocument } from "../src/openapi/document.ts";

const limitFiles = [...new Bun.Glob("**/limits.ts").scanSync(new URL("../src", import.meta.url).pathname)];
const constants: Record<string, number | bigint> = Object.assign(
  {},
  ...(await Promise.all(limitFiles.map((file) => import(`../src/${file}`)))),
);

function rowsOf(file: string): string[][] {
  return cellsIn(readFileSync(new URL(`../docs/${file}`, import.meta.url), "utf8"));
}

function cellsIn(text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

describe("docs/reference/errors.md", () => {
  const rows = rowsOf("reference/errors.md").filter((cells) => cells.length === 6 && /^[a-z_]+$/.test(cells[0] ?? ""));
  const written = rows.filter(([code]) => code !== "code");

  test("says which paths are served, and that others are not", () => {
    const text = readFileSync(new URL("../docs/reference/errors.md", import.meta.url), "utf8");
    const [, posts = "", gets = ""] = /^Served are POST (.+) and GET ([^.]+)\. Other\s/m.exec(text) ?? [];
    const named = (method: string, words: string) =>
      [...words.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => `${method} ${path}`);
    const served = Object.entries(openApiDocument({ slug: "acme" }).paths).flatMap(([path, operations]) =>
      path.startsWith("/gpt/v1/") ? Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.slice(7)}`) : [],
    );
    expect([...named("POST", posts), ...named("GET", gets)].toSorted()).toEqual(served.toSorted());
  });

  test("has each code of the error table once, and no other", () => {
    const codes = written.map(([code = ""]) => code);
    const added = Object.entries(errorTable).filter(([code]) => !codes.includes(code));
    expect(added.map(([code, { status, type }]) => `add a row: | ${code} | ${status} | ${type} | … |`)).toEqual([]);
    expect(codes.toSorted()).toEqual(Object.keys(errorTable).toSorted());
  });

  test.each(Object.keys(errorTable) as ErrorCode[])("shows the status, type and x-should-retry of %s", (code) => {
    const { status, type, shouldRetry } = errorTable[code] as { status: number; type: string; shouldRetry?: boolean };
    const shown = written.find(([name]) => name === code);
    expect(shown?.slice(1, 4)).toEqual([String(status), type, shouldRetry === undefined ? "" : String(shouldRetry)]);
    expect(shown?.slice(4).every((words) => words !== "")).toBe(true);
  });
});

describe("docs/reference/limits.md", () => {
  const callers: Record<string, (keyof typeof constants)[]> = {
    "requests of a key in any 60 s": ["requestsPerMinuteDefault", "requestsPerMinuteMin", "requestsPerMinuteMax"],
    "own provider keys of a workspace": ["ownKeysPerWorkspaceMax"],
    body: ["bodyBytesMax"],
    JSON: ["jsonDepthMax", "jsonValuesMax", "jsonFieldsMax"],
    "`model`": ["modelIdCharactersMax"],
    "`messages`": ["messagesMax"],
    "`temperature`": ["temperatureMax"],
    "`models`": ["routingModelsMax"],
    "each list in `provider`": ["routingProvidersMax"],
    "routing candidates": ["routingCandidatesMax"],
    "embeddings: `input`": ["embeddingInputsMax"],
    "embeddings: token ids": ["embeddingTokensMax", "embeddingValuesMax"],
    "bodies under way": ["bodiesPerKeyBytesMax", "bodiesPerWorkspaceBytesMax"],
    "bodies under way in a gateway": ["bodiesBytesMax"],
    "open answers": ["openAnswersPerKeyMax", "openAnswersPerWorkspaceMax"],
    "open answers of a gateway": ["openAnswersMax"],
    "`GET /usage` of a key": ["keyUsageReadsPerKeyMax", "keyUsageWaitingPerKeyMax"],
    "any answer": ["streamDurationMsDefault"],
    "a reader that takes nothing": ["streamStallMsMax"],
    "an answer; of embeddings; an event": ["upstreamAnswerBytesMax", "embeddingAnswerBytesMax", "upstreamEventBytesMax"],
    "calls of a key in any 60 s": ["toolsCallsPerMinuteDefault"],
    "body without its document": ["toolsBodyBytesMax", "callJsonValuesMax"],
    SBOM: ["sbomBytesMax", "sbomComponentsMax"],
    "lock file": ["lockFileBytesMax", "lockFilePackagesMax"],
    repository: ["repositoryFilesMax", "repositoryBytesMax"],
    attachment: ["attachmentBytesMax"],
    "rows of a list": ["listRowsMax"],
    "tickets in an hour": ["ticketsPerHourMax"],
    "feedback and bugs in an hour": ["mailsPerHourMax"],
    "new SBOMs in an hour": ["sbomsPerHourMax"],
    "products; projects": ["productsPerWorkspaceMax", "projectsPerWorkspaceMax"],
    SBOMs: ["sbomsPerWorkspaceMax"],
    attachments: ["attachmentStoredBytesMax", "attachmentUnusedBytesMax"],
  };
  const rows = new Map(rowsOf("reference/limits.md").map(([name = "", ...cells]) => [name, cells.join(" ")]));

  test.each(Object.entries(callers))("shows what callers meet as %s", (row, names) => {
    const shown = [...(rows.get(row) ?? "").matchAll(/(?<![\d,.])([\d,]*\d)(?: (\w+))?/g)].flatMap(
      ([, digits = "", unit = ""]) => {
        const number = BigInt(digits.replaceAll(",", ""));
        return [number, number * (factors[unit] ?? 1n)];
      },
    );
    for (const name of names) expect(shown).toContain(BigInt(constants[name] ?? -1));
  });
});

describe("docs/reference/variables.md", () => {
  const [settings = "", secrets = ""] = readFileSync(new URL("../docs/reference/variables.md", import.meta.url), "utf8").split(
    "\n## Secrets\n",
  );
  const written = cellsIn(settings).flatMap(([names = "", values = ""]) => {
    const defaults = values.split(", ");
    return variablesIn(names).map((name, index) => [name, (defaults[index] ?? values).replaceAll("`", "")] as const);
  });
  const writtenSecrets = cellsIn(secrets).flatMap(([names = "", processes = ""]) =>
    (names.includes("key_env") ? ["ACME_API_KEY"] : variablesIn(names)).map((name) => [name, processes] as const),
  );

  test("has each variable that is read once, and no other", () => {
    const asked = new Set<string>();
    const noticing = new Proxy<Record<string, string | undefined>>({}, { get: (_, name) => void asked.add(String(name)) });
    readConfig(noticing);
    readClientConfig(noticing);
    readMcpConfig(noticing);
    const others = new Set<string>(secretVariables.flatMap((name) => [name, `${name}_FILE`]));
    expect(written.map(([name]) => name).toSorted()).toEqual([...asked].filter((name) => !others.has(name)).toSorted());
  });

  test("has each secret that may come in a file once, and a provider's key", () => {
    expect(writtenSecrets.map(([name]) => name).toSorted()).toEqual([...secretVariables, "ACME_API_KEY"].toSorted());
  });

  test("says which processes of a fleet get each secret, as `npm run cluster` gives them", () => {
    expect(writtenSecrets).toEqual(writtenSecrets.map(([name]) => [name, processesWith(name)]));
  });

  test("shows the default of each that has one", () => {
    const { port, host, dataDir, slug, catalogDir, logLevel, logFormat, metricsHost, sbomsKept, hostUrls, clocks } = readConfig(
      {},
    );
    const { connectMs, firstByteMs, idleMs, streamMs, bodyMs } = clocks;
    expect(Object.fromEntries(written)).toMatchObject({
      PORT: String(port),
      HOST: host,
      DATA_DIR: dataDir,
      SERVICE_SLUG: slug,
      CATALOG_DIR: catalogDir,
      LOG_LEVEL: logLevel,
      LOG_FORMAT: logFormat,
      METRICS_HOST: metricsHost,
      SBOMS_KEPT: String(sbomsKept),
      GITHUB_API_URL: hostUrls.github,
      GITLAB_API_URL: hostUrls.gitlab,
      CONNECT_TIMEOUT_MS: String(connectMs),
      FIRST_BYTE_TIMEOUT_MS: String(firstByteMs),
      IDLE_TIMEOUT_MS: String(idleMs),
      STREAM_DURATION_MS: String(streamMs),
      BODY_TIMEOUT_MS: String(bodyMs),
    });
  });
});

function variablesIn(cell: string): string[] {
  return [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, name = ""]) => name);
}

/** `admission, metering; address: gateway`: who gets this secret whole, and who without its user and password. */
function processesWith(name: string): string {
  const environment = { [name]: "redis://user:password@server:1" };
  const holding = (value: string): string =>
    fleetRoles.filter((role) => environmentFor(role, environment)[name] === value).join(", ");
  const [whole, address, set] = ["redis://user:password@server:1", "redis://server:1", "set"].map(holding);
  return [
    whole === fleetRoles.join(", ") ? "all" : whole || "none",
    ...(address ? [`address: ${address}`] : []),
    ...(set ? [`${set}: \`set\``] : []),
  ].join("; ");
}

const factors: Record<string, bigint> = {
  KiB: 1024n,
  MiB: 1024n ** 2n,
  GiB: 1024n ** 3n,
  ms: 1n,
  s: 1_000n,
  min: 60_000n,
  h: 3_600_000n,
  days: 86_400_000n,
};
