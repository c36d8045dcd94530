/** The variables of an OpenID Connect provider, and the errors that name them. */
import { expect, test } from "bun:test";
import { inspect } from "node:util";
import { readConfig } from "../../../src/config.ts";

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
