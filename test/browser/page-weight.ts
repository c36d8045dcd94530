/** What a page costs its reader: the bytes on the wire, as the browser counts them, and the time to its first text or picture. */
import { until } from "../support/until.ts";
import type { Visit } from "./browser.ts";

export interface PageWeight {
  /** All that came over the wire until the page was loaded, with the headers of answers; nothing of what the browser had kept. */
  bytes: number;
  /** From the click on, as https://www.w3.org/TR/paint-timing/ defines it. */
  firstPaintMs: number;
}

/** Opens the page with what the browser kept of earlier ones. */
export async function weighPage(visit: Visit, path: string): Promise<PageWeight> {
  const { page } = visit;
  const session = await page.context().newCDPSession(page);
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  await session.send("Network.enable");
  await visit.open(path);
  let firstPaintMs: number | null = null;
  await until(async () => {
    firstPaintMs = await page.evaluate(
      "performance.getEntriesByName('first-contentful-paint').map(({ startTime }) => startTime)[0] ?? null",
    );
    return firstPaintMs !== null;
  });
  await session.detach();
  return { bytes, firstPaintMs: firstPaintMs ?? 0 };
}

const views = 20;

/** @returns a line about the first view, with nothing kept, and the further ones. Another load on the machine delays all paints. */
export async function weightLine(visit: Visit, path: string): Promise<string> {
  const first = await weighPage(visit, path);
  const further: PageWeight[] = [];
  for (let view = 0; view < views; view++) further.push(await weighPage(visit, path));
  const paints = further.map(({ firstPaintMs }) => firstPaintMs).toSorted((one, other) => one - other);
  const [least, median, most] = [0, views / 2, views - 1].map((at) => paints[at]?.toFixed(0) ?? "");
  const bytes = Math.max(...further.map((view) => view.bytes));
  const kB = (count: number): string => `${(count / 1_000).toFixed(1)} kB`;
  return `${kB(first.bytes)} the first time, ${kB(bytes)} again; first paint of ${views} views: median ${median} ms, from ${least} to ${most} ms`;
}
