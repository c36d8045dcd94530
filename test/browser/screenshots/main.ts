/**
 * `npm run screenshots`: pictures of every page with sample data, in both themes, on a desktop, a tablet and a phone, with an index to look
 * at. Each look of a page and of its dialogs is audited for accessibility, and it fails if a rule is broken.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pages } from "../../../src/console/pages.ts";
import { addressOf } from "../../support/console-sample/history.ts";
import { type ConsoleSample, SampleService } from "../../support/console-sample/sample.ts";
import { addressIn, nameOf, viewerOf } from "../../support/console-sample/paths.ts";
import { runAtEnd } from "../../support/processes/at-end.ts";
import { repository } from "../../support/processes/process.ts";
import { chromiumPath, Visit } from "../browser.ts";
import { signIn } from "../console/sign-in.ts";
import { weightLine } from "../page-weight.ts";
import { recordFirstAnswer } from "./first-answer.ts";
import { indexPage, type Shot } from "./index-page.ts";

const usage = `npm run screenshots -- [word …]

Writes ./screenshots/index.html and pictures of each page, and audits each with axe. With words: only pages whose address contains one of them.
The word first-answer alone: the way from the printed link to a first answer of a provider's model, with its times and words.
The word weight alone: no pictures, but the bytes and the first paint of a page of 50 requests.

Example: npm run screenshots -- requests`;

const folder = join(repository, "screenshots");
const widths = [1_280, 768, 360] as const;
const themes = ["light", "dark"] as const;
/** Longer pages are cut off. */
const heightMax = 4_000;

interface Audits {
  looks: number;
  dialogs: number;
  /** Elements that break a rule, in each look. */
  broken: number;
}

interface Place {
  /** The name of its files: the same in every run. */
  name: string;
  path: string;
  /** An address; null: the operator; undefined: no one is signed in. */
  viewer: string | null | undefined;
}

function placesIn({ sample }: SampleService): Place[] {
  const open = { "front-door": "/", reference: "/reference", connectors: "/connectors", "sign-in": "/console/sign-in" };
  const admin = sample.addressOf("super_admin");
  return [
    ...Object.entries(open).map(([name, path]): Place => ({ name, path, viewer: undefined })),
    ...furtherIn(sample).map(([name, path, viewer = admin]): Place => ({ name, path, viewer })),
    ...pages.map((page): Place => ({
      name: nameOf(page).replace(/\W+/g, "-").replace(/-$/, ""),
      path: addressIn(sample, page),
      viewer: viewerOf(page),
    })),
  ];
}

/** Looks that a page has in another state: without rows, after a failure, with a form of another kind. */
function furtherIn({
  name,
  generations,
  peopleOf,
  roleConnection,
}: ConsoleSample): [name: string, path: string, viewer?: string | null][] {
  const path = (rest: string): string => `/console/w/${encodeURIComponent(name)}${rest}`;
  const empty = ["", "/keys", "/requests", "/spend", "/projects", "/findings", "/connections", "/members", "/alerts", "/tickets"];
  return [
    ["request-failed", path(`/requests/${generations.failed}`)],
    ["requests-refused", path("/requests?status=refused")],
    ["findings-by-package", path("/findings?view=package")],
    ["connection-people", path(`/connections/${peopleOf}`)],
    ["connection-aws", path(`/connections/${roleConnection}`)],
    ["connect-aws", path("/connections/new/amazon-web-services")],
    ["search-found", path("/find?q=o")],
    ["settings-operator", path("/settings"), null],
    ["not-found", path("/nothing")],
    ...empty.map((rest): [string, string, null] => [
      `empty${rest.replace("/", "-")}`,
      `/console/w/second%20workspace${rest}`,
      null,
    ]),
  ];
}

async function main(words: readonly string[]): Promise<void> {
  if (words.some((word) => word === "--help" || word === "-h")) return console.log(usage);
  if (chromiumPath === null) throw new Error("There is no Chromium to take pictures with");
  if (words.join() === "weight") return await printWeight();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const shots: Shot[] = [];
  if (words.join() === "first-answer") {
    shots.push(...(await recordFirstAnswer(folder)));
    return await writeIndex(shots);
  }
  console.log("Starting a service with sample data");
  await using service = await SampleService.start({ CONSOLE: "on" });
  const places = placesIn(service).filter(({ path }) => words.length === 0 || words.some((word) => path.includes(word)));
  const audits = { looks: 0, dialogs: 0, broken: 0 };
  for (const [viewer, own] of Map.groupBy(places, ({ viewer }) => viewer)) {
    await using visitor = await visitAs(viewer, service);
    for (const place of own) {
      shots.push(await take(place, visitor, audits));
      console.log(`${shots.length} of ${places.length}: ${place.path}`);
    }
  }
  await writeIndex(shots);
  const { looks, dialogs, broken } = audits;
  console.log(`axe: ${looks} looks of ${places.length} pages and ${dialogs} of their dialogs, ${broken} broken rules`);
  if (broken > 0) process.exitCode = 1;
}

async function printWeight(): Promise<void> {
  await using service = await SampleService.start({ CONSOLE: "on" });
  await using visitor = await visitAs(addressOf("admin"), service);
  const path = `/console/w/${service.sample.name}/requests`;
  console.log(`A page of 50 requests: ${await weightLine(visitor, path)}`);
}

async function writeIndex(shots: readonly Shot[]): Promise<void> {
  await writeFile(join(folder, "index.html"), indexPage(shots));
  console.log(`${join(folder, "index.html")} shows them`);
}

async function visitAs(viewer: Place["viewer"], { fleet }: SampleService): Promise<Visit> {
  const visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
  if (viewer !== undefined) await signIn(visitor, fleet, viewer);
  return visitor;
}

/** The page is loaded once; its style alone follows the theme and the width. */
async function take({ name, path }: Place, visitor: Visit, audits: Audits): Promise<Shot> {
  const page = await visitor.open(path);
  const title = await page.title();
  const files: string[] = [];
  const broken = new Set<string>();
  for (const width of widths) {
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      const height = Number(await page.evaluate("document.documentElement.scrollHeight"));
      await page.setViewportSize({ width, height: Math.min(Math.max(height, 800), heightMax) });
      const file = `${name}-${width}-${colorScheme}.png`;
      await page.screenshot({ path: join(folder, file) });
      files.push(file);
      const { dialogs, found } = await auditLook(visitor);
      audits.looks++;
      audits.dialogs += dialogs;
      audits.broken += found.length;
      for (const finding of found) broken.add(finding);
    }
  }
  for (const finding of broken) console.log(`  ${finding}`);
  return { path, title, files, faults: [...visitor.faults.splice(0), ...broken] };
}

/** Audits the page as it is shown, and with each of its dialogs open. */
async function auditLook(visitor: Visit): Promise<{ dialogs: number; found: string[] }> {
  const { page } = visitor;
  const found = await visitor.audit();
  const dialogs = page.locator("dialog:not([open])");
  const count = await dialogs.count();
  for (let index = 0; index < count; index++) {
    await page.evaluate(`[...document.querySelectorAll("dialog:not([open])")][${index}].showModal()`);
    found.push(...(await visitor.audit()));
    await page.evaluate(`document.querySelector("dialog[open]:modal").close()`);
  }
  return { dialogs: count, found };
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await runAtEnd();
}
