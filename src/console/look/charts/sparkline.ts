/** The course of a number, without axes, beside its value. */
import { markup, type Html } from "../../../http/html.ts";

const width = 120;
const height = 28;

/** @param words say what is drawn, with its first, highest and last value, for readers who do not see it */
export function sparkline(values: readonly number[], words: string): Html {
  const highest = Math.max(...values, 0);
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const at = (value: number, index: number): string =>
    `${(index * step).toFixed(1)} ${(height - 2 - (highest > 0 ? (value / highest) * (height - 4) : 0)).toFixed(1)}`;
  const line = `M${values.map(at).join("L")}`;
  return markup`<svg class="spark" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${words}"><path class="area" d="${values.length > 1 ? `${line}L${width} ${height}L0 ${height}Z` : ""}" /><path class="line" d="${values.length > 1 ? line : ""}" /></svg>`;
}
