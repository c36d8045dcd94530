/** The menu on a laptop: each of its links can be seen and clicked, however low the window is. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Fleet } from "../../support/servers/fleet.ts";
import { chromiumPath, service, Visit } from "../browser.ts";
import { signIn } from "./sign-in.ts";

const schemes = ["light", "dark"] as const;

/** Run in the page: the texts of links whose middle is not theirs, or of which a part is outside of the menu. */
const hiddenLinks = `(() => {
  const menu = document.querySelector(".links").getBoundingClientRect();
  return [...document.querySelectorAll(".links a")].filter((link) => {
    const box = link.getBoundingClientRect();
    const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return !link.contains(top) || box.top < menu.top - 1 || box.bottom > Math.min(menu.bottom, innerHeight) + 1;
  }).map((link) => link.textContent.trim());
})()`;

/** Of each link: its text, and the texts of those that are hidden once it was scrolled into sight. */
const scrolledToEach = `[...document.querySelectorAll(".links a")].map((link) => {
  link.scrollIntoView({ block: "nearest" });
  return { text: link.textContent.trim(), hidden: ${hiddenLinks} };
})`;

/** The text of what has the focus, and those of the links that are hidden. */
const focusedLink = `({ text: document.activeElement.textContent.trim(), hidden: ${hiddenLinks} })`;

interface SeenLink {
  text: string;
  hidden: string[];
}

describe.skipIf(chromiumPath === null)("the Console's menu", () => {
  let fleet: Fleet;
  let visitor: Visit;
  const name = `menu ${crypto.randomUUID().slice(0, 8)}`;
  const email = `${crypto.randomUUID().slice(0, 8)}@example.test`;

  beforeAll(async () => {
    fleet = await service();
    await fleet.operator().call("POST", "/workspaces", { name });
    await fleet.operator().call("POST", "/members", { workspace: name, email, role: "super_admin" });
    visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
  }, 60_000);
  afterAll(() => visitor[Symbol.asyncDispose]());

  const open = async (as: string | null, { height, width = 1_280 }: { height: number; width?: number }): Promise<Page> => {
    await signIn(visitor, fleet, as);
    await visitor.page.setViewportSize({ width, height });
    return visitor.open(`/console/w/${encodeURIComponent(name)}`);
  };
  const hidden = (page: Page): Promise<string[]> => page.evaluate(hiddenLinks);

  test.each([
    ["the operator in a workspace", 720, null],
    ["a super admin", 720, email],
  ])("%s sees all of it at once at a height of %d", async (_, height, as) => {
    const page = await open(as, { height });
    expect(await page.locator(".links a").count()).toBeGreaterThan(15);
    expect(await hidden(page)).toEqual([]);
  });

  test.each([600, 480])(
    "at a height of %d each link scrolls into sight, none is under the account, and Tab reaches it",
    async (height) => {
      const page = await open(null, { height });
      expect((await hidden(page)).length).toBeGreaterThan(0);
      const links: SeenLink[] = await page.evaluate(scrolledToEach);
      for (const link of links) expect(link.hidden).not.toContain(link.text);
      await page.locator(".switcher select").or(page.locator(".home")).last().focus();
      for (const { text } of links) {
        await page.keyboard.press("Tab");
        const focused: SeenLink = await page.evaluate(focusedLink);
        expect(focused.text).toBe(text);
        expect(focused.hidden).not.toContain(text);
      }
    },
  );

  test.each(schemes)("in the %s theme a shade at its edge says that there is more, and only there", async (colorScheme) => {
    const page = await open(null, { height: 540 });
    await page.emulateMedia({ colorScheme });
    const box = await page.locator(".links").boundingBox();
    if (!box) throw new Error("There is no menu");
    /** A strip right of the links' texts. */
    const strip = async (y: number): Promise<string> =>
      (await page.screenshot({ clip: { x: box.x + box.width - 40, y, width: 20, height: 2 } })).toBase64();
    const [first, last] = [box.y + 1, box.y + box.height - 3];
    const plain = await strip(box.y + box.height + 3);
    const scrollTo = (where: string) => page.evaluate(`document.querySelector(".links").scrollTop = ${where}`);
    await page.evaluate("document.querySelector('.links [aria-current]')?.removeAttribute('aria-current')");
    await scrollTo("0");
    expect([(await strip(first)) === plain, (await strip(last)) === plain]).toEqual([true, false]);
    await scrollTo("60");
    expect([(await strip(first)) === plain, (await strip(last)) === plain]).toEqual([false, false]);
    await scrollTo("10000");
    expect([(await strip(first)) === plain, (await strip(last)) === plain]).toEqual([false, true]);
    expect(await visitor.audit()).toEqual([]);
  });

  test("on a phone it opens below the bar, with all of its links", async () => {
    const page = await open(null, { width: 390, height: 844 });
    expect(await page.getByRole("link", { name: "Audit", exact: true }).isVisible()).toBe(false);
    await page.getByText("Menu", { exact: true }).click();
    for (const link of await page.locator(".links a").all()) {
      await link.scrollIntoViewIfNeeded();
      expect(await link.evaluate((element) => element.getBoundingClientRect().height)).toBeGreaterThanOrEqual(44);
    }
    expect(await visitor.overflow()).toBe(0);
  });
});
