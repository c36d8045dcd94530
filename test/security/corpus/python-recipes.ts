/** Of the package managers of Python, at several ages. */
import type { Listing, Recipe } from "./recipe.ts";

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

const pdmLock = "pdm use -f $(command -v python3.11) && pdm lock -G :all";

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
    version: "pip --version | cut -d ' ' -f 2",
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
    project: "py-poetry",
    listing: "py-shop",
    version: "poetry --version",
    setup: "poetry lock -n",
    command: "true",
    keep: ["poetry.lock"],
  },
  {
    name: "pdm-lock",
    project: "py-shop",
    version: "pdm --version",
    setup: pdmLock,
    command: "true",
    keep: ["pdm.lock"],
  },
  ...["requirements.txt", "pylock.toml"].map((file): Recipe => ({
    name: `pdm-export-${file.split(".")[0]}`,
    project: "py-shop",
    version: "pdm --version",
    setup: pdmLock,
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

/** What `uv tree` and others print: `name==version` or `name v1.0`. */
const pinsIn = (printed: string) =>
  [...printed.matchAll(/^([\w.-]+)==([^\s;]+)/gm)].map(([, name, version]) => `PyPI ${name}@${version}`);

const pipReport = (more: string): string =>
  `uv pip install --dry-run --target /nowhere --python-version 3.11 jinja2==2.11.2 markupsafe==2.1.5 idna==2.7 urllib3==1.26.18 ${more} 2>&1 | sed -n 's/^ + //p'`;

export const pythonListings: readonly Listing[] = [
  {
    name: "py-shop",
    project: "py-shop",
    command: pipReport("pysocks==1.7.1 six==1.16.0 iniconfig==2.0.0").trim(),
    packagesIn: pinsIn,
  },
  { name: "py-shop-production", project: "py-shop", command: pipReport("").trim(), packagesIn: pinsIn },
];

export const pythonRecipes: readonly Recipe[] = [...uv, ...python, ...cyclonedxPy];
