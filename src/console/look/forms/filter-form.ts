/** Chooses the rows of a list by the address alone: it works without a script, and can be sent to a colleague. */
import { markup, type Html } from "../../../http/html.ts";
import { address } from "./address.ts";
import type { Choice } from "./field.ts";

export interface Filter {
  name: string;
  label: string;
  /** Empty: not set. */
  value: string;
  /** A `choice` begins with one for all; `date` is a day in UTC. */
  kind: "text" | "date" | "choice";
  choices?: readonly Choice[];
  charactersMax?: number;
}

export interface FilterForm {
  /** Where the list is. */
  path: string;
  filters: readonly Filter[];
  /** Of the query, kept by each change, such as the tab. The cursor is not among them. */
  kept?: Readonly<Record<string, string>>;
}

export function filterForm({ path, filters, kept = {} }: FilterForm): Html {
  const set = filters.filter(({ value }) => value !== "");
  return markup`<form class="filters" role="search" method="get" action="${path}">
    ${Object.entries(kept).map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}" />`)}${filters.map(filterElement)}
    <p><button type="submit" class="quiet">Filter</button></p>
  </form>${set.length === 0 ? null : chips({ path, filters: set, kept })}`;
}

/** What is set, each with a link that removes it. */
function chips({ path, filters, kept = {} }: FilterForm): Html {
  const without = (left: Filter): string =>
    address(path, {
      ...kept,
      ...Object.fromEntries(filters.filter((one) => one !== left).map(({ name, value }) => [name, value])),
    });
  const chip = (filter: Filter): Html =>
    markup`<li><span>${filter.label}: <bdi>${shownValue(filter)}</bdi></span><a href="${without(filter)}" aria-label="Remove the filter ${filter.label}">✕</a></li>`;
  return markup`<ul class="chips" role="list" aria-label="Filters that are set">${filters.map(chip)}<li class="clear"><a href="${address(path, kept)}">Clear</a></li></ul>`;
}

function shownValue({ value, choices }: Filter): string {
  return choices?.find((choice) => choice.value === value)?.label ?? value;
}

function filterElement({ name, label, value, kind, choices = [], charactersMax = 200 }: Filter): Html {
  const id = `filter-${name}`;
  const option = (choice: Choice): Html =>
    markup`<option value="${choice.value}"${choice.value === value ? markup` selected` : null}>${choice.label}</option>`;
  const element =
    kind === "choice"
      ? markup`<select id="${id}" name="${name}" autocomplete="off">${choices.map(option)}</select>`
      : markup`<input id="${id}" name="${name}" type="${kind === "date" ? "date" : "search"}" value="${value}" maxlength="${charactersMax}" dir="auto" autocomplete="off" spellcheck="false" />`;
  return markup`<p><label for="${id}">${label}</label>${element}</p>`;
}
