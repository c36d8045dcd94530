/** Opens one Chromium for all tests of this process, and pages that record their errors. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type Page } from "playwright-core";
import { findBrowser } from "../../scripts/services/find-browser.ts";
import { atEnd } from "../support/processes/at-end.ts";
import type { Fleet } from "../support/servers/fleet.ts";
import { leaveWindow, takeWindow, type BrowserWindow } from "./browser-windows.ts";
import { sharedService } from "./shared-service.ts";

const found = await findBrowser();
if ("missing" in found) {
  if (process.env["CI"]) throw new Error(`No browser, and CI is set: ${found.missing}`);
  console.error(`Tests in a browser are skipped: ${found.missing}`);
}

/** null if there is no browser. With CI set this is an error, because CI skips nothing. */
export const chromiumPath = "missing" in found ? null : found.path;

let opened: Promise<Browser> | null = null;

/** The service with the whole catalog, started once for all tests. */
export async function service(): Promise<Fleet> {
  return (await sharedService()).fleet;
}

function browser(): Promise<Browser> {
  opened ??= chromium.launch({
    executablePath: chromiumPath ?? "",
    // Chromium's sandbox needs rights that containers and root lack; it only opens pages of this service. A page lives for a second: to
    // compile its scripts to better code costs a fifth of the audit.
    args: [
      "--no-sandbox",
      "--disable-dev-shm-usage",
      "--disable-gpu",
      "--in-process-gpu",
      // One process for the pages of a window in turn: by default each visit, and each next one to come, starts another.
      "--renderer-process-limit=1",
      "--disable-site-isolation-trials",
      "--js-flags=--no-turbofan --no-maglev",
    ],
    timeout: 30_000,
  });
  return opened;
}

atEnd(async () => {
  if (opened) await (await opened).close();
});

/** Each audited page gets it anew, so it is the shorter form. */
const axeSource = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const auditTags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

export interface VisitPlan {
  /** The address of the service. */
  url: string;
  width?: number;
  scheme?: "light" | "dark";
  javaScript?: boolean;
  reducedMotion?: boolean;
}

export class Visit implements AsyncDisposable {
  readonly page: Page;
  /** Errors of the page and its content security policy, and requests to other hosts. */
  readonly faults: string[] = [];
  /** Requested addresses of the service, without styles, scripts and fonts. */
  readonly asked: string[] = [];
  readonly #window: BrowserWindow;
  readonly #url: string;

  private constructor(taken: BrowserWindow, url: string) {
    this.page = taken.page;
    this.#window = taken;
    this.#url = url;
    this.page.on("pageerror", (error) => this.faults.push(String(error)));
    this.page.on("console", (message) => {
      if (message.type() === "error") this.faults.push(message.text());
    });
    this.page.on("request", (request) => this.#judge(request.url()));
  }

  static async to({ url, width = 1_280, scheme = "light", javaScript = true, reducedMotion }: VisitPlan): Promise<Visit> {
    const taken = await takeWindow(await browser(), javaScript);
    await taken.page.setViewportSize({ width, height: 800 });
    await taken.page.emulateMedia({ colorScheme: scheme, reducedMotion: reducedMotion === true ? "reduce" : "no-preference" });
    return new Visit(taken, url);
  }

  async open(path: string): Promise<Page> {
    await this.page.goto(this.#url + path);
    return this.page;
  }

  /** By how many CSS pixels the page is wider than its viewport. */
  async overflow(): Promise<number> {
    return Number(await this.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"));
  }

  /** The audit's findings, one line each; https://github.com/dequelabs/axe-core/blob/develop/doc/rule-descriptions.md */
  async audit(): Promise<string[]> {
    if ((await this.page.evaluate("typeof axe")) === "undefined") await this.page.evaluate(axeSource);
    const runOnly = JSON.stringify(auditTags);
    const found: Finding[] = await this.page.evaluate(
      `axe.run(document, { runOnly: ${runOnly}, resultTypes: ["violations"] }).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, targets: nodes.map(({ html }) => html) })))`,
    );
    return found.flatMap(({ id, targets }) => targets.map((target) => `${id}: ${target}`));
  }

  #judge(address: string): void {
    if (address.startsWith("data:") || address.startsWith("blob:")) return;
    if (address.startsWith(`${this.#url}/assets/`)) return;
    if (address.startsWith(`${this.#url}/`)) this.asked.push(address.slice(this.#url.length));
    else this.faults.push(`It asked for ${address}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await leaveWindow(this.#window);
  }
}

interface Finding {
  id: string;
  targets: string[];
}
