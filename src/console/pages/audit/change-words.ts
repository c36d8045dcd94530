/** What changed, in words: `Role: member → admin`. */
import type { AuditView } from "../../../accounts/audit/list.ts";
import { markup, type Html } from "../../../http/html.ts";
import { userText } from "../../look/user-text.ts";

type Changes = AuditView["changes"];

/** One line for each field. */
export function changeLines(changes: Changes): Html | null {
  const all = Object.entries(changes);
  if (all.length === 0) return null;
  return markup`${all.map(([field, { from, to }], index) => markup`${index === 0 ? null : markup`<br />`}${fieldWords(field)}: ${change(field, { from, to })}`)}`;
}

/** As one line, for a file. */
export function changeText(changes: Changes): string {
  return Object.entries(changes)
    .map(
      ([field, { from, to }]) =>
        `${fieldWords(field)}: ${from === null ? "" : `${wordsOf(field, from)} → `}${wordsOf(field, to)}`,
    )
    .join("; ");
}

/** Of something new there is no value before. */
function change(field: string, { from, to }: { from: unknown; to: unknown }): Html {
  if (from === null) return userText(wordsOf(field, to));
  return markup`${userText(wordsOf(field, from))} → ${userText(wordsOf(field, to))}`;
}

/** Roles and states are words of ours: `super_admin` → `super admin`. */
function wordsOf(field: string, value: unknown): string {
  const words = valueWords(value);
  return field === "role" || field === "status" ? words.replaceAll("_", " ") : words;
}

/** `monthly_spend_limit_usd` → `Monthly spend limit (USD)` */
function fieldWords(field: string): string {
  if (field === "usd") return "USD";
  if (field === "sbom_id") return "SBOM id";
  const spaced = field.replace(/_usd$/, " (USD)").replace(/_rpm$/, " (requests a minute)").replaceAll("_", " ");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

/** The log keeps long values, which a table would not bear. */
const charactersMax = 200;

function valueWords(value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(valueWords).join(", ");
  const text = typeof value === "string" ? value.replace(/^(-?\d+\.\d\d)0{1,7}$/, "$1") : JSON.stringify(value);
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}
