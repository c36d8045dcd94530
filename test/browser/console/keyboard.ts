/** Uses a page by keyboard alone: Tab leads to everything, Enter does it, Escape leaves. */
import { expect } from "bun:test";
import type { Locator, Page } from "playwright-core";

const tabsMax = 60;

/** Presses Tab until the element has the focus, on a new page from behind its menu. @throws Error if Tab does not reach it */
export async function tabTo(target: Locator): Promise<void> {
  const { keyboard } = target.page();
  // Looked for once: to look for it after each press would cost more than the press.
  const element = await target.elementHandle();
  if (element === null) throw new Error(`There is no ${String(target)}`);
  if (await element.evaluate(isBehindMenu)) {
    // The first link of each page leads past the menu.
    await keyboard.press("Tab");
    await keyboard.press("Enter");
  }
  for (let presses = 0; presses < tabsMax; presses++) {
    if (await element.evaluate(isActive)) return;
    await keyboard.press("Tab");
  }
  throw new Error(`Tab does not reach ${String(target)}`);
}

/** Runs in the page. */
function isActive(element: Focusable): boolean {
  return element === element.ownerDocument.activeElement;
}

/** Runs in the page. */
function isBehindMenu(element: Focusable): boolean {
  const { activeElement, body } = element.ownerDocument;
  return activeElement === body && element.closest("header") === null;
}

/** What this file needs of an element, since the project's types know no browser. */
interface Focusable {
  ownerDocument: { activeElement: unknown; body: unknown };
  closest(selector: string): unknown;
}

export async function enter(target: Locator): Promise<void> {
  await tabTo(target);
  await target.page().keyboard.press("Enter");
}

export function hasFocus(target: Locator): Promise<boolean> {
  return target.evaluate(isActive);
}

/** Opens a dialog, leaves it with Escape, which gives the focus back to its button, and opens it again. @returns the dialog */
export async function openTwice(opener: Locator): Promise<Locator> {
  const page = opener.page();
  const dialog = page.getByRole("dialog");
  await enter(opener);
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  expect(await hasFocus(opener)).toBe(true);
  await page.keyboard.press("Enter");
  await dialog.waitFor();
  return dialog;
}

/** Opens each dialog of a page by its button and leaves it with Escape. @returns the ids of the dialogs */
export async function walkDialogs(page: Page): Promise<string[]> {
  const ids: string[] = await page.evaluate(
    "[...new Set([...document.querySelectorAll('[data-opens]')].filter((one) => one.checkVisibility()).map((one) => one.dataset.opens))]",
  );
  for (const id of ids) {
    const opener = page.locator(`[data-opens="${id}"]:visible`).first();
    await opener.focus();
    await page.keyboard.press("Enter");
    expect([id, await page.evaluate(stateOf(id))]).toEqual([id, { isModal: true, hasTitle: true, hasFocus: true }]);
    await page.keyboard.press("Escape");
    expect([id, await page.evaluate(stateOf(id))]).toEqual([id, { isModal: false, hasTitle: true, hasFocus: false }]);
    expect([id, await hasFocus(opener)]).toEqual([id, true]);
  }
  return ids;
}

function stateOf(id: string): string {
  return `(() => {
    const dialog = document.getElementById(${JSON.stringify(id)});
    const title = document.getElementById(dialog.getAttribute("aria-labelledby"));
    return { isModal: dialog.matches(":modal"), hasTitle: title.textContent.trim() !== "", hasFocus: dialog.contains(document.activeElement) };
  })()`;
}
