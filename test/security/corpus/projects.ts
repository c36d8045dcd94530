/** The small projects that the corpus is made from, as their files. Every version is pinned, so tools of any age resolve the same. */

import { goDatabase, vexWriters } from "./vex-recipes.ts";

export type Project = Readonly<Record<string, string>>;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const npmShop = {
  name: "shop",
  version: "1.0.0",
  license: "MIT",
  dependencies: { "@sindresorhus/is": "0.14.0", debug: "2.6.8", minimist: "1.2.5", padded: "npm:left-pad@1.3.0" },
  devDependencies: { mkdirp: "0.5.1", semver: "5.7.1" },
  optionalDependencies: { fsevents: "2.3.2" },
};

/** Two members, of which one needs the other, and two versions of one package. @param own how a member names another */
function npmWeb(own: string): Project {
  const member = (name: string, dependencies: Record<string, string>) =>
    json({ name, version: "1.0.0", license: "MIT", dependencies });
  return {
    "package.json": json({ name: "web", version: "1.0.0", private: true, license: "MIT", workspaces: ["packages/*"] }),
    "packages/one/package.json": member("@web/one", { ms: "2.1.1", debug: "2.6.8" }),
    "packages/two/package.json": member("@web/two", { ms: "2.0.0", minimist: "1.2.5", "@web/one": own }),
  };
}

const pyproject = `[project]
name = "shop"
version = "1.0.0"
requires-python = ">=3.11,<3.12"
dependencies = ["jinja2==2.11.2", "markupsafe==2.1.5", "idna==2.7", "urllib3==1.26.18"]

[project.optional-dependencies]
socks = ["pysocks==1.7.1"]

[dependency-groups]
dev = ["six==1.16.0", "iniconfig==2.0.0"]
`;

const goMain = `package main

import (
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/text/language"
	"gopkg.in/yaml.v2"
)

func main() {
	text, _ := yaml.Marshal(language.English.String())
	fmt.Println(uuid.Nil, string(text))
}
`;
const goMod = (version: string) => `module example.com/shop

go ${version}

require (
	github.com/google/uuid v1.3.0
	golang.org/x/text v0.3.7
	gopkg.in/yaml.v2 v2.2.1
)
`;

const crate = (more: string) => `[package]
name = "shop"
version = "1.0.0"
edition = "2021"
license = "MIT"

[dependencies]
itoa = "=1.0.1"
semver = "=0.9.0"
smallvec = "=0.6.13"
${more}`;

const artifact = (id: string, more = "") => {
  const [groupId, artifactId, version] = id.split(":");
  return `    <dependency>
      <groupId>${groupId}</groupId>
      <artifactId>${artifactId}</artifactId>
      <version>${version}</version>${more}
    </dependency>
`;
};

export const projects = {
  "npm-shop": { "package.json": json(npmShop) },
  "npm-web": npmWeb("1.0.0"),
  "pnpm-web": { ...npmWeb("workspace:*"), "pnpm-workspace.yaml": "packages:\n  - packages/*\n" },
  "pnpm-managed": { "package.json": json({ ...npmShop, packageManager: "pnpm@11.0.0" }) },
  "py-shop": { "pyproject.toml": pyproject, "shop/__init__.py": "" },
  "py-poetry": {
    "pyproject.toml": `${pyproject}
[[tool.poetry.source]]
name = "simple"
url = "https://pypi.org/simple/"
priority = "primary"
`,
    "shop/__init__.py": "",
  },
  "py-pipenv": {
    Pipfile:
      '[[source]]\nurl = "https://pypi.org/simple"\nverify_ssl = true\nname = "pypi"\n\n[packages]\njinja2 = "==2.11.2"\nmarkupsafe = "==2.1.5"\nidna = "==2.7"\nurllib3 = "==1.26.18"\n\n[dev-packages]\nsix = "==1.16.0"\niniconfig = "==2.0.0"\n',
  },
  "py-folders": {
    "requirements.txt": "-r requirements/base.txt\n-c constraints.txt\n",
    "constraints.txt": "idna==2.7\nurllib3==1.26.18\nunused==1.0\n",
    "requirements/base.in": "jinja2==2.11.2\nmarkupsafe==2.1.5\n",
    "requirements/base.txt": "",
    "requirements/net.txt": "-c ../constraints.txt\nidna\nurllib3>=1.21\n",
  },
  "go-shop": { "go.mod": goMod("1.21"), "main.go": goMain },
  "go-old": { "go.mod": goMod("1.16"), "main.go": goMain },
  "rust-shop": { "Cargo.toml": crate('[dev-dependencies]\nscopeguard = "=1.1.0"\n'), "src/main.rs": "fn main() {}\n" },
  "rust-web": {
    "Cargo.toml": '[workspace]\nresolver = "2"\nmembers = ["one", "two"]\n',
    "one/Cargo.toml": crate("").replace('"shop"', '"one"'),
    "one/src/lib.rs": "",
    "two/Cargo.toml":
      '[package]\nname = "two"\nversion = "1.0.0"\nedition = "2021"\nlicense = "MIT"\n\n[dependencies]\none = { path = "../one" }\nitoa = "=0.4.8"\n',
    "two/src/lib.rs": "",
  },
  "java-shop": {
    "pom.xml": `<?xml version="1.0" encoding="ISO-8859-1"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>shop</artifactId>
  <version>1.0.0</version>
  <dependencies>
${artifact("org.apache.commons:commons-text:1.9")}${artifact("org.apache.logging.log4j:log4j-core:2.14.1")}${artifact("junit:junit:4.13.1", "\n      <scope>test</scope>")}  </dependencies>
</project>
`,
  },
  "ruby-shop": {
    Gemfile:
      'source "https://rubygems.org"\n\ngem "rack", "2.2.22"\ngem "nokogiri", "1.13.10"\ngem "sinatra", "3.0.5", require: false\n\ngroup :test do\n  gem "minitest", "5.15.0"\nend\n',
  },
  "vex-shop": { "package.json": json(npmShop), ...vexWriters },
  "vex-go-shop": { "go.mod": goMod("1.21"), "main.go": goMain, ...goDatabase },
} satisfies Record<string, Project>;
