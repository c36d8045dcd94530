/**
 * A page of one thing, such as a key or a member: what it is at the left, and what it may spend, what was done with it and what can be done
 * at the right. On a phone the second follows the first. Its name and state are the page's heading, and its acts are buttons beside it.
 */
import { markup, type Html } from "../../http/html.ts";
import { copyButton, facts, type Content } from "./parts.ts";

/** null shows a dash. */
export type ThingFacts = readonly (readonly [name: string, value: Content | null])[];

interface Thing {
  facts: ThingFacts;
  /** Below the facts. */
  note?: Html | null;
  main: Html;
}

export function thingPage({ facts: all, note = null, main }: Thing): Html {
  return markup`<div class="thing"><div class="thing-facts">${facts(all)}${note}</div><div>${main}</div></div>`;
}

/** An id with a button that copies it. @param id of the element, unique on its page */
export function idToCopy({ id, value, what }: { id: string; value: string; what: string }): Html {
  return markup`<span class="id"><code id="${id}" class="whole">${value}</code>${copyButton({ copies: id, label: "Copy", what })}</span>`;
}

/** What may be spent, each as a meter. Those that do not apply are left out. */
export function limitMeters(all: readonly (readonly [name: string, meter: Html | null])[]): Html | null {
  const set = all.flatMap(([name, meter]) => (meter === null ? [] : [markup`<div><dt>${name}</dt><dd>${meter}</dd></div>`]));
  return set.length === 0 ? null : markup`<dl class="limits">${set}</dl>`;
}
