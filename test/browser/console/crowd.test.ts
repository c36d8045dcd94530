/** A crowded workspace in a real browser: its lists end and go on, its pages fit a phone, and any one of 10,000 keys is found. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page as BrowserPage } from "playwright-core";
import { earlyAccessFeatures } from "../../../src/accounts/workspaces/workspaces.ts";
import type { Page } from "../../../src/console/page.ts";
import { pages } from "../../../src/console/pages.ts";
import { crowdAdmin, crowdedName, crowdName, writeCrowd, type Crowd } from "../../support/console-sample/crowd.ts";
import { hasParameters, nameOf } from "../../support/console-sample/paths.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";
import { chromiumPath, Visit } from "../browser.ts";
import { signIn } from "./sign-in.ts";

/** The things that stand for the ids in paths; pages of other things are not crowded. */
const thingOf: Record<string, (crowd: Crowd) => string> = {
  keys: ({ key }) => key,
  members: ({ member }) => encodeURIComponent(member),
  projects: ({ project }) => project,
  products: ({ product }) => product,
  findings: ({ finding }) => finding,
  vulnerabilities: ({ vulnerability }) => vulnerability,
  requests: ({ generation }) => generation,
};

/** null: the page is of another thing. */
function pathOf({ path }: Page, crowd: Crowd): string | null {
  const [, list = "", place = "", rest = ""] = /^\/(\w+)\/([^/]+)(.*)$/.exec(path) ?? [];
  const thing = place === ":id" ? thingOf[list]?.(crowd) : undefined;
  return thing === undefined ? null : `/${list}/${thing}${rest}`;
}

const noCrowd: Crowd = {
  workspace: "",
  key: "",
  member: "",
  project: "",
  product: "",
  finding: "",
  vulnerability: "",
  generation: "",
};

/** Pages of an admin. Those of a refusal and of a vendor have nothing of the crowd. */
const crowded = pages.filter(
  ({ of, roles, path }) => of === "workspace" && roles.includes("admin") && !/delete-prompt|refused|connections.new/.test(path),
);

describe.skipIf(chromiumPath === null)("a crowded workspace", () => {
  let fleet: Fleet;
  let folder: TemporaryFolder;
  let crowd: Crowd;
  let visitor: Visit;
  let page: BrowserPage;
  const base = `/console/w/${encodeURIComponent(crowdName)}`;
  beforeAll(async () => {
    folder = await temporaryFolder();
    crowd = await writeCrowd(folder.path);
    fleet = await Fleet.start({ services: null, inTest: true, dataDir: folder.path });
    await fleet.operator().call("PATCH", `/workspaces/${crowd.workspace}`, { early_access: earlyAccessFeatures });
    visitor = await Visit.to({ url: fleet.url(), reducedMotion: true, width: 320 });
    page = visitor.page;
    await signIn(visitor, fleet, crowdAdmin);
  }, 120_000);
  afterAll(async () => {
    await visitor[Symbol.asyncDispose]();
    await fleet[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  const rows = () => page.locator("main tbody tr").count();
  const shown = crowded.filter((one) => !hasParameters(one) || pathOf(one, noCrowd) !== null);

  test.each(shown.map((one) => [nameOf(one), one] as const))(
    "%s answers within its bounds, and nothing overflows on a phone",
    async (_, one) => {
      await visitor.open(base + (hasParameters(one) ? pathOf(one, crowd) : one.path.replace(/^\/$/, "")));
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
      for (const width of [320, 768, 1_280]) {
        await page.setViewportSize({ width, height: 800 });
        expect([width, await visitor.overflow()]).toEqual([width, 0]);
      }
      await page.setViewportSize({ width: 320, height: 800 });
      expect([(await page.content()).length < 1_000_000, (await rows()) <= 400, visitor.faults.splice(0)]).toEqual([
        true,
        true,
        [],
      ]);
    },
  );

  const links = () => page.getByRole("main").getByRole("link");

  test("keys and members go on below a page, and one of 10,000 keys is found by its name and in the palette", async () => {
    await visitor.open(`${base}/keys`);
    expect(await rows()).toBe(100);
    await page.getByLabel("Name, owner or last characters").fill("Key 7777");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Key 7777", exact: true }).waitFor();
    expect(await rows()).toBe(1);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search, or go to a page" }).fill("Key 6543");
    await page
      .getByRole("option", { name: /^Key 6543/ })
      .first()
      .waitFor();
    await page.keyboard.press("Escape");
    for (const [list, further] of [
      ["keys", 100],
      ["members", 100],
    ] as const) {
      await visitor.open(`${base}/${list}`);
      const before = await page.locator("main tbody th").allTextContents();
      await links().filter({ hasText: "Next" }).first().click();
      await page.waitForURL("**after=**");
      const after = await page.locator("main tbody th").allTextContents();
      expect([list, after.length, after.filter((name) => before.includes(name))]).toEqual([list, further, []]);
    }
  });

  test("10,000 findings are counted exactly, and each further page shows others", async () => {
    await visitor.open(`${base}/findings`);
    expect(await page.getByRole("main").innerText()).toContain("10,000");
    const ids = () =>
      page
        .locator("main tbody a[href*='/findings/fnd_']")
        .evaluateAll((all) => all.map((one) => String(one.getAttribute("href"))));
    const first = await ids();
    await links().filter({ hasText: "Next" }).first().click();
    await page.waitForURL("**after=**");
    const second = await ids();
    expect([first.length > 0, second.length, second.filter((id) => first.includes(id))]).toEqual([true, first.length, []]);
    expect(visitor.faults).toEqual([]);
  });

  test("a member with 10,000 keys is shown with the first of them, their number, and the way to all", async () => {
    await visitor.open(`${base}/members/${encodeURIComponent(crowd.member)}`);
    await page.getByRole("link", { name: "All 10000 keys" }).click();
    await page.waitForURL("**/keys?text=**");
    expect(await rows()).toBe(100);
    await visitor.open(`${base}/members/${encodeURIComponent(crowd.member)}/deactivate`);
    await page.getByText("This revokes 10000 keys").waitFor();
    expect(await page.getByText("and 9980 more").count()).toBe(1);
  });

  test("names of 200 characters and of another direction are shown whole", async () => {
    await visitor.open(`${base}/keys`);
    for (const n of [9_990, 9_991])
      expect(await page.getByRole("link", { name: crowdedName("Key", n), exact: true }).count()).toBe(1);
  });
});
