/**
 * The files in deploy/ name what the code has: variables, roles, secrets of each role, users of NATS, versions. Their own tools check
 * the rest (`npm run check-deploy`). What a process of a fleet gets is what `npm run cluster` gives it: a variable that is added there
 * is missed here until each way to deploy can set it.
 */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { proxyProblems } from "../scripts/check-deploy/proxies.ts";
import { environmentFor } from "../scripts/role-environment.ts";
import { knownVariables } from "../src/process/environment/known-variables.ts";
import { backgroundRoles, fleetRoles } from "../src/backing/fleet-state.ts";
import { readConfig, readMigrationConfig, readWorkerConfig } from "../src/config.ts";
import { secretVariables } from "../src/process/environment/variables.ts";
import { version } from "../src/process/version.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const read = (path: string): string => readFileSync(new URL(`../deploy/${path}`, import.meta.url), "utf8");

/** Variables of the runtime, of the balancer and of the servers. */
const otherVariables = new Set([
  "NODE_ENV",
  "HOME",
  "BUN_RUNTIME_TRANSPILER_CACHE_PATH",
  "NODE_EXTRA_CA_CERTS",
  "GATEWAY_1",
  "GATEWAY_2",
]);
const ofServers = /^(MIMALLOC_|POSTGRES_)/;

function unknownIn(names: Iterable<string>): string[] {
  return [...names].filter((name) => !knownVariables.has(name) && !otherVariables.has(name) && !ofServers.test(name));
}

/** What a role gets of a variable: its value, an address without its password, or nothing. */
const probe = "scheme://user:password@host";
const given = (role: string, name: string): string | undefined => environmentFor(role, { [name]: probe })[name];

/** Without these a fleet does not start; the others belong to parts that an operator switches on. */
const neededSecrets = ["DATABASE_URL", "NATS_URL", "REDIS_URL", "SECRETS_KEY", "OPERATOR_TOKEN"];
const furtherSecrets = secretVariables.filter(
  (name) => !neededSecrets.includes(name) && fleetRoles.some((role) => given(role, name) === probe),
);

const secretsOf = (role: string, names: readonly string[]): string[] => names.filter((name) => given(role, name) === probe);
const rolesOf = (name: string): string[] => fleetRoles.filter((role) => given(role, name) === probe);

function filesIn(names: Iterable<string>): string[] {
  const all = new Set(names);
  return neededSecrets.filter((name) => all.has(`${name}_FILE`));
}

/** Variables of a fleet's processes that hold no secret. */
const openVariables = [...knownVariables].filter(
  (name) => !secretVariables.some((secret) => name === secret || name === `${secret}_FILE`),
);
/** Some processes alone get these. One that gets them without the secret that belongs to them does not start, or does not need them. */
const openOfSome = openVariables.filter((name) => fleetRoles.some((role) => given(role, name) === undefined));
/** A stand-in for Stripe on the same machine, for tests; where the command line finds the service. */
const notDeployed = ["STRIPE_API_URL", "WEIR_URL"];

/** The user of deploy/nats/accounts.conf. */
const natsUser = (role: string): string => (["gateway", "admission", "metering"].includes(role) ? role : "worker");

interface Service {
  command?: string[];
  environment?: Record<string, string>;
  env_file?: unknown[];
  secrets?: string[];
}

describe("compose files", () => {
  const compose = (name: string) =>
    Bun.YAML.parse(read(`compose/${name}`)) as { services: Record<string, Service>; secrets?: Record<string, unknown> };
  const { services, secrets = {} } = compose("fleet.yaml");
  const roleOf = (name: string, { command }: Service): string => command?.[2] ?? name.replace(/-\d$/, "");
  const members = Object.entries(services).map(([name, service]) => ({ role: roleOf(name, service), service }));
  const rolesHere = [...fleetRoles.filter((role) => !backgroundRoles.includes(role)), "background"];
  const ours = members.filter(({ role }) => rolesHere.includes(role));
  const defaultsOf = (value: string): string => value.replace(/\$\{\w+:-([^}]*)\}/g, "$1");

  test("set variables that exist, and let an operator set every other that holds no secret", () => {
    const one = compose("one-process.yaml").services;
    const names = [...Object.values(services), ...Object.values(one)].flatMap(({ environment = {} }) => Object.keys(environment));
    expect(names.length).toBeGreaterThan(20);
    expect(unknownIn(names)).toEqual([]);
    const file = [{ path: "./weir.env", required: false }];
    for (const service of [...ours.map((member) => member.service), one["weir"]]) expect(service?.env_file).toEqual(file);
  });

  test("start every role of a fleet with the secrets that it uses, and no other", () => {
    expect(new Set(ours.map(({ role }) => role))).toEqual(new Set(rolesHere));
    for (const { role, service } of ours) {
      const { environment = {} } = service;
      expect([role, filesIn(Object.keys(environment))]).toEqual([role, secretsOf(role, neededSecrets)]);
      const files = Object.values(environment).flatMap((value) => /^\/run\/secrets\/(.+)$/.exec(value)?.[1] ?? []);
      expect([role, new Set(service.secrets)]).toEqual([role, new Set(files)]);
    }
    expect(members.flatMap(({ service }) => service.secrets ?? []).filter((name) => !(name in secrets))).toEqual([]);
  });

  test("start each process with a configuration that it accepts, and as its own user of NATS", async () => {
    await using folder = await temporaryFolder();
    cpSync(new URL("../deploy/compose/make-secrets.sh", import.meta.url), join(folder.path, "make-secrets.sh"));
    expect(spawnSync("sh", [join(folder.path, "make-secrets.sh")]).status).toBe(0);
    const here = (value: string): string => defaultsOf(value).replace("/run/secrets", join(folder.path, "secrets"));
    const inside = ({ environment = {} }: Service) =>
      Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, here(value)]));
    for (const { role, service } of ours) {
      const { backends } = (role === "gateway" ? readConfig : readWorkerConfig)(inside(service));
      const user = backends.mode === "distributed" ? new URL(backends.natsUrl.reveal()).username : null;
      expect([role, user]).toEqual([role, `weir-${natsUser(role)}`]);
    }
    expect(readMigrationConfig(inside(services["migrate"] ?? {}))).toBeDefined();
    // A sandbox does what its callers ask for, errors and waits of any kind: a fleet lists it only where the operator says so.
    for (const { service } of ours.filter(({ role }) => role === "gateway"))
      expect(readConfig(inside(service)).sandbox).toBe(false);
    const passwords = readFileSync(join(folder.path, "secrets/nats.env"), "utf8").match(/^\w+(?==w[0-9a-f]{64}$)/gm);
    const wanted = read("nats/accounts.conf").match(/(?<=password: \$)\w+/g);
    expect(new Set(passwords)).toEqual(new Set(wanted));
  });
});

test("the proxies of the documents and of deploy/ do what SECURITY.md asks", () => {
  expect(proxyProblems()).toEqual([]);
});

describe("systemd units", () => {
  const units = readdirSync(new URL("../deploy/systemd", import.meta.url)).filter((name) => name.endsWith(".service"));
  const common = read("systemd/weir-.service.d/common.conf");
  const variablesOf = (text: string) =>
    [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = ""]) => line.match(/[A-Z_\d]+(?==)/g) ?? []);
  const roles = units.map((name) => ({
    name,
    role: /^weir-(\w+)@?\.service$/.exec(name)?.[1] ?? "",
    text: read(`systemd/${name}`),
  }));
  const rolesHere: string[] = [...fleetRoles, "background"];
  const ours = roles.filter(({ role }) => rolesHere.includes(role));

  test("set variables that exist, and let an operator set every other that holds no secret", () => {
    expect(unknownIn([common, ...roles.map(({ text }) => text)].flatMap(variablesOf))).toEqual([]);
    expect(common).toContain("\nEnvironmentFile=-/etc/weir/weir.env\n");
  });

  test("start every role of a fleet with the secrets that it uses, and no other", () => {
    expect(ours.map(({ role }) => role).toSorted()).toEqual(rolesHere.toSorted());
    for (const { role, text } of ours) {
      const credentials = [...text.matchAll(/^LoadCredential=([\w-]+):/gm)].map(([, name]) => name ?? "");
      const used = [...text.matchAll(/%d\/([\w-]+)/g)].map(([, name]) => name ?? "");
      expect(new Set(used)).toEqual(new Set(credentials));
      expect(text).toContain(`\nLoadCredential=nats-url:/etc/weir/secrets/nats-url-${natsUser(role)}\n`);
      // Without its password the address of Redis is not a secret.
      const files = filesIn(variablesOf(text)).filter((name) => name !== "REDIS_URL" || used.includes("redis-url"));
      expect([role, files]).toEqual([role, secretsOf(role, neededSecrets)]);
    }
  });

  test("have instances where several processes of a role work at the same time", () => {
    const several = ours.filter(({ name }) => name.includes("@")).map(({ role }) => role);
    expect(several.toSorted()).toEqual(["admission", "background", "gateway", "metering", "scanner"]);
  });
});

interface ChartSecret {
  variable: string;
  key: string;
  roles: string[];
  when?: string;
}

const chartSecrets = Bun.YAML.parse(read("helm/weir/secrets.yaml")) as ChartSecret[];

describe("the chart", () => {
  const helpers = read("helm/weir/templates/_helpers.tpl");
  const set = [...helpers.matchAll(/^- name: ([A-Z_]+)$/gm)].map(([, name]) => name ?? "");
  const values = Bun.YAML.parse(read("helm/weir/values.yaml")) as Record<string, Record<string, unknown>>;

  test("has the version of the service", () => {
    expect(Bun.YAML.parse(read("helm/weir/Chart.yaml"))).toMatchObject({ version, appVersion: version });
  });

  test("gives each role every secret that it uses, and no other", () => {
    // The command line in a gateway's pod has the operator token as WEIR_TOKEN.
    const ofProcesses = chartSecrets.filter(({ variable }) => variable !== "WEIR_TOKEN");
    for (const role of fleetRoles) {
      const rows = ofProcesses.filter(({ roles }) => roles.includes(role));
      const wanted = secretsOf(role, [...neededSecrets, ...furtherSecrets]);
      expect([role, rows.map(({ variable }) => variable).toSorted()]).toEqual([role, wanted.toSorted()]);
      expect(rows.find(({ variable }) => variable === "NATS_URL")?.key).toBe(`nats-url-${natsUser(role)}`);
    }
    const conditional = chartSecrets.filter(({ when }) => when !== undefined).map(({ variable }) => variable);
    expect(conditional.toSorted()).toEqual(furtherSecrets.toSorted());
    for (const { when } of chartSecrets) {
      const [part = "", name = ""] = when?.split(".") ?? [];
      if (when !== undefined) expect([when, values[part]?.[name]]).toEqual([when, false]);
    }
  });

  test("sets variables that exist, and lets an operator set every other that holds no secret", () => {
    expect(unknownIn(set)).toEqual([]);
    expect(openOfSome.filter((name) => !set.includes(name) && !notDeployed.includes(name))).toEqual([]);
    expect(helpers).toContain("range $name, $value := $values.environment");
    const { properties } = JSON.parse(read("helm/weir/values.schema.json")) as {
      properties: { environment: { propertyNames: { pattern: string } } };
    };
    const pattern = new RegExp(properties.environment.propertyNames.pattern);
    expect(openVariables.filter((name) => !pattern.test(name))).toEqual([]);
  });

  test("has every kind of worker", () => {
    expect(Object.keys(values["workers"] ?? {}).toSorted()).toEqual(fleetRoles.filter((role) => role !== "gateway").toSorted());
  });
});

test("docs/how-to/deploy.md lists the secrets that an operator adds, each with its key and its processes", () => {
  const page = read("../docs/how-to/deploy.md");
  const rows = page.split("\n").flatMap((line) => {
    const [variables = "", key = "", processes = ""] = line.split("|").slice(1);
    const words = variables.match(/[A-Z_]{4,}/g) ?? [];
    return words.length > 0 ? [{ words, key: key.trim(), processes: processes.trim() }] : [];
  });
  const keyOf = (name: string): string => chartSecrets.find(({ variable }) => variable === name)?.key ?? "";
  const processesOf = (name: string): string => (rolesOf(name).length === fleetRoles.length ? "all" : rolesOf(name).join(", "));
  const written = rows.map(({ words, key, processes }) => [words[0], key, processes]);
  const wanted = furtherSecrets.map((name) => [name, `\`${keyOf(name)}\``, processesOf(name)]);
  expect(written.toSorted()).toEqual(wanted.toSorted());
  // The variables without secrets that go to the same processes.
  const named = new Set<string>(rows.flatMap(({ words }) => words));
  expect(openOfSome.filter((name) => !notDeployed.includes(name) && !named.has(name))).toEqual([]);
});

test("the image sets variables that exist, and keeps first keys out of the output", () => {
  const [, block = ""] = /^ENV ((?:.*\\\n)*.*)$/m.exec(read("Dockerfile")) ?? [];
  const names = block.match(/[A-Z_]+(?==)/g) ?? [];
  expect(unknownIn(names)).toEqual([]);
  expect(block).toContain("FIRST_KEYS=file");
});
