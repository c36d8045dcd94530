import { describe, expect, test } from "bun:test";
import { needsIn, packagesIn, read, refusal } from "./lock-text.ts";

describe("Maven", () => {
  test("pom.xml gives versions that stand in it: literal, by properties, by its dependencyManagement", () => {
    const file = read(
      "pom.xml",
      `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent><groupId>org.example</groupId><artifactId>parent</artifactId><version>7</version></parent>
  <artifactId>app</artifactId>
  <properties>
    <jackson.version>2.\${minor}</jackson.version>
    <minor>17.1</minor>
    <circle>\${circle}</circle>
  </properties>
  <dependencyManagement><dependencies>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-api</artifactId><version>2.0.13</version></dependency>
    <dependency><groupId>org.junit</groupId><artifactId>junit</artifactId><version>5.10.2</version><scope>test</scope></dependency>
    <dependency><groupId>com.example</groupId><artifactId>bom</artifactId><version>1</version><type>pom</type><scope>import</scope></dependency>
  </dependencies></dependencyManagement>
  <dependencies>
    <dependency><groupId>com.fasterxml.jackson.core</groupId><artifactId>jackson-databind</artifactId><version>\${jackson.version}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-api</artifactId></dependency>
    <dependency><groupId>org.junit</groupId><artifactId>junit</artifactId></dependency>
    <dependency><groupId>\${project.groupId}</groupId><artifactId>sibling</artifactId><version>\${project.version}</version></dependency>
    <dependency><groupId>a</groupId><artifactId>exact</artifactId><version>[1.5]</version><optional>true</optional></dependency>
    <dependency><groupId>a</groupId><artifactId>range</artifactId><version>[1.0,2.0)</version></dependency>
    <dependency><groupId>a</groupId><artifactId>managed-elsewhere</artifactId></dependency>
    <dependency><groupId>a</groupId><artifactId>circle</artifactId><version>\${circle}</version></dependency>
    <dependency><groupId>a</groupId><artifactId>unknown</artifactId><version>\${env.VERSION}</version></dependency>
  </dependencies>
  <profiles><profile><dependencies>
    <dependency><groupId>a</groupId><artifactId>in-profile</artifactId><version>1</version></dependency>
  </dependencies></profile></profiles>
</project>`,
    );
    expect(packagesIn(file)).toEqual([
      "a:exact@1.5 direct optional",
      "a:in-profile@1 direct optional",
      "com.fasterxml.jackson.core:jackson-databind@2.17.1 direct required",
      "org.example:sibling@7 direct required",
      "org.junit:junit@5.10.2 direct excluded",
      "org.slf4j:slf4j-api@2.0.13 direct required",
    ]);
    expect(file.skipped).toEqual([
      { name: "a:range", reason: "its version is a range, or is defined outside of the file" },
      { name: "a:managed-elsewhere", reason: "its version is defined outside of the file" },
      { name: "a:circle", reason: "its version is a range, or is defined outside of the file" },
      { name: "a:unknown", reason: "its version is a range, or is defined outside of the file" },
    ]);
    expect(file.packages[2]?.purl).toBe("pkg:maven/com.fasterxml.jackson.core/jackson-databind@2.17.1");
  });

  test("pom.xml with entities is refused, and what is no project", () => {
    const bomb = '<!DOCTYPE project [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><project>&b;</project>';
    expect(refusal("pom.xml", bomb)).toContain("it has a document type, which may declare entities");
    expect(refusal("pom.xml", "<html/>")).toBe("<html>: is its root element; <project> is needed");
    expect(refusal("pom.xml", "<project><dependencies>")).toContain("cannot be read as XML");
    expect(refusal("pom.xml", "<a>".repeat(500))).toContain("too deep");
  });

  test("gradle.lockfile gives packages with the configurations that have them", () => {
    const file = read(
      "gradle.lockfile",
      `# This is a Gradle generated file for dependency locking.
com.google.guava:guava:33.0.0-jre=compileClasspath,runtimeClasspath,testRuntimeClasspath
org.junit:junit:5.10.2=testCompileClasspath,testRuntimeClasspath
empty=annotationProcessor
`,
    );
    expect(packagesIn(file)).toEqual([
      "com.google.guava:guava@33.0.0-jre unknown required",
      "org.junit:junit@5.10.2 unknown excluded",
    ]);
    expect(refusal("gradle.lockfile", "a:b=c\n")).toBe('line 1: is "a:b=c"; "group:artifact:version=configurations" is needed');
  });
});

describe("Go", () => {
  const goMod = `module example.com/app // the app

go 1.21

toolchain go1.22.1

require github.com/Direct/Mod v1.2.3
require (
	github.com/old/mod/v2 v2.0.0+incompatible
	golang.org/x/text v0.0.0-20200101000000-abcdefabcdef // indirect
	"example.com/quoted" v1.0.0 // indirect; kept
	example.com/local v1.0.0
	example.com/bad v1.0.0
	example.com/forked v1.0.0 // not indirect at all
)

replace (
	example.com/local => ../local
	example.com/forked v1.0.0 => example.com/fork v1.0.1
)

exclude example.com/bad v1.0.0

retract [v1.0.0, v1.1.0]
`;

  test("go.mod gives what is required, direct or indirect, after replace and exclude", () => {
    const file = read("go.mod", goMod, { "go.sum": "example.com/never v9.0.0 h1:00=\n" });
    expect(packagesIn(file)).toEqual([
      "example.com/fork@v1.0.1 direct -",
      "example.com/quoted@v1.0.0 transitive -",
      "github.com/Direct/Mod@v1.2.3 direct -",
      "github.com/old/mod/v2@v2.0.0+incompatible direct -",
      "golang.org/x/text@v0.0.0-20200101000000-abcdefabcdef transitive -",
    ]);
    expect(file.skipped).toEqual([
      { name: "example.com/local", reason: "it is replaced by a folder" },
      { name: "example.com/bad", reason: "v1.0.0 is excluded by the file itself" },
    ]);
    expect(file.packages[3]?.purl).toBe("pkg:golang/github.com/old/mod/v2@v2.0.0%2Bincompatible");
  });

  test("go.sum adds what a Go before 1.17 does not name: the highest version whose code was loaded", () => {
    const sum = `example.com/a v1.0.0 h1:00=
example.com/a v1.0.0/go.mod h1:00=
example.com/b v1.9.0 h1:00=
example.com/b v1.10.0 h1:00=
example.com/c v1.0.0/go.mod h1:00=
`;
    const file = read("go.mod", "module m\ngo 1.16\nrequire example.com/a v1.0.0\n", { "go.sum": sum });
    expect(packagesIn(file)).toEqual(["example.com/a@v1.0.0 direct -", "example.com/b@v1.10.0 transitive -"]);
  });

  test("is refused with the fault and its location", () => {
    expect(refusal("go.mod", "module m\nrequire (\n\ta v1\n")).toBe('ends within the block "require"');
    expect(refusal("go.mod", "module m\nrequire a\n")).toBe('line 2: is "a"; a module with its version is needed');
    expect(refusal("go.mod", 'module "m\n')).toBe("line 1: has a quotation mark that is not closed");
    expect(refusal("go.mod", "replace a v1\n")).toContain("line 1: replaces nothing");
    expect(refusal("go.mod", "// nothing\n")).toBe("has no directive such as module");
  });
});

test("Cargo.lock tells several versions of a crate apart; crates without a source are the repository's own", () => {
  const registry = 'source = "registry+https://github.com/rust-lang/crates.io-index"';
  const file = read(
    "Cargo.lock",
    `# This file is automatically @generated by Cargo.
version = 4

[[package]]
name = "app"
version = "0.1.0"
dependencies = ["rand 0.8.5", "member"]

[[package]]
name = "member"
version = "0.1.0"
dependencies = ["rand 0.7.3 (registry+https://github.com/rust-lang/crates.io-index)"]

[[package]]
name = "rand"
version = "0.7.3"
${registry}

[[package]]
name = "rand"
version = "0.8.5"
${registry}
dependencies = ["libc"]

[[package]]
name = "libc"
version = "0.2.150"
${registry}
checksum = "00"
`,
  );
  expect(packagesIn(file)).toEqual(["libc@0.2.150 transitive -", "rand@0.7.3 direct -", "rand@0.8.5 direct -"]);
  expect(needsIn(file)).toEqual([". > rand@0.7.3", ". > rand@0.8.5", "rand@0.8.5 > libc@0.2.150"]);
  expect(refusal("Cargo.lock", '[[package]]\nname = "a"\n')).toBe('package "a": has no version');
});

test("Gemfile.lock joins platforms, and tells what the Gemfile names", () => {
  const file = read(
    "Gemfile.lock",
    `GIT
  remote: https://github.com/someone/fork.git
  revision: 00
  specs:
    fork (1.0.0.pre.1)
      rack

PATH
  remote: engines/own
  specs:
    own (0.1.0)
      rack (>= 2)

GEM
  remote: https://rubygems.org/
  specs:
    nokogiri (1.15.4)
      racc (~> 1.4)
    nokogiri (1.15.4-x86_64-linux)
      racc (~> 1.4)
    racc (1.7.1)
    racc (1.7.1-java)
    rack (3.0.8)

PLATFORMS
  ruby
  x86_64-linux

DEPENDENCIES
  fork!
  nokogiri (~> 1.15)
  own!

RUBY VERSION
   ruby 3.2.2p53

BUNDLED WITH
   2.4.10
`,
  );
  expect(packagesIn(file)).toEqual([
    "fork@1.0.0.pre.1 direct -",
    "nokogiri@1.15.4 direct -",
    "racc@1.7.1 transitive -",
    "rack@3.0.8 direct -",
  ]);
  expect(refusal("Gemfile.lock", "GEM\n  specs:\n    a 1.0\n")).toContain('line 3: is "a 1.0"');
  expect(refusal("Gemfile.lock", "GEM\n<<<<<<< HEAD\n")).toBe("line 2: is the mark of a merge that is not resolved");
});

describe("NuGet", () => {
  test("packages.lock.json joins frameworks, with case-insensitive names", () => {
    const file = read(
      "packages.lock.json",
      JSON.stringify({
        version: 2,
        dependencies: {
          "net8.0": {
            "Newtonsoft.Json": { type: "Direct", requested: "[13.0.3, )", resolved: "13.0.3" },
            "Serilog.Sinks.File": { type: "CentralTransitive", resolved: "5.0.0", dependencies: { serilog: "2.10.0" } },
            Serilog: { type: "Transitive", resolved: "3.1.1" },
            other: { type: "Project", dependencies: { "Serilog.Sinks.File": "[5.0.0, )" } },
          },
          "net8.0/win-x64": { "Runtime.Only": { type: "Transitive", resolved: "1.0.0.1" } },
        },
      }),
    );
    expect(packagesIn(file)).toEqual([
      "Newtonsoft.Json@13.0.3 direct -",
      "Runtime.Only@1.0.0.1 transitive -",
      "Serilog.Sinks.File@5.0.0 direct -",
      "Serilog@3.1.1 transitive -",
    ]);
    expect(refusal("packages.lock.json", '{"version": 3}')).toBe("version: is 3; 1 and 2 are read");
    expect(refusal("packages.lock.json", '{"version": 1, "dependencies": {"net6.0": {"A": {"type": "Direct"}}}}')).toBe(
      'dependencies["net6.0"]["A"].resolved: is missing',
    );
  });

  test("packages.config is one list", () => {
    const file = read(
      "packages.config",
      `\ufeff<?xml version="1.0" encoding="utf-8"?>
<packages>
  <package id="jQuery" version="3.7.1" targetFramework="net48" />
  <package id="StyleCop" version="6.2.0" targetFramework="net48" developmentDependency="true" />
</packages>`,
    );
    expect(packagesIn(file)).toEqual(["StyleCop@6.2.0 unknown excluded", "jQuery@3.7.1 unknown required"]);
    expect(refusal("packages.config", '<packages><package id="a"/></packages>')).toBe("<package> 1: has no id or no version");
  });

  test("project.assets.json tells packages from projects, and direct from transitive", () => {
    const file = read(
      "obj/project.assets.json",
      JSON.stringify({
        version: 3,
        targets: {
          "net8.0": {
            "A/1.0.0": { type: "package", dependencies: { B: "2.0.0" } },
            "B/2.0.0": { type: "package" },
            "C/3.0.0": { type: "package" },
            "own/1.0.0": { type: "project", dependencies: { C: "3.0.0" } },
          },
        },
        project: { frameworks: { "net8.0": { dependencies: { a: { target: "Package", version: "[1.0.0, )" } } } } },
      }),
    );
    expect(packagesIn(file)).toEqual(["A@1.0.0 direct -", "B@2.0.0 transitive -", "C@3.0.0 direct -"]);
    expect(refusal("project.assets.json", '{"version": 3, "targets": {"net8.0": {"A": {}}}}')).toBe(
      'targets["net8.0"]["A"]: is no library "name/version"',
    );
  });
});
