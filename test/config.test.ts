import { describe, expect, test } from "bun:test";
import { inspect } from "node:util";
import { folderOfCaller, readConfig } from "../src/config.ts";
import { ConfigError } from "../src/process/environment/variables.ts";
import { secretsKeyNamed } from "./support/secrets-key.ts";

const key = secretsKeyNamed("one");
const otherKey = secretsKeyNamed("other");
const guessable = Buffer.alloc(32).toString("base64");
const urls = {
  DATABASE_URL: "postgres://weir:hush@db:5432/weir?sslmode=verify-full",
  NATS_URL: "tls://bus:4222",
  REDIS_URL: "rediss://counters:6379",
};

describe("without any variable", () => {
  const config = readConfig({});

  test("one process with embedded parts listens on loopback only", () => {
    expect(config).toMatchObject({ port: 8080, host: "127.0.0.1", dataDir: "./.weir", backends: { mode: "embedded" } });
  });

  test("the sandbox is on, secrets are created in the data folder, and workers serve no metrics", () => {
    expect(config).toMatchObject({ sandbox: true, secretsKeys: null, operatorToken: null, metricsPort: null });
  });

  test("the timeouts are those of the specification", () => {
    expect(config.clocks).toEqual({
      connectMs: 5_000,
      firstByteMs: 600_000,
      idleMs: 300_000,
      streamMs: 900_000,
      bodyMs: 30_000,
    });
  });

  test("an empty variable counts as unset", () => {
    const empty = readConfig({ PORT: "", DATABASE_URL: "", SECRETS_KEY: "", SANDBOX: "", METRICS_PORT: "", OPERATOR_TOKEN: "" });
    expect(inspect(empty)).toBe(inspect(config));
  });

  test("only this machine reaches the service, unless it listens elsewhere or a proxy offers it to others", () => {
    const isLocal = (environment: Record<string, string>) => readConfig(environment).isLocal;
    expect([config.isLocal, isLocal({ HOST: "::1" }), isLocal({ PUBLIC_URL: "http://localhost:8080" })]).toEqual([
      true,
      true,
      true,
    ]);
    const reached = [{ HOST: "0.0.0.0" }, { PUBLIC_URL: "https://weir.example.com" }, { TRUSTED_PROXIES: "127.0.0.1" }];
    expect(reached.map(isLocal)).toEqual([false, false, false]);
  });
});

describe("with all three addresses", () => {
  test("the service is distributed and its sandbox is off", () => {
    const config = readConfig({ ...urls, SECRETS_KEY: key });
    expect(config.sandbox).toBe(false);
    expect(config.backends.mode === "distributed" && config.backends.databaseUrl.reveal()).toBe(urls.DATABASE_URL);
    expect(config.backends.mode === "distributed" && config.backends.natsUrl.reveal()).toBe(urls.NATS_URL);
    expect(config.backends.mode === "distributed" && config.backends.redisUrl.reveal()).toBe(urls.REDIS_URL);
  });

  test("REDIS_URL takes the addresses of several nodes, each of which is checked", () => {
    const read = (REDIS_URL: string) => readConfig({ ...urls, SECRETS_KEY: key, REDIS_URL });
    const several = "rediss://:a,b@one.example:6379, rediss://:a,b@two.example:6379";
    const { backends } = read(several);
    expect(backends.mode === "distributed" && backends.redisUrl.reveal()).toBe(several);
    expect(() => read("rediss://one.example,redis://two.example")).toThrow("REDIS_URL would reach two.example in plain text");
    expect(() => read("rediss://one.example,two.example")).toThrow(ConfigError);
  });

  test("NATS may be a cluster, on three of whose servers settlements are stored unless NATS_REPLICAS says otherwise", () => {
    const cluster = { ...urls, SECRETS_KEY: key, NATS_URL: "tls://weir:hush@one:4222,two:4222,three:4222" };
    expect(readConfig({ ...urls, SECRETS_KEY: key }).backends).toMatchObject({ natsReplicas: 1 });
    expect(readConfig(cluster).backends).toMatchObject({ natsReplicas: 3 });
    expect(readConfig({ ...cluster, NATS_REPLICAS: "1" }).backends).toMatchObject({ natsReplicas: 1 });
    expect(() => readConfig({ ...cluster, NATS_REPLICAS: "6" })).toThrow("NATS_REPLICAS");
    expect(() => readConfig({ ...cluster, NATS_URL: "tls://one:4222,nats://two:4222" })).toThrow("NATS_URL would reach two");
    expect(() => readConfig({ ...cluster, NATS_URL: "tls://a:hush@one,tls://b:hush@two" })).toThrow("NATS_URL is not usable");
  });

  test("SANDBOX=on switches the sandbox on", () => {
    expect(readConfig({ ...urls, SECRETS_KEY: key, SANDBOX: "on" }).sandbox).toBe(true);
  });

  test("SECRETS_KEY is required, because each process would create its own otherwise", () => {
    expect(() => readConfig(urls)).toThrow(
      new ConfigError(
        `SECRETS_KEY is required when DATABASE_URL, NATS_URL and REDIS_URL are set: one or more base64 keys of 32 bytes`,
      ),
    );
  });
});

describe("the error for some of the three addresses names those that are set and those that are missing", () => {
  const names = ["DATABASE_URL", "NATS_URL", "REDIS_URL"] as const;
  const mixtures = [1, 2, 3, 4, 5, 6].map((bits) => names.filter((_, index) => bits & (1 << index)));

  test.each(mixtures.map((mixture) => [mixture]))("%p", (mixture) => {
    const environment = Object.fromEntries(mixture.map((name) => [name, urls[name]]));
    const missing = names.filter((name) => !mixture.includes(name));
    const said = `${mixture.join(" and ")} set without ${missing.join(" and ")}`;
    expect(() => readConfig({ ...environment, SECRETS_KEY: key })).toThrow(said);
  });
});

describe("the error for a bad value names the variable", () => {
  const bad: [string, string][] = [
    ["PORT", "80a"],
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["PORT", "8080.5"],
    ["PORT", " 8080"],
    ["METRICS_PORT", "x"],
    ["SERVICE_SLUG", "Platform"],
    ["SERVICE_SLUG", "9lives"],
    ["SERVICE_SLUG", "a".repeat(33)],
    ["SANDBOX", "yes"],
    ["CONSOLE", "yes"],
    ["PUBLIC_URL", "weir.example.com"],
    ["PUBLIC_URL", "https://weir.example.com/path"],
    ["TRUSTED_PROXIES", "proxy.example"],
    ["MCP_ORIGINS", "https://inspector.example.com/"],
    ["MCP_ORIGINS", "inspector.example.com"],
    ["MCP_ORIGINS", "https://*.example.com"],
    ["TRUSTED_PROXIES", "10.0.0.1,"],
    ["TRUSTED_PROXIES", "0.0.0.0/0"],
    ["LOG_LEVEL", "loud"],
    ["STREAM_DURATION_MS", "0"],
    ["IDLE_TIMEOUT_MS", "1e3"],
    ["BODY_TIMEOUT_MS", "86400001"],
    ["SECRETS_KEY", "c2hvcnQ="],
    ["SECRETS_KEY", `${key},c2hvcnQ=`],
    ["SECRETS_KEY", `${key.slice(0, -1)}!`],
    ["SECRETS_KEY", ","],
    ["SECRETS_KEY", guessable],
    ["SECRETS_KEY", `${guessable},${key}`],
    ["SECRETS_KEY", Buffer.from("weir".repeat(8)).toString("base64")],
    ["SECRETS_KEY", Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString("base64")],
    ["OPERATOR_TOKEN", "x"],
    ["OPERATOR_TOKEN", "x".repeat(31)],
    ["DATABASE_URL", "db:5432/weir"],
    ["DATABASE_URL", "mysql://db/weir"],
    ["DATABASE_READ_URL", "postgres://one,two/weir"],
    ["NATS_URL", "bus:4222"],
    ["REDIS_URL", "http://counters:6379"],
  ];

  test.each(bad)("%s=%p", (name, value) => {
    const refusal = () => readConfig({ ...urls, SECRETS_KEY: key, [name]: value });
    expect(refusal).toThrow(ConfigError);
    expect(refusal).toThrow(name);
  });

  test("the error for an address does not repeat it, because it holds a password", () => {
    const refusal = () => readConfig({ ...urls, DATABASE_URL: "postgre://weir:hush@db/weir", SECRETS_KEY: key });
    expect(refusal).toThrow("DATABASE_URL is not an address such as postgres://user:password@host:5432/weir?sslmode=verify-full");
  });
});

describe("the connections to the servers of a fleet", () => {
  const read = (more: Record<string, string>) => () => readConfig({ ...urls, SECRETS_KEY: key, ...more });
  const plain: [keyof typeof urls, string, string][] = [
    ["DATABASE_URL", "postgres://weir:hush@DB.example:5432/weir", "db.example"],
    ["DATABASE_URL", "postgres://weir:hush@10.0.0.7/weir?sslmode=disable", "10.0.0.7"],
    ["DATABASE_URL", "postgres://weir:hush@localhost.example/weir", "localhost.example"],
    ["DATABASE_URL", "postgres:///weir?sslmode=disable", ""],
    ["NATS_URL", "nats://weir:hush@bus.example:4222", "bus.example"],
    ["REDIS_URL", "redis://:hush@counters.example:6379", "counters.example"],
    ["REDIS_URL", "redis://:hush@[2001:db8::7]:6379", "2001:db8::7"],
  ];

  test.each(plain)("%s=%s is refused because its connection is not encrypted", (name, url, host) => {
    expect(read({ [name]: url })).toThrow(`${name} would reach ${host || "a host"} in plain text: write it as `);
    expect(read({ [name]: url, PLAINTEXT_HOSTS: "another.example,example" })).toThrow(ConfigError);
    expect(read({ [name]: url })).not.toThrow("hush");
  });

  test.each(plain.filter(([, , host]) => host !== ""))(
    "%s=%s is accepted if PLAINTEXT_HOSTS names the host",
    (name, url, host) => {
      expect(read({ [name]: url, PLAINTEXT_HOSTS: `one.example, ${host.toUpperCase()}` })).not.toThrow();
    },
  );

  test.each([
    ["DATABASE_URL", "postgres://weir:hush@127.0.0.1:5432/weir"],
    ["DATABASE_URL", "postgres://weir:hush@localhost/weir"],
    ["NATS_URL", "nats://weir:hush@127.0.0.1:4222"],
    ["REDIS_URL", "redis://:hush@[::1]:6379"],
  ])("%s=%s is accepted because it stays on this machine", (name, url) => {
    expect(read({ [name]: url })).not.toThrow();
  });

  test.each(["prefer", "allow", "verifyfull", ""])("sslmode=%s guarantees no encryption and is refused", (mode) => {
    const refusal = read({ DATABASE_URL: `postgres://weir:hush@127.0.0.1/weir?sslmode=${mode}` });
    expect(refusal).toThrow(`DATABASE_URL is not usable: sslmode is "${mode}": it takes verify-full, or disable`);
  });

  test.each(["require", "verify-ca", "verify-full"])("sslmode=%s is accepted", (mode) => {
    expect(read({ DATABASE_URL: `postgres://weir:hush@db.example/weir?sslmode=${mode}` })).not.toThrow();
  });

  test("the error for an address that others may redirect names the variable, and for each of several hosts", () => {
    expect(read({ DATABASE_URL: "postgres://weir:hush@localhost:5432,b:5432/weir" })).toThrow(
      "DATABASE_URL would reach b in plain text",
    );
    expect(read({ DATABASE_URL: "postgres://weir:hush@a:5432,b:5433/weir?sslmode=verify-full" })).not.toThrow();
    const standby = "postgres://weir:hush@a,b/weir?sslmode=verify-full&target_session_attrs=standby";
    expect(read({ DATABASE_URL: standby })).toThrow('target_session_attrs is "standby": it takes read-write');
    expect(read({ DATABASE_URL: "postgres://weir:hush@a/weir?ssl=require" })).toThrow(`DATABASE_URL is not usable: it has "ssl"`);
  });
});

describe("the configuration accepts", () => {
  test("several keys in SECRETS_KEY, of which the first seals", () => {
    const keys = readConfig({ SECRETS_KEY: `${key}, ${otherKey}` }).secretsKeys;
    expect(keys?.map((secret) => secret.reveal())).toEqual([key, otherKey]);
  });

  test("a guessable key after a random one, to open what it sealed before", () => {
    const keys = readConfig({ SECRETS_KEY: `${key},${guessable}` }).secretsKeys;
    expect(keys?.map((secret) => secret.reveal())).toEqual([key, guessable]);
  });

  test("an OPERATOR_TOKEN of at least 32 characters", () => {
    expect(readConfig({ OPERATOR_TOKEN: "x".repeat(32) }).operatorToken?.reveal()).toBe("x".repeat(32));
  });

  test("a provider's key in the variable that its key_env names", () => {
    const config = readConfig({ ACME_API_KEY: "sk-acme" });
    expect(config.environmentKey("ACME_API_KEY")?.reveal()).toBe("sk-acme");
    expect(config.environmentKey("OTHER_API_KEY")).toBeNull();
  });

  test("PORT=0 for any free port", () => {
    expect(readConfig({ PORT: "0" }).port).toBe(0);
  });

  test("secrets that printing or logging the configuration does not show", () => {
    const config = readConfig({ ...urls, SECRETS_KEY: key, OPERATOR_TOKEN: "operator-token-that-nobody-may-see" });
    for (const shown of [inspect(config, { depth: 9 }), JSON.stringify(config)]) {
      for (const secret of ["hush", key, "operator-token-that-nobody-may-see"]) expect(shown).not.toContain(secret);
    }
  });
});

describe("the addresses of the repository platforms", () => {
  test("are those of the public platforms by default", () => {
    expect(readConfig({}).hostUrls).toEqual({ github: "https://api.github.com", gitlab: "https://gitlab.com/api/v4" });
  });

  test("may be other ones, without https only on this machine", () => {
    const { hostUrls } = readConfig({
      GITHUB_API_URL: "https://git.example.com/api/v3/",
      GITLAB_API_URL: "http://127.0.0.1:8929",
    });
    expect(hostUrls).toEqual({ github: "https://git.example.com/api/v3", gitlab: "http://127.0.0.1:8929/api/v4" });
  });

  test.each([
    "http://git.example.com",
    "ftp://127.0.0.1",
    "api.github.com",
    "https://user:pass@git.example.com",
    "https://a.example/?b=1",
  ])("%s is refused", (url) => {
    for (const name of ["GITHUB_API_URL", "GITLAB_API_URL"])
      expect(() => readConfig({ [name]: url })).toThrow(`${name} is "${url}"`);
  });
});

test("paths of the command line are relative to the folder where npm was typed, or else to the current folder", () => {
  expect(folderOfCaller("weir", { npm_lifecycle_event: "weir", INIT_CWD: "/home/ada" })).toBe("/home/ada");
  expect(folderOfCaller("weir", { npm_lifecycle_event: "test", INIT_CWD: "/home/ada" })).toBe(process.cwd());
  expect(folderOfCaller("weir", {})).toBe(process.cwd());
});
