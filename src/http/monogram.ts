/**
 * A mark for a provider or a connector: its initials, on a colour derived from its name. The service fetches no logo, so no page loads
 * anything from another host.
 */
import { markup, type Html } from "./html.ts";

/** It decorates the name, so screen readers skip it. */
export function monogram(name: string): Html {
  return markup`<svg class="mark hue-${hueOf(name)}" viewBox="0 0 24 24" aria-hidden="true"><rect width="24" height="24" rx="6" /><text x="12" y="16" text-anchor="middle">${initials(name)}</text></svg>`;
}

const hues = 6;

function hueOf(name: string): number {
  let sum = 7;
  for (const character of name.slice(0, 64)) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return sum % hues;
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
