/** The variables of an OpenID Connect provider, and the errors that name them. */
import { inspect } from "node:util";
import { expect, test } from "bun:test";
import { readConfig, readWorkerConfig } from "../../../src/config.ts";

const given = {
  PUBLIC_URL: "https://weir.example.com",
  OIDC_ISSUER: "https://accounts.example.com/realms/main",
  OIDC_CLIENT_ID: "weir",
  OIDC_CLIENT_SECRET: "hush",
};

test("a provider is configured by its issuer, a client and a public address, and its secret is not shown", () => {
  const { oidc } = readConfig(given);
  expect([oidc?.issuer.href, oidc?.clientId, oidc?.clientSecret.reveal(), oidc?.name]).toEqual([
    "https://accounts.example.com/realms/main",
    "weir",
    "hush",
    "single sign-on",
  ]);
  expect(inspect(readConfig(given), { depth: 9 })).not.toContain("hush");
  expect(readConfig({ OIDC_NAME: "Example ID" }).oidc).toBeNull();
});

test("http is for this machine alone", () => {
  const here = { PUBLIC_URL: "http://127.0.0.1:8080", OIDC_ISSUER: "http://localhost:3000" };
  expect(readConfig({ ...given, ...here }).oidc?.issuer.href).toBe("http://localhost:3000/");
});

test.each([
  [{ OIDC_CLIENT_SECRET: "" }, "OIDC_ISSUER and OIDC_CLIENT_ID set without OIDC_CLIENT_SECRET"],
  [{ OIDC_ISSUER: "", OIDC_CLIENT_ID: "" }, "OIDC_CLIENT_SECRET set without OIDC_ISSUER and OIDC_CLIENT_ID"],
  [{ OIDC_ISSUER: "http://accounts.example.com" }, 'OIDC_ISSUER is "http://accounts.example.com"'],
  [{ OIDC_ISSUER: "https://user@accounts.example.com" }, "OIDC_ISSUER is"],
  [{ OIDC_ISSUER: "accounts.example.com" }, "OIDC_ISSUER is"],
  [{ PUBLIC_URL: "" }, "PUBLIC_URL is required when OIDC_ISSUER is set"],
  [{ PUBLIC_URL: "http://weir.example.com" }, "PUBLIC_URL is required when OIDC_ISSUER is set"],
  [{ OIDC_NAME: "x".repeat(41) }, "OIDC_NAME takes at most 40 characters"],
])("%p is refused by its name", (changed, message) => {
  expect(() => readConfig({ ...given, ...changed })).toThrow(message);
});

const set = { STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: "whsec_1" };
const problemOf = (environment: Record<string, string>): string => {
  try {
    readConfig(environment);
    return "";
  } catch (error) {
    return String(error);
  }
};

test("cards are taken with a key and a webhook's secret, or two of them, and not without", () => {
  expect(readConfig({}).stripe).toBeNull();
  expect(readConfig(set).stripe).toMatchObject({ isLive: false, apiUrl: null });
  const secrets = readConfig({ ...set, STRIPE_WEBHOOK_SECRET: "whsec_1, whsec_2" }).stripe?.webhookSecrets;
  expect(secrets?.map((one) => one.reveal())).toEqual(["whsec_1", "whsec_2"]);
  const live = { ...set, STRIPE_SECRET_KEY: "rk_live_1", PUBLIC_URL: "https://weir.example.com" };
  expect(readConfig(live).stripe?.isLive).toBe(true);
  // A worker of a fleet takes no events.
  expect(readWorkerConfig({ STRIPE_SECRET_KEY: "sk_test_1" }).stripe?.webhookSecrets).toEqual([]);
});

test("a variable of Stripe that cannot be used is named, without its value where it is a secret", () => {
  for (const [variable, environment] of [
    ["STRIPE_SECRET_KEY", { STRIPE_WEBHOOK_SECRET: "whsec_1" }],
    ["STRIPE_SECRET_KEY", { ...set, STRIPE_SECRET_KEY: "hush_live_1" }],
    ["STRIPE_WEBHOOK_SECRET", { STRIPE_SECRET_KEY: "sk_test_1" }],
    ["STRIPE_WEBHOOK_SECRET", { ...set, STRIPE_WEBHOOK_SECRET: "hush_1" }],
    ["STRIPE_WEBHOOK_SECRET", { ...set, STRIPE_WEBHOOK_SECRET: "whsec_1,whsec_2,whsec_hush" }],
    ["PUBLIC_URL", { ...set, STRIPE_SECRET_KEY: "sk_live_1", PUBLIC_URL: "http://weir.example.com" }],
    ["STRIPE_API_URL", { ...set, STRIPE_API_URL: "http://stripe.example.com" }],
    ["STRIPE_API_URL", { ...set, STRIPE_API_URL: "https://127.0.0.1" }],
    ["STRIPE_API_URL", { ...set, STRIPE_API_URL: "http://127.0.0.1:1/v1" }],
  ] as const) {
    expect(problemOf(environment)).toContain(`ConfigError: ${variable}`);
    expect(problemOf(environment)).not.toContain("hush");
  }
});
