/**
 * What the corpus is made with: for each document a tool with its command, and for each project the package manager's own list. The tools
 * come from PyPI, the registries of npm, Go, Rust and Maven, and Debian.
 */
import type { projects } from "./projects.ts";

type ProjectName = keyof typeof projects;

export interface Recipe {
  /** Of the folder that keeps what it made. */
  name: string;
  project: ProjectName;
  /** Prints the tool's version. */
  version: string;
  /** Commands before the tool's own, such as an installation. */
  setup?: string;
  command: string;
  /** Paths in the project; `-` is what the command prints. */
  keep: readonly string[];
  /** The name of what the command prints. */
  as?: string;
  isUtf16?: true;
  /** The list of packages that it has, if not all of the project. */
  listing?: string;
  /** What it has beyond that list, and what of it it leaves out, as its tool means it. */
  more?: readonly string[];
  without?: readonly string[];
}

export interface Listing {
  name: string;
  project: ProjectName;
  setup?: string;
  command: string;
  /** @returns `ecosystem name@version` of each package */
  packagesIn(printed: string): string[];
}

const npmProjects = ["npm-shop", "npm-web"] as const;
const npmLock = "npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved=false >/dev/null";
const npmInstalled = "npm install --ignore-scripts --omit-lockfile-registry-resolved=false >/dev/null";

/** Only macOS installs it. */
const elsewhere = ["npm fsevents@2.3.2"];

const npm = npmProjects.flatMap((project): Recipe[] => {
  const scene = { project, setup: npmInstalled, version: "npm --version" };
  const sboms = ["cyclonedx", "spdx"].flatMap((format) =>
    ["", " --omit dev", " --package-lock-only"].map((flags): Recipe => ({
      ...scene,
      name: `npm-sbom-${format}${flags.replaceAll(/[ -]+/g, "-")}-${project}`,
      command: `npm sbom --sbom-format ${format}${flags}`,
      keep: ["-"],
      listing: flags.includes("dev") ? `${project}-production` : project,
      without: flags.includes("lock") ? [] : elsewhere,
    })),
  );
  const locks = [1, 2, 3].map((version): Recipe => ({
    ...scene,
    name: `npm-lock-${version}-${project}`,
    command: `${npmLock} --lockfile-version ${version}`,
    keep: ["package-lock.json"],
  }));
  const shrinkwrap = { ...scene, name: `npm-shrinkwrap-${project}`, command: "npm shrinkwrap", keep: ["npm-shrinkwrap.json"] };
  return [...sboms, ...locks, shrinkwrap];
});

const cyclonedxNpm = npmProjects.flatMap((project): Recipe[] => {
  const scene = { project, setup: npmInstalled, version: "cyclonedx-npm --version" };
  const call = "cyclonedx-npm --output-reproducible --output-file -";
  const specs = ["1.2", "1.3", "1.4", "1.5", "1.6", "1.7"].flatMap((spec) => [`${spec} JSON`, `${spec} XML`]);
  const wanted = project === "npm-shop" ? specs : ["1.5 JSON", "1.6 XML", "1.7 JSON"];
  const flags = ["--omit dev", "--flatten-components", "--short-PURLs", "--package-lock-only"];
  return [
    ...wanted.map((written): Recipe => {
      const [spec, format = ""] = written.split(" ");
      return {
        ...scene,
        name: `cyclonedx-npm-${spec}-${format.toLowerCase()}-${project}`,
        command: `${call} --spec-version ${spec} --output-format ${format}`,
        keep: ["-"],
        as: `bom.${format.toLowerCase()}`,
        without: elsewhere,
      };
    }),
    ...flags.map((flag): Recipe => ({
      ...scene,
      name: `cyclonedx-npm${flag.replaceAll(/[ -]+/g, "-").toLowerCase()}-${project}`,
      command: `${call} ${flag}`,
      keep: ["-"],
      listing: flag.includes("dev") ? `${project}-production` : project,
      without: flag.includes("lock") ? [] : elsewhere,
    })),
  ];
});

const otherNpm = npmProjects.flatMap((project): Recipe[] => [
  {
    name: `bun-lock-${project}`,
    project,
    version: "bun --version",
    command: "bun install --lockfile-only --ignore-scripts",
    keep: ["bun.lock"],
  },
  {
    name: `yarn-1-${project}`,
    project,
    version: "npm exec --yes --package yarn@1.22.22 -- yarn --version",
    command: "npm exec --yes --package yarn@1.22.22 -- yarn install --ignore-scripts --ignore-platform --ignore-engines",
    keep: ["yarn.lock"],
  },
  ...["4.18.1", "3.8.7"].map((version): Recipe => ({
    name: `yarn-${version.slice(0, 1)}-${project}`,
    project,
    version: `echo ${version}`,
    setup: `touch yarn.lock # ${version}`,
    command: `npm exec --yes --package @yarnpkg/cli-dist@${version} -- yarn install --mode=update-lockfile`,
    keep: ["yarn.lock"],
  })),
]);

const pnpm = ["6.35.1", "7.33.7", "8.15.9", "9.15.9", "10.33.0"].flatMap((version) =>
  (["npm-shop", "pnpm-web"] as const).map((project): Recipe => ({
    name: `pnpm-${version.split(".")[0]}-${project}`,
    project,
    version: `echo ${version}`,
    setup: `true # ${version}`,
    command: `npm exec --yes --package pnpm@${version} -- pnpm install --lockfile-only --ignore-scripts`,
    keep: ["pnpm-lock.yaml"],
  })),
);

const cdxgen = (
  [
    ["npm-shop", "js", npmInstalled],
    ["npm-web", "js", npmInstalled],
    ["py-shop", "python", "uv lock"],
    ["rust-shop", "rust", "cargo generate-lockfile"],
    ["go-shop", "go", "go mod tidy"],
  ] as const
).flatMap(([project, type, setup]) =>
  ["1.5", "1.6", "1.7"].map((spec): Recipe => ({
    name: `cdxgen-${spec}-${project}`,
    project,
    version: "cdxgen --version",
    setup,
    command: `cdxgen -t ${type} --no-install-deps --no-banner --spec-version ${spec} -o bom-${spec}.json .`,
    keep: [`bom-${spec}.json`],
  })),
);

const production = { listing: "py-shop-production" } as const;
const dev = ["PyPI iniconfig@2.0.0", "PyPI six@1.16.0"];
const socks = "PyPI pysocks@1.7.1";
const main = ["PyPI idna@2.7", "PyPI jinja2@2.11.2", "PyPI markupsafe@2.1.5", "PyPI urllib3@1.26.18"];

const uvLock = { project: "py-shop", setup: "uv lock", version: "uv --version" } as const;
const uv: Recipe[] = [
  { ...uvLock, name: "uv-lock", command: "true", keep: ["uv.lock"] },
  {
    ...uvLock,
    name: "uv-export",
    command: "uv export --all-groups --all-extras -o requirements.txt",
    keep: ["requirements.txt"],
  },
  {
    ...uvLock,
    ...production,
    name: "uv-export-plain",
    command: "uv export --no-hashes --no-annotate --no-header --no-emit-project --no-dev -o requirements.txt",
    keep: ["requirements.txt"],
  },
  {
    ...uvLock,
    name: "uv-export-dev",
    command: "uv export --only-dev -o dev-requirements.txt",
    keep: ["dev-requirements.txt"],
    without: [...main, socks],
  },
  {
    ...uvLock,
    name: "uv-pylock",
    command: "uv export --format pylock.toml --all-groups --all-extras -o pylock.toml",
    keep: ["pylock.toml"],
  },
  {
    ...uvLock,
    ...production,
    name: "uv-pylock-plain",
    command: "uv export --format pylock.toml --no-dev -o pylock.toml",
    keep: ["pylock.toml"],
  },
  {
    ...uvLock,
    name: "uv-cyclonedx",
    command: "uv export --format cyclonedx1.5 --all-groups --all-extras -o bom.json",
    keep: ["bom.json"],
  },
  {
    ...uvLock,
    ...production,
    name: "uv-cyclonedx-plain",
    command: "uv export --format cyclonedx1.5 --no-dev -o plain.json",
    keep: ["plain.json"],
  },
  {
    ...uvLock,
    without: dev,
    name: "uv-pip-compile",
    command: "uv pip compile pyproject.toml --all-extras -o requirements.txt",
    keep: ["requirements.txt"],
  },
  {
    ...uvLock,
    ...production,
    name: "uv-pip-compile-hashes",
    command: "uv pip compile pyproject.toml --generate-hashes --annotation-style line -o requirements.txt",
    keep: ["requirements.txt"],
  },
  {
    ...uvLock,
    ...production,
    name: "uv-pip-compile-pylock",
    command: "uv pip compile pyproject.toml --format pylock.toml -o pylock.shop.toml",
    keep: ["pylock.shop.toml"],
  },
  {
    ...production,
    name: "uv-requirement-files",
    project: "py-folders",
    version: "uv --version",
    command: "uv pip compile requirements/base.in -o requirements/base.txt",
    keep: ["requirements.txt", "constraints.txt", "requirements/base.txt", "requirements/net.txt"],
  },
];

const pins = "jinja2==2.11.2 markupsafe==2.1.5 idna==2.7 urllib3==1.26.18 pysocks==1.7.1 six==1.16.0 iniconfig==2.0.0";
const environment = `uv venv -q .venv && uv pip install -q --python .venv/bin/python ${pins} && uv pip freeze --python .venv/bin/python > requirements.txt`;
const cyclonedxPy: Recipe[] = ["1.2", "1.3", "1.4", "1.5", "1.6", "1.7"].flatMap((spec) =>
  ["json", "xml"].flatMap((format) =>
    (["environment .venv", "requirements requirements.txt"] as const).map((source): Recipe => ({
      name: `cyclonedx-py-${source.split(" ")[0]}-${spec}-${format}`,
      project: "py-shop",
      version: "cyclonedx-py --version",
      setup: environment,
      command: `cyclonedx-py ${source.split(" ")[0]} --output-reproducible --sv ${spec} --of ${format.toUpperCase()} -o bom.${format} ${source.split(" ")[1]}`,
      keep: [`bom.${format}`],
    })),
  ),
);

const python: Recipe[] = [
  {
    name: "uv-freeze",
    project: "py-shop",
    version: "uv --version",
    setup: environment,
    command: "true",
    keep: ["requirements.txt"],
  },
  {
    name: "powershell-freeze",
    project: "py-shop",
    version: "uv --version",
    setup: environment,
    command: "(printf '\\xff\\xfe'; sed 's/$/\\r/' requirements.txt | iconv -t UTF-16LE) > windows-requirements.txt",
    keep: ["windows-requirements.txt"],
    isUtf16: true,
  },
  {
    name: "pip-lock",
    project: "py-shop",
    version: "pip --version",
    setup: "true # pip",
    command: `pip lock -q ${pins} -o pylock.toml`,
    keep: ["pylock.toml"],
  },
  ...["", "--generate-hashes", "--annotation-style line"].map((flag): Recipe => ({
    name: `pip-compile${flag.replaceAll(/[ -]+/g, "-")}`,
    project: "py-shop",
    version: "pip-compile --version",
    setup: "true # pip-compile",
    command: `pip-compile -q --all-extras --strip-extras ${flag} -o requirements.txt pyproject.toml`,
    keep: ["requirements.txt"],
    without: dev,
  })),
  {
    name: "poetry-lock",
    project: "py-shop",
    version: "poetry --version",
    setup: "poetry lock -n",
    command: "true",
    keep: ["poetry.lock"],
  },
  {
    name: "pdm-lock",
    project: "py-shop",
    version: "pdm --version",
    setup: "pdm use -f $(command -v python3.11) && pdm lock -G :all",
    command: "true",
    keep: ["pdm.lock"],
  },
  ...["requirements.txt", "pylock.toml"].map((file): Recipe => ({
    name: `pdm-export-${file.split(".")[0]}`,
    project: "py-shop",
    version: "pdm --version",
    setup: "pdm use -f $(command -v python3.11) && pdm lock -G :all",
    command: `pdm export -G :all -f ${file.split(".")[0]} -o ${file}`,
    keep: [file],
  })),
  {
    name: "pipenv-lock",
    project: "py-pipenv",
    version: "pipenv --version",
    setup: "pipenv lock",
    command: "true",
    keep: ["Pipfile.lock"],
    listing: "py-shop",
    without: [socks],
  },
  {
    name: "pipenv-requirements",
    project: "py-pipenv",
    version: "pipenv --version",
    setup: "pipenv lock",
    command: "pipenv requirements > requirements.txt",
    keep: ["requirements.txt"],
    ...production,
  },
];

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
    project: "go-old",
    version: "go version",
    setup: "go mod tidy",
    command: "true",
    keep: ["go.mod", "go.sum"],
  },
];

interface NpmPackage {
  name: string;
  version?: string;
  location: string;
  dev?: boolean;
}

/** What `npm query` prints. */
const npmPackages = (printed: string) => JSON.parse(printed) as NpmPackage[];

const npmListings = npmProjects.flatMap((project) =>
  [true, false].map((isWhole): Listing => ({
    name: isWhole ? project : `${project}-production`,
    project,
    setup: npmInstalled,
    command: "npm query '*' --package-lock-only",
    packagesIn: (printed) =>
      npmPackages(printed)
        .filter(
          ({ name, location, dev }) =>
            location.includes("node_modules/") && !name.startsWith("@web/") && (isWhole || dev !== true),
        )
        .map(({ name, version }) => `npm ${name}@${version}`),
  })),
);

/** What `uv tree` and others print: `name==version` or `name v1.0`. */
const pinsIn = (printed: string) =>
  [...printed.matchAll(/^([\w.-]+)==([^\s;]+)/gm)].map(([, name, version]) => `PyPI ${name}@${version}`);

const pipReport = (more: string): string =>
  `uv pip install --dry-run --target /nowhere --python-version 3.11 jinja2==2.11.2 markupsafe==2.1.5 idna==2.7 urllib3==1.26.18 ${more} 2>&1 | sed -n 's/^ + //p'`;

const uvListings: Listing[] = [
  {
    name: "py-shop",
    project: "py-shop",
    command: pipReport("pysocks==1.7.1 six==1.16.0 iniconfig==2.0.0").trim(),
    packagesIn: pinsIn,
  },
  { name: "py-shop-production", project: "py-shop", command: pipReport("").trim(), packagesIn: pinsIn },
];

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

export const recipes: readonly Recipe[] = [
  ...npm,
  ...cyclonedxNpm,
  ...otherNpm,
  ...pnpm,
  ...uv,
  ...python,
  ...cyclonedxPy,
  ...rust,
  ...go,
  ...cdxgen,
];
export const listings: readonly Listing[] = [...npmListings, ...uvListings, ...rustListings, ...goListings];
