/** Browser windows that many visits use in turn: a new one costs more CPU time than most tests. */
import type { Browser, Page } from "playwright-core";

export interface BrowserWindow {
  page: Page;
  javaScript: boolean;
}

/** The longest wait for anything on a page. */
const waitMs = 10_000;

/** What visits and tests listen to. */
const listenedTo = ["pageerror", "console", "request", "dialog"];

const idle: BrowserWindow[] = [];

/** A window without cookies, at an empty page. No other visit has it until it is left. */
export async function takeWindow(browser: Browser, javaScript: boolean): Promise<BrowserWindow> {
  const place = idle.findIndex((one) => one.javaScript === javaScript);
  const [kept] = place < 0 ? [] : idle.splice(place, 1);
  if (kept) return kept;
  const context = await browser.newContext({
    javaScriptEnabled: javaScript,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  // Tests of pages open them as pages; live.test.ts opens them in the drawer.
  await context.addInitScript(
    "try { localStorage.getItem('weir-drawer') ?? localStorage.setItem('weir-drawer', 'off') } catch {}",
  );
  const page = await context.newPage();
  page.setDefaultTimeout(waitMs);
  return { page, javaScript };
}

/** The Console and the catalog store nothing in a browser but cookies and, by scripts, what their reader chose. */
export async function leaveWindow(left: BrowserWindow): Promise<void> {
  const { page, javaScript } = left;
  const context = page.context();
  for (const event of listenedTo) await page.removeAllListeners(event);
  try {
    if (javaScript) await page.evaluate("URL.canParse(location.origin) && localStorage.clear()");
    await page.goto("about:blank");
    await context.clearCookies();
    idle.push(left);
  } catch {
    // Whatever keeps it from leaving its page must not be in the next visit.
    await context.close();
  }
}
