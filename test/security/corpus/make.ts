/**
 * Makes the corpus: runs each tool in a fresh copy of a project, keeps the documents that it writes, and writes the packages that the
 * package managers themselves list.
 *
 *   bun test/security/corpus/make.ts             every recipe whose tool is on PATH; the others keep what they once made
 *   bun test/security/corpus/make.ts npm cargo   only recipes whose names begin so
 *
 * Nothing in a document is changed but the folder in which the tool ran, which becomes `/srv`. The tools come from their registries:
 * `recipes.ts` says which. One runs at a time.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { projects, type Project } from "./projects.ts";
import type { Listing, Recipe } from "./recipe.ts";
import { listings, recipes } from "./recipes.ts";
import { vexRecipes } from "./vex-recipes.ts";

const home = import.meta.dir;
const chosen = process.argv.slice(2);
const isChosen = (name: string) => chosen.length === 0 || chosen.some((beginning) => name.startsWith(beginning));

interface Run {
  folder: string;
  command: string;
}

/** @returns standard output; null if the command failed, after a line that says so */
function run({ folder, command }: Run): string | null {
  const env = { ...process.env, CI: "1", NO_COLOR: "1", SOURCE_DATE_EPOCH: "1767225600", HOME: process.env["HOME"] ?? folder };
  const { status, stdout, stderr } = spawnSync("bash", ["-ec", command], {
    cwd: folder,
    env,
    encoding: "utf8",
    timeout: 300_000,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  console.error(`failed: ${command}\n${stderr.slice(-600)}${stdout.slice(-300)}`);
  return null;
}

/** Recipes of one project and one setup share a folder, in which the setup runs once. */
interface Scene {
  project: keyof typeof projects;
  setup: string;
  recipes: Recipe[];
  listings: Listing[];
}

function scenesOf(): Scene[] {
  const scenes = new Map<string, Scene>();
  const sceneOf = ({ project, setup = "true" }: Pick<Recipe, "project" | "setup">): Scene => {
    const key = `${project} ${setup}`;
    const scene = scenes.get(key) ?? { project, setup, recipes: [], listings: [] };
    scenes.set(key, scene);
    return scene;
  };
  for (const listing of listings.filter(({ name }) => isChosen(name))) sceneOf(listing).listings.push(listing);
  for (const recipe of [...recipes, ...vexRecipes].filter(({ name }) => isChosen(name))) sceneOf(recipe).recipes.push(recipe);
  return [...scenes.values()];
}

function play(scene: Scene): void {
  const top = mkdtempSync(join(tmpdir(), "corpus-"));
  const folder = join(top, scene.project);
  try {
    const project: Project = projects[scene.project];
    for (const [path, text] of Object.entries(project)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    if (run({ folder, command: scene.setup }) === null) return;
    for (const listing of scene.listings) list(listing, folder);
    for (const recipe of scene.recipes) make(recipe, folder);
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

/** The tool's folder is a machine's own. */
function withoutFolder(text: string, folder: string): string {
  const spellings = [folder, encodeURIComponent(folder), dirname(folder)];
  return spellings.reduce((before, spelling) => before.replaceAll(spelling, "/srv"), text);
}

function make(recipe: Recipe, folder: string): void {
  const printed = run({ folder, command: recipe.command });
  if (printed === null) return;
  const missing = recipe.keep.filter((path) => path !== "-" && !existsSync(join(folder, path)));
  if (missing.length > 0) return console.error(`${recipe.name}: made no ${missing.join(", ")}`);
  const out = join(home, "documents", recipe.name);
  rmSync(out, { recursive: true, force: true });
  for (const path of recipe.keep) {
    const target = join(out, path === "-" ? (recipe.as ?? "printed.json") : path);
    mkdirSync(dirname(target), { recursive: true });
    const bytes = path === "-" ? Buffer.from(printed) : readFileSync(join(folder, path));
    writeFileSync(target, recipe.isUtf16 ? bytes : withoutFolder(bytes.toString("utf8"), folder));
  }
  note("documents.json", recipe.name, { version: versionOf(recipe.version, folder), command: recipe.command });
  console.log(`made ${recipe.name}`);
}

const versions = new Map<string, string>();

function versionOf(command: string, folder: string): string {
  const version = versions.get(command) ?? run({ folder, command })?.trim().split("\n").at(-1) ?? "unknown";
  versions.set(command, version);
  return version;
}

function list(listing: Listing, folder: string): void {
  const printed = run({ folder, command: listing.command });
  if (printed === null) return;
  const packages = [...new Set(listing.packagesIn(printed))].toSorted();
  note("listings.json", listing.name, { command: listing.command, packages });
  console.log(`listed ${listing.name}: ${packages.length}`);
}

/** Adds an entry to a file of the corpus, in the order of the names, and drops those whose recipe is gone. */
function note(file: string, name: string, entry: object): void {
  const path = join(home, file);
  const known: unknown = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
  const names = new Set([...recipes, ...vexRecipes, ...listings].map((one) => one.name));
  const entries = Object.entries({ ...(known as object), [name]: entry })
    .filter(([one]) => names.has(one))
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
}

for (const scene of scenesOf()) play(scene);
