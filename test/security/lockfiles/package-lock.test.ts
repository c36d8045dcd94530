import { describe, expect, test } from "bun:test";
import { needsIn, packagesIn, read, refusal } from "./lock-text.ts";

describe("package-lock.json", () => {
  test("version 1 tells nested packages, scopes and edges; what nothing needs is needed by the project", () => {
    const file = read(
      "package-lock.json",
      JSON.stringify({
        lockfileVersion: 1,
        requires: true,
        dependencies: {
          a: { version: "1.0.0", requires: { b: "^2.0.0" }, dependencies: { b: { version: "2.1.0", requires: { c: "*" } } } },
          b: { version: "1.5.0", dev: true },
          c: { version: "3.0.0", optional: true },
          old: { version: "npm:@new/name@4.0.0" },
          fork: { version: "github:someone/fork#abc" },
        },
      }),
    );
    expect(packagesIn(file)).toEqual([
      "@new/name@4.0.0 direct required",
      "a@1.0.0 direct required",
      "b@1.5.0 direct excluded",
      "b@2.1.0 transitive required",
      "c@3.0.0 transitive optional",
    ]);
    expect(needsIn(file)).toEqual([
      ". > @new/name@4.0.0",
      ". > a@1.0.0",
      ". > b@1.5.0",
      "a@1.0.0 > b@2.1.0",
      "b@2.1.0 > c@3.0.0",
    ]);
    expect(file.skipped).toEqual([
      { name: "fork", reason: 'its version is "github:someone/fork#abc", no release of the registry' },
    ]);
  });

  for (const lockfileVersion of [2, 3]) {
    test(`version ${lockfileVersion} finds packages as Node.js does, through workspaces and aliases`, () => {
      const file = read(
        "web/package-lock.json",
        JSON.stringify({
          name: "web",
          lockfileVersion,
          packages: {
            "": { workspaces: ["packages/*"], dependencies: { a: "^1.0.0" }, devDependencies: { tool: "*" } },
            "packages/own": { version: "0.1.0", dependencies: { a: "^2.0.0", shared: "*" }, optionalDependencies: { fast: "*" } },
            "node_modules/own": { resolved: "packages/own", link: true },
            "node_modules/a": { version: "1.0.0", dependencies: { shared: "*" }, peerDependencies: { absent: "*" } },
            "packages/own/node_modules/a": { version: "2.0.0", dependencies: { shared: "*" } },
            "node_modules/shared": { version: "1.0.0" },
            "packages/own/node_modules/a/node_modules/shared": { version: "2.0.0" },
            "node_modules/tool": { version: "9.0.0", dev: true, dependencies: { alias: "*" } },
            "node_modules/alias": { name: "@real/name", version: "5.0.0-rc.1+build", dev: true },
            "node_modules/fast": { version: "0.1.0", optional: true },
            "node_modules/nothing": {},
          },
          dependencies: { ignored: { version: "1.0.0" } },
        }),
      );
      expect(packagesIn(file)).toEqual([
        "@real/name@5.0.0-rc.1+build transitive excluded",
        "a@1.0.0 direct required",
        "a@2.0.0 direct required",
        "fast@0.1.0 direct optional",
        "shared@1.0.0 direct required",
        "shared@2.0.0 transitive required",
        "tool@9.0.0 direct excluded",
      ]);
      expect(needsIn(file)).toEqual([
        ". > a@1.0.0",
        ". > a@2.0.0",
        ". > fast@0.1.0",
        ". > shared@1.0.0",
        ". > tool@9.0.0",
        "a@1.0.0 > shared@1.0.0",
        "a@2.0.0 > shared@2.0.0",
        "tool@9.0.0 > @real/name@5.0.0-rc.1+build",
      ]);
      expect(file.skipped).toEqual([{ name: "nothing", reason: "it has no version" }]);
    });
  }

  test("npm-shrinkwrap.json is read in its place where both are there", () => {
    const lock = (version: string) => JSON.stringify({ lockfileVersion: 3, packages: { "node_modules/a": { version } } });
    const beside = { "package-lock.json": lock("1.0.0"), "other/package-lock.json": lock("3.0.0") };
    expect(packagesIn(read("npm-shrinkwrap.json", lock("2.0.0"), beside))).toEqual(["a@2.0.0 unknown required"]);
    expect(() => read("package-lock.json", lock("1.0.0"), { "npm-shrinkwrap.json": lock("2.0.0") })).toThrow("was not read");
  });

  test("is refused with the fault and its location", () => {
    expect(refusal("package-lock.json", '{"lockfileVersion": 4}')).toBe("lockfileVersion: is 4; 1, 2 and 3 are read");
    expect(refusal("package-lock.json", '{"lockfileVersion": 3}')).toBe("packages: is missing");
    expect(refusal("package-lock.json", '{"lockfileVersion": 3, "packages": {"node_modules/a": 1}}')).toBe(
      'packages["node_modules/a"]: is no object',
    );
    expect(refusal("package-lock.json", '{"lockfileVersion": 1, "dependencies": {"a": []}}')).toBe(
      'dependencies["a"]: is no object',
    );
    expect(refusal("package-lock.json", '{"lockfileVersion": 3, "packages": {')).toContain("ends in the middle");
    expect(refusal("package-lock.json", "[]")).toBe("is JSON, but no object");
    expect(refusal("package-lock.json", "[".repeat(1_000))).toContain("nested deeper than 128 levels");
    expect(refusal("package-lock.json", "  \n")).toBe("is empty");
    expect(refusal("package-lock.json", new Uint8Array([0x7b, 0xff, 0x7d]))).toBe("is not valid UTF-8");
    expect(refusal("package-lock.json", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")).toContain(
      "Git LFS",
    );
  });
});
