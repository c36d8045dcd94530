import { test } from "bun:test";
import { expectOrder, expectUnknown } from "../../support/security/version-table.ts";

const scheme = "crates.io";

test("versions of crates.io are semantic: https://doc.rust-lang.org/cargo/reference/manifest.html#the-version-field", () => {
  expectOrder({
    scheme,
    rows: [
      "0.0.0-0",
      "0.0.0-alpha",
      "0.0.0",
      "0.9.9",
      "0.10.0-alpha.2",
      "0.10.0-alpha.11",
      "0.10.0 0.10.0+openssl-3",
      "1 1.0.0 v1.0.0",
    ],
  });
});

test("what is no version of crates.io is unknown", () => {
  expectUnknown({
    scheme,
    texts: ["", "*", "^1", "1.2.3.4", "1.2.3beta", " 1.2.3"],
  });
});
