import { describe, expect, test } from "bun:test";
import { needsIn, packagesIn, read, refusal } from "./lock-text.ts";

describe("pnpm-lock.yaml", () => {
  const expected = [
    "@scope/a@1.10.0 direct required",
    "b@2.0.0 transitive required",
    "real@3.0.0 direct required",
    "tool@4.0.0 direct excluded",
  ];

  test("version 5", () => {
    const file = read(
      "pnpm-lock.yaml",
      `lockfileVersion: 5.4
specifiers:
  '@scope/a': ^1.0.0
dependencies:
  '@scope/a': 1.10.0_b@2.0.0
  alias: /real/3.0.0
  local: link:../local
devDependencies:
  tool: 4.0.0
packages:
  /@scope/a/1.10.0_b@2.0.0:
    resolution: {integrity: sha512-00==}
    dependencies:
      b: 2.0.0
    dev: false
  /b/2.0.0:
    resolution: {integrity: sha512-00==}
    dev: false
  /real/3.0.0:
    resolution: {integrity: sha512-00==}
    dev: false
  /tool/4.0.0:
    resolution: {integrity: sha512-00==}
    dev: true
  github.com/someone/fork/00:
    resolution: {tarball: 'https://codeload.github.com/someone/fork/tar.gz/00'}
`,
    );
    expect(packagesIn(file)).toEqual(expected);
    expect(file.skipped).toEqual([{ name: "github.com/someone/fork/00", reason: "it is no release of the registry" }]);
  });

  test("version 6", () => {
    const file = read(
      "pnpm-lock.yaml",
      `lockfileVersion: '6.0'
importers:
  packages/one:
    dependencies:
      '@scope/a':
        specifier: ^1.0.0
        version: 1.10.0(b@2.0.0)
      alias:
        specifier: npm:real@^3.0.0
        version: /real@3.0.0
  packages/two:
    devDependencies:
      tool:
        specifier: ^4.0.0
        version: 4.0.0
packages:
  /@scope/a@1.10.0(b@2.0.0):
    resolution: {integrity: sha512-00==}
    dependencies:
      b: 2.0.0
    dev: false
  /b@2.0.0:
    resolution: {integrity: sha512-00==}
    dev: false
  /real@3.0.0:
    resolution: {integrity: sha512-00==}
    dev: false
  /tool@4.0.0:
    resolution: {integrity: sha512-00==}
    dev: true
`,
    );
    expect(packagesIn(file)).toEqual(expected);
  });

  test("version 9, behind a document about pnpm itself", () => {
    const file = read(
      "pnpm-lock.yaml",
      `---
lockfileVersion: '9.0'
importers:
  .:
    packageManagerDependencies:
      pnpm:
        specifier: 11.0.0
        version: 11.0.0
---
lockfileVersion: '9.0'
settings:
  autoInstallPeers: true
importers:
  .:
    dependencies:
      '@scope/a':
        specifier: ^1.0.0
        version: 1.10.0(b@2.0.0)
      alias:
        specifier: npm:real@^3.0.0
        version: real@3.0.0
      local:
        specifier: workspace:*
        version: link:packages/local
    devDependencies:
      tool:
        specifier: ^4.0.0
        version: 4.0.0
packages:
  '@scope/a@1.10.0':
    resolution: {integrity: sha512-00==}
    peerDependencies:
      b: '*'
  b@2.0.0:
    resolution: {integrity: sha512-00==}
  real@3.0.0:
    resolution: {integrity: sha512-00==}
  tool@4.0.0:
    resolution: {integrity: sha512-00==}
snapshots:
  '@scope/a@1.10.0(b@2.0.0)':
    dependencies:
      b: 2.0.0
  b@2.0.0: {}
  real@3.0.0: {}
  tool@4.0.0:
    dependencies:
      b: 2.0.0
`,
    );
    expect(packagesIn(file)).toEqual(expected);
    expect(needsIn(file)).toContain("tool@4.0.0 > b@2.0.0");
  });

  test("is refused with the fault and its location", () => {
    expect(refusal("pnpm-lock.yaml", "lockfileVersion: 4.0\n")).toBe('lockfileVersion: is "4.0"; 5 to 9 are read');
    expect(refusal("pnpm-lock.yaml", "lockfileVersion: 9.0\nimporters:\n  .: text\n")).toBe('importers["."]: is no mapping');
    expect(refusal("pnpm-lock.yaml", "lockfileVersion: 9.0\nimporters: [\n")).toContain("cannot be read as YAML");
  });
});
