/** Of the package managers of npm, at several ages. */
import type { Listing, Recipe } from "./recipe.ts";

const npmProjects = ["npm-shop", "npm-web"] as const;
const npmLock = "npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved=false >/dev/null";
export const npmInstalled = "npm install --ignore-scripts --omit-lockfile-registry-resolved=false >/dev/null";

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
  const wanted =
    project === "npm-shop"
      ? ["1.2 JSON", "1.2 XML", "1.3 JSON", "1.4 JSON", "1.5 JSON", "1.6 JSON", "1.6 XML", "1.7 JSON"]
      : ["1.5 JSON", "1.6 XML"];
  const flags = project === "npm-shop" ? ["--omit dev", "--flatten-components", "--package-lock-only"] : [];
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

/** An older tool runs on the Node.js of its time. */
const exec = (packages: string) => `npm exec --yes${packages.replaceAll(/(?:^| )(?=\S)/g, " --package ")} --`;

const yarnListed = (version: string, project: string) => ({ listing: `yarn-${version.slice(0, 1)}-${project}` });

/** They add node-gyp, as fsevents has a native part. */
const yarnVersions = ["4.18.1", "3.8.7"];
const yarnSetup = (version: string) =>
  `touch yarn.lock; ${exec(`@yarnpkg/cli-dist@${version}`)} yarn install --mode=update-lockfile`;

const otherNpm = npmProjects.flatMap((project): Recipe[] => [
  ...["1.4.4", "1.2.0"].map((version): Recipe => ({
    name: `bun-${version.slice(0, 3)}-${project}`,
    project,
    version: `echo ${version}`,
    setup: `true # bun ${version}`,
    command: `${exec(`bun@${version}`)} bun install --lockfile-only --ignore-scripts --save-text-lockfile`,
    keep: ["bun.lock"],
  })),
  {
    name: `yarn-1-${project}`,
    project,
    version: "echo 1.22.22",
    setup: "true # yarn 1",
    command: `${exec("yarn@1.22.22")} yarn install --ignore-scripts --ignore-platform --ignore-engines`,
    keep: ["yarn.lock"],
  },
  ...yarnVersions.map((version): Recipe => ({
    ...yarnListed(version, project),
    name: `yarn-${version.slice(0, 1)}-${project}`,
    project,
    version: `echo ${version}`,
    setup: yarnSetup(version),
    command: "true",
    keep: ["yarn.lock"],
  })),
]);

/** Before workspaces. */
const npm6: Recipe = {
  name: "npm-6-npm-shop",
  project: "npm-shop",
  version: "echo 6.14.18",
  setup: "true # npm 6",
  command: `${exec("node@14 npm@6.14.18")} npm install --package-lock-only --ignore-scripts`,
  keep: ["package-lock.json"],
};

const yarnListings = npmProjects.flatMap((project) =>
  yarnVersions.map((version): Listing => ({
    name: yarnListed(version, project).listing,
    project,
    setup: yarnSetup(version),
    command: `${exec(`@yarnpkg/cli-dist@${version}`)} yarn info --all --recursive --json`,
    packagesIn: (printed) =>
      [...printed.matchAll(/^\{"value":"([^"]+)@npm:([^"]+)"/gm)].map(([, name, version]) => `npm ${name}@${version}`),
  })),
);

const pnpmOf = (version: string) =>
  `${exec(`${{ 6: "node@16 ", 11: "node@22 " }[version.split(".")[0] ?? ""] ?? ""}pnpm@${version}`)} pnpm`;
const pnpmScene = (version: string, project: Recipe["project"]) => ({
  project,
  version: `echo ${version}`,
  setup: `${pnpmOf(version)} install --lockfile-only --ignore-scripts`,
  ...(project === "pnpm-managed" ? { listing: "npm-shop" } : {}),
});

const pnpm = [
  ...["6.35.1", "7.33.7", "8.15.9", "9.15.9", "10.33.0", "11.0.0"].map((version) => [version, "npm-shop"] as const),
  ...["6.35.1", "7.33.7", "8.15.9", "9.15.9"].map((version) => [version, "pnpm-web"] as const),
  ["11.0.0", "pnpm-managed"] as const,
].map(([version, project]): Recipe => ({
  ...pnpmScene(version, project),
  name: `pnpm-${version.split(".")[0]}-${project}`,
  command: "true",
  keep: ["pnpm-lock.yaml"],
}));

const pnpmSboms = (["npm-shop", "pnpm-web"] as const).flatMap((project) =>
  ["cyclonedx", "spdx"].flatMap((format) =>
    ["--lockfile-only", "--lockfile-only --prod"].slice(0, project === "npm-shop" ? 2 : 1).map((flags): Recipe => ({
      ...pnpmScene("11.0.0", project),
      name: `pnpm-sbom-${format}${flags.includes("prod") ? "-prod" : ""}-${project}`,
      command: `${pnpmOf("11.0.0")} sbom --sbom-format ${format} ${flags}`,
      keep: ["-"],
      ...(flags.includes("prod") ? { listing: `${project}-production` } : {}),
    })),
  ),
);

interface PnpmPackage {
  from?: string;
  version: string;
  dependencies?: Record<string, PnpmPackage>;
}

const pnpmPackages = ({ dependencies = {} }: Pick<PnpmPackage, "dependencies">): string[] =>
  Object.values(dependencies).flatMap((one) => [
    ...(one.version.startsWith("link:") ? [] : [`npm ${one.from}@${one.version}`]),
    ...pnpmPackages(one),
  ]);

const pnpmListing: Listing = {
  name: "pnpm-web",
  project: "pnpm-web",
  setup: pnpmScene("10.33.0", "pnpm-web").setup,
  command: `${pnpmOf("10.33.0")} list --recursive --lockfile-only --depth Infinity --json`,
  packagesIn: (printed) => (JSON.parse(printed) as PnpmPackage[]).flatMap(pnpmPackages),
};

interface NpmPackage {
  name: string;
  version?: string;
  location: string;
  dev?: boolean;
}

/** What `npm query` prints. */
const npmPackages = (printed: string) => JSON.parse(printed) as NpmPackage[];

const queried = npmProjects.flatMap((project) =>
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

export const npmRecipes: readonly Recipe[] = [...npm, ...cyclonedxNpm, npm6, ...otherNpm, ...pnpm, ...pnpmSboms];
export const npmListings: readonly Listing[] = [...queried, ...yarnListings, pnpmListing];
