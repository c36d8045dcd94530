/** Every kind of page, in both colour schemes and from phone to desktop width: an audit, and checks that the audit lacks. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Fleet } from "../support/servers/fleet.ts";
import { chromiumPath, service, Visit } from "./browser.ts";

const kinds: [kind: string, path: string][] = [
  ["the catalog", "/connectors"],
  ["an empty search", "/connectors?q=no+such+vendor"],
  ["a connector with alternative sets of credentials", "/connectors/okta"],
  ["the longest form", "/connectors/ibm-maas360"],
  ["the longest name", "/connectors/harness-feature-management-and-experimentation"],
  ["the generic form", "/connectors/absence-io"],
  ["a key file", "/connectors/google-workspace"],
  ["the record", "/connectors/vouch"],
  ["an unknown connector", "/connectors/nobody-knows-it"],
  ["a mistaken address", "/connectors?page=none"],
];

describe.skipIf(chromiumPath === null)("accessibility of the pages", () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await service();
  }, 60_000);

  // Another window for each test would cost more than the test.
  describe.each(kinds.map(([kind, path], index) => [kind, path, index % 2 === 1] as const))("%s", (_, path, isDarkOnPhone) => {
    let visitor: Visit;
    let page: Page;
    beforeAll(async () => {
      // Otherwise the audit would measure colours in the middle of the transition.
      visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
      page = await visitor.open(path);
    });
    afterAll(() => visitor[Symbol.asyncDispose]());

    // All pages are made of the same parts: every second one shows them dark and narrow.
    test("the audit finds nothing, light on a desktop or dark on a phone", async () => {
      if (isDarkOnPhone) {
        await page.emulateMedia({ colorScheme: "dark" });
        await page.setViewportSize({ width: 360, height: 800 });
        expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(18, 23, 26)");
      }
      expect(await visitor.audit()).toEqual([]);
    });

    test("nothing is cut off at 320 pixels and on a tablet", async () => {
      for (const width of [320, 768]) {
        await page.setViewportSize({ width, height: 800 });
        expect([width, await visitor.overflow()]).toEqual([width, 0]);
      }
    });

    test("there is one heading of the first level, and no level is skipped", async () => {
      await page.setViewportSize({ width: 1_280, height: 800 });
      const levels: number[] = await page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4')].filter((one) => one.checkVisibility()).map((one) => Number(one.tagName[1]))",
      );
      expect([levels[0], levels.filter((level) => level === 1).length]).toEqual([1, 1]);
      expect(levels.every((level, index) => level <= (levels[index - 1] ?? 1) + 1)).toBe(true);
    });
  });

  test("the audit finds nothing on a form with error messages", async () => {
    await using visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
    const page = await visitor.open("/connectors/google-workspace");
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.getByRole("button", { name: /^Save/ }).click();
      expect(await page.locator(".problem:visible").count()).toBe(3);
      expect([scheme, ...(await visitor.audit())]).toEqual([scheme]);
    }
  });

  test("the audit detects violations", async () => {
    await using visitor = await Visit.to({ url: fleet.url() });
    const page = await visitor.open("/connectors/okta");
    await page.evaluate(
      "document.querySelector('#set-0-api_token').removeAttribute('id'); document.querySelector('h1').style.color = '#ccc'",
    );
    const rules = (await visitor.audit()).map((line) => line.split(":")[0]);
    expect(rules).toEqual(expect.arrayContaining(["color-contrast", "label"]));
  });

  test("buttons, fields and page links are large enough for a thumb", async () => {
    await using visitor = await Visit.to({ url: fleet.url(), width: 360 });
    for (const path of ["/connectors", "/connectors/okta", "/connectors/google-workspace"]) {
      const page = await visitor.open(path);
      const small: string[] = await page.evaluate(
        `[...document.querySelectorAll("button, select, textarea, nav.pages a, nav.categories a, label.choice, input:not([type=radio])")]
          .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 40).map((one) => one.outerHTML)`,
      );
      expect([path, small]).toEqual([path, []]);
    }
  });

  test("nothing moves for users who prefer reduced motion", async () => {
    for (const reducedMotion of [true, false]) {
      await using visitor = await Visit.to({ url: fleet.url(), reducedMotion });
      const page = await visitor.open("/connectors");
      const duration = await page.evaluate("getComputedStyle(document.querySelector('button')).transitionDuration");
      expect(duration === "0s").toBe(reducedMotion);
    }
  });

  test("the focused element is outlined", async () => {
    await using visitor = await Visit.to({ url: fleet.url() });
    const page = await visitor.open("/connectors/okta");
    for (let stop = 0; stop < 8; stop++) {
      await page.keyboard.press("Tab");
      const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
      expect([stop, outline]).toEqual([stop, "solid"]);
    }
  });
});
