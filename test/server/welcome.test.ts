import { expect, test } from "bun:test";
import { greetingText } from "../../src/server/welcome.ts";

const address = { host: "127.0.0.1", port: 8080, sandbox: true, slug: "acme" };

test("a start prints the addresses of the pages, and the link to sign in if there is one", () => {
  const text = greetingText(address, { first: null });
  for (const path of ["/", "/connectors", "/reference"]) expect(text).toContain(`\n  http://127.0.0.1:8080${path} `);
  expect(text).not.toContain("Sign in");
  const signInUrl = "http://127.0.0.1:8080/console/sign-in#once";
  expect(greetingText(address, { first: null, signInUrl })).toContain(`works once:\n\n  ${signInUrl}\n`);
});
