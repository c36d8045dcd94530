/**
 * A mark for a provider or a connector: its initials in one quiet tone, so that a list of them does not compete with its names. The service
 * fetches no logo, so no page loads anything from another host.
 */
import { markup, type Html } from "./html.ts";

/** It decorates the name, so screen readers skip it. */
export function monogram(name: string): Html {
  return markup`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><rect x="0.5" y="0.5" width="23" height="23" rx="5.5" /><text x="12" y="16" text-anchor="middle">${initials(name)}</text></svg>`;
}

/** The initials of the first two words, else the first two letters: `Google Cloud` and `okta` give `GC` and `Ok`. */
function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  const [first = "?", second] = words;
  if (second !== undefined) return `${lettersOf(first, 1)}${lettersOf(second, 1)}`.toUpperCase();
  const two = lettersOf(first, 2);
  return two.charAt(0).toUpperCase() + two.slice(1);
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

function lettersOf(word: string, count: number): string {
  return Array.from(graphemes.segment(word.slice(0, 32)), ({ segment }) => segment)
    .slice(0, count)
    .join("");
}
