/** Asks for pages and takes their time, one at a time, from sending to the last byte. */
import { Histogram, type Summary } from "../load/histogram.ts";
import type { Sample, Visitor } from "./samples.ts";

export interface PageTimes {
  visitor: Visitor;
  /** The sample's name. */
  page: string;
  isFile: boolean;
  /** The first view, when nothing is warm. */
  firstMs: number;
  latencyMs: Summary | null;
  /** Of the longest answer. */
  bytes: number;
  failed: number;
  /** Each status with its count. */
  statuses: Record<string, number>;
}

export interface Visiting {
  url: string;
  visitor: Visitor;
  cookie: string;
}

export const warmUpViews = 20;
export const views = 300;
/** Files take longer, and no bar counts for them. */
const fileViews = 60;

export async function measurePage(sample: Sample, { url, visitor, cookie }: Visiting): Promise<PageTimes> {
  const times = new Histogram();
  const statuses: Record<string, number> = {};
  let [firstMs, bytes, failed] = [0, 0, 0];
  for (let n = -warmUpViews; n < (sample.isFile ? fileViews : views); n++) {
    const address = sample.addresses[(n + warmUpViews) % sample.addresses.length] ?? "";
    const seen = await look(url + address, cookie);
    statuses[seen.status] = (statuses[seen.status] ?? 0) + 1;
    if (seen.status !== 200) failed++;
    bytes = Math.max(bytes, seen.bytes);
    if (n === -warmUpViews) firstMs = seen.ms;
    if (n >= 0) times.add(seen.ms);
    // A page that fails does not begin to work.
    if (failed > warmUpViews) break;
  }
  const shared = { visitor, page: sample.name, isFile: sample.isFile };
  return { ...shared, firstMs, latencyMs: times.summary(), bytes, failed, statuses };
}

export async function look(address: string, cookie: string): Promise<{ status: number; bytes: number; ms: number }> {
  const startedAt = performance.now();
  const response = await fetch(address, { headers: { cookie }, redirect: "manual" });
  const { byteLength } = await response.arrayBuffer();
  return { status: response.status, bytes: byteLength, ms: performance.now() - startedAt };
}
