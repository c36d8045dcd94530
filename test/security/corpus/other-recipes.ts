/** Of Rust, Go, Java and Ruby, and of the tools that read several ecosystems. */
import { npmInstalled } from "./npm-recipes.ts";
import type { Listing, Recipe } from "./recipe.ts";

const checkModule = "Go gopkg.in/check.v1@v0.0.0-20161208181325-20d25e280405";

const goReady =
  "go mod tidy && git init -q && git add . && git -c user.name=shop -c user.email=shop@example.com commit -qm shop && git tag v1.0.0";
const mavenReady = "mvn -q -B dependency:resolve";

const cdxgen = (
  [
    ["npm-shop", "js", npmInstalled],
    ["npm-web", "js", npmInstalled],
    ["py-shop", "python", "uv lock"],
    ["rust-shop", "rust", "cargo generate-lockfile"],
    ["go-shop", "go", goReady],
    ["java-shop", "java", mavenReady],
    ["ruby-shop", "ruby", "bundle lock --local"],
  ] as const
).flatMap(([project, type, setup]) =>
  (project === "npm-shop" ? ["1.4", "1.5", "1.6", "1.7"] : ["1.6"]).map((spec): Recipe => ({
    name: `cdxgen-${spec}-${project}`,
    project,
    version: "cdxgen --version",
    setup,
    command: `cdxgen -t ${type} --no-install-deps --no-banner --spec-version ${spec} -o bom-${spec}.json .`,
    keep: [`bom-${spec}.json`],
  })),
);

/** Each project as one reader of files sees it. */
const syftScenes = [
  /** By default Syft leaves out development dependencies. */
  { project: "npm-shop", setup: npmInstalled, listing: "npm-shop-production" },
  { project: "py-shop", setup: "uv lock" },
  { project: "rust-shop", setup: "cargo generate-lockfile" },
  /** It reads go.sum's module of tests too. */
  { project: "go-shop", setup: goReady, more: [checkModule] },
  { project: "ruby-shop", setup: "bundle lock --local" },
] as const;
const syft = syftScenes.flatMap((scene) =>
  (scene.project === "go-shop"
    ? ["cyclonedx-json@1.4", "cyclonedx-json@1.6", "cyclonedx-xml@1.5", "spdx-json@2.2", "spdx-json@2.3", "spdx-tag-value@2.3"]
    : ["cyclonedx-json@1.6", "spdx-json@2.3"]
  ).map((format): Recipe => ({
    ...scene,
    name: `syft-${format.replace("@", "-")}-${scene.project}`,
    version: "syft --version",
    command: `syft -q . --source-name shop --source-version 1.0.0 -o ${format}`,
    keep: ["-"],
    as: format.startsWith("spdx-tag") ? "bom.spdx" : `bom.${format.includes("xml") ? "xml" : "json"}`,
  })),
);

/** What people mistake for an SBOM. */
const refused = (
  [
    ["github-json", "a dependency snapshot for GitHub; run syft with -o cyclonedx-json or -o spdx-json"],
    ["syft-table", "text of an unknown kind; write CycloneDX as JSON or XML, or SPDX as JSON or tag-value"],
  ] as const
).map(([format, refusal]): Recipe => ({
  name: `syft-${format}`,
  project: "ruby-shop",
  setup: "bundle lock --local",
  version: "syft --version",
  command: `syft -q . --source-name shop --source-version 1.0.0 -o ${format}`,
  keep: ["-"],
  as: format.endsWith("json") ? "bom.json" : "bom.txt",
  refusal,
}));

const rust = (["rust-shop", "rust-web"] as const).flatMap((project): Recipe[] => [
  {
    name: `cargo-4-${project}`,
    project,
    version: "cargo --version",
    setup: "true",
    command: "cargo generate-lockfile",
    keep: ["Cargo.lock"],
  },
  {
    name: `cargo-3-${project}`,
    project,
    version: "cargo --version",
    setup: "find . -name Cargo.toml -exec sed -i 's/^edition = .*/&\\nrust-version = \"1.60\"/' {} ';'",
    command: "cargo generate-lockfile",
    keep: ["Cargo.lock"],
  },
]);

const go: Recipe[] = [
  {
    name: "go-mod",
    project: "go-shop",
    version: "go version",
    setup: "go mod tidy",
    command: "true",
    keep: ["go.mod", "go.sum"],
  },
  {
    name: "go-mod-1.16",
    /** Its go.sum names what the tests of its dependencies need. */
    more: [checkModule],
    project: "go-old",
    version: "go version",
    setup: "go mod tidy",
    command: "true",
    keep: ["go.mod", "go.sum"],
  },
];

const goModules = (
  [
    ["mod -json", "1.6"],
    ["mod -json -licenses -std -test", "1.5"],
    ["mod", "1.4"],
    ["app -json -licenses", "1.6"],
    ["bin -json", "1.6"],
  ] as const
).map(([flags, spec]): Recipe => {
  const format = flags.includes("json") ? "json" : "xml";
  return {
    name: `cyclonedx-gomod-${flags.replaceAll(/[ -]+/g, "-")}-${spec}`,
    project: "go-shop",
    setup: `${goReady} && go build -o shop .`,
    version: "cyclonedx-gomod version | sed -n 's/^Version:.v//p'",
    command: `cyclonedx-gomod ${flags} -output-version ${spec} -output bom.${format} ${flags.startsWith("bin") ? "shop" : "."}`,
    keep: [`bom.${format}`],
    more: flags.includes("-std") ? ["Go stdlib@go1.26.8"] : [],
  };
});

const mavenPlugin = "mvn -q -B org.cyclonedx:cyclonedx-maven-plugin";
const maven = [
  ["2.9.3", "1.6", "json", ""],
  ["2.9.3", "1.4", "xml", ""],
  ["2.9.3", "1.5", "json", " -DincludeTestScope=true"],
  ["2.7.7", "1.3", "json", ""],
  ["2.7.7", "1.2", "xml", ""],
] as const;
const mavenSboms = maven.map(([version, spec, format, flags]): Recipe => ({
  name: `cyclonedx-maven-${spec}-${format}${flags === "" ? "" : "-test"}`,
  project: "java-shop",
  setup: mavenReady,
  version: `echo ${version}`,
  command: `${mavenPlugin}:${version}:makeAggregateBom -DschemaVersion=${spec} -DoutputFormat=${format}${flags}`,
  keep: [`target/bom.${format}`],
  listing: flags === "" ? "java-shop-production" : "java-shop",
}));
const pom: Recipe = {
  name: "maven-pom",
  project: "java-shop",
  setup: mavenReady,
  version: "mvn --version | sed -n 's/^Apache Maven //p'",
  command: "true",
  keep: ["pom.xml"],
  listing: "java-shop-direct",
};

const ruby = [
  ["bundler", "Gemfile.lock", "true"],
  ["bundler-platforms", "Gemfile.lock", "bundle lock --local --add-platform java arm64-darwin"],
  ["bundler-gems", "gems.locked", "mv Gemfile gems.rb && bundle lock --local"],
].map(([name = "", file = "", command = ""]): Recipe => ({
  name,
  project: "ruby-shop",
  setup: name === "bundler" ? "bundle lock --local" : `true # ${name}`,
  version: "bundle --version | sed 's/^Bundler version //'",
  command,
  keep: [file],
}));

interface CargoMetadata {
  packages: { name: string; version: string; source: string | null }[];
}

const rustListings = (["rust-shop", "rust-web"] as const).map((project): Listing => ({
  name: project,
  project,
  setup: "true",
  command: "cargo metadata --format-version 1",
  packagesIn: (printed) =>
    (JSON.parse(printed) as CargoMetadata).packages.flatMap(({ name, version, source }) =>
      source === null ? [] : `crates.io ${name}@${version}`,
    ),
}));

const goListings: Listing[] = (["go-shop", "go-old"] as const).map((project) => ({
  name: project,
  project,
  setup: "go mod tidy",
  command: "go list -deps -f '{{with .Module}}{{.Path}}@{{.Version}}{{end}}' ./...",
  packagesIn: (printed) => printed.split("\n").flatMap((line) => (/@v/.test(line) ? `Go ${line}` : [])),
}));

const mavenListings = (
  [
    ["java-shop", ""],
    ["java-shop-production", " -DincludeScope=runtime"],
    ["java-shop-direct", " -DexcludeTransitive"],
  ] as const
).map(([name, flags]): Listing => ({
  name,
  project: "java-shop",
  setup: mavenReady,
  command: `mvn -B dependency:list${flags}`,
  packagesIn: (printed) =>
    [...printed.matchAll(/^\[INFO\] +([\w.-]+):([\w.-]+):jar:([\w.-]+):\w+/gm)].map(
      ([, group, name, version]) => `Maven ${group}:${name}@${version}`,
    ),
}));

const rubyListing: Listing = {
  name: "ruby-shop",
  project: "ruby-shop",
  setup: "bundle lock --local",
  command: "bundle list",
  packagesIn: (printed) =>
    [...printed.matchAll(/^ +\* (\S+) \((\S+)\)/gm)].map(([, name, version]) => `RubyGems ${name}@${version}`),
};

export const otherRecipes: readonly Recipe[] = [
  ...rust,
  ...go,
  ...goModules,
  ...mavenSboms,
  pom,
  ...ruby,
  ...cdxgen,
  ...syft,
  ...refused,
];
export const otherListings: readonly Listing[] = [...rustListings, ...goListings, ...mavenListings, rubyListing];
