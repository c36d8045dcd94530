import { test } from "bun:test";
import { expectOrder, expectUnknown } from "../../support/security/version-table.ts";

const scheme = "Go";

test("versions of Go modules are semantic with a v, which OSV records leave out: https://go.dev/ref/mod#versions", () => {
  expectOrder({ scheme, rows: ["v0.0.0", "v1.12.134 1.12.134", "v8.0.5-pre 8.0.5-pre", "v8.0.5", "v2000000000.0.0"] });
});

test("+incompatible and builds do not count", () => {
  expectOrder({ scheme, rows: ["v2.0.9+incompatible v2.0.9 2.0.9", "v2.0.10+incompatible 2.0.10+meta"] });
});

test("pseudo-versions stand by their base and time: https://go.dev/ref/mod#pseudo-versions", () => {
  expectOrder({
    scheme,
    rows: [
      "v0.0.0-20191109021931-daa7c04131f5",
      "v0.0.0-20200101000000-000000000000 0.0.0-20200101000000-000000000000",
      "v0.0.0-20200101000001-000000000000",
      "v0.0.0",
      "v1.2.3-pre.0.20191109021931-daa7c04131f5",
      "v1.2.3",
      "v1.2.4-0.20191109021931-daa7c04131f5",
      "v1.2.4",
    ],
  });
});

test("a bound that is a pseudo-version of 0.0.0 is below every tagged version", () => {
  expectOrder({ scheme, rows: ["0.0.0-20200622213623-75b288015ac9", "v0.0.1", "v0.1.0", "v1.0.0", "v2.3.4+incompatible"] });
});

test("releases of Go itself are read by their own names: https://go.dev/doc/toolchain#version", () => {
  expectOrder({
    scheme,
    rows: [
      "go1.20 1.20.0 v1.20",
      "go1.21beta1 1.21.0-beta.1",
      "go1.21rc2 1.21rc2 1.21.0-rc.2",
      "go1.21rc10",
      "go1.21.0 go1.21",
      "go1.21.3",
    ],
  });
});

test("what is no version of a module is unknown", () => {
  expectUnknown({
    scheme,
    texts: ["", "(devel)", "devel", "master", "latest", "v1.2.3.4", "daa7c04131f5", "go1.21.3 X:boringcrypto"],
  });
});
