/** Finds names in the environment that nothing reads, although they look meant for Weir: a typing error there changes nothing, without a word. */
import type { Environment } from "../variables.ts";
import { knownVariables } from "./known-variables.ts";

/** Shorter names are near too many others. */
const lettersMin = 4;

/** Names that documents, deployments and tests use for their own commands. */
const namesOfOthers = new Set([
  "WEIR_KEY",
  "WEIR_MODEL",
  "WEIR_PROJECT",
  "WEIR_IMAGE",
  "WEIR_TEST_DATA",
  "WEIR_POSTGRES_TEMPLATE",
]);

/** Kubernetes names every service of a namespace in such variables. */
const serviceLink = /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_|^WEIR_NATS_/;

/**
 * A sentence for each name that is one typing error away from a known variable which is not set, or that begins with WEIR_.
 * @param keyVariables those of providers' keys
 */
export function unreadVariables(environment: Environment, keyVariables: readonly string[]): string[] {
  const known = new Set([...knownVariables, ...keyVariables, ...keyVariables.map((name) => `${name}_FILE`)]);
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!value || known.has(name) || namesOfOthers.has(name) || serviceLink.test(name) || /^\w+:\/\//.test(value)) return [];
    const meant = [...known].find((one) => !environment[one] && isMeant(name, one));
    if (meant === undefined && !name.startsWith("WEIR_")) return [];
    return [`${name} is set, and nothing reads it${meant === undefined ? "" : `: did you mean ${meant}?`}`];
  });
}

function isMeant(name: string, known: string): boolean {
  if (name === `WEIR_${known}`) return true;
  return name.length >= lettersMin && known.length >= lettersMin && isOneTypoAway(name.toUpperCase(), known);
}

/** Whether one letter is missing, added or another, or two neighbours are swapped; or only the case differs. */
function isOneTypoAway(word: string, other: string): boolean {
  let same = 0;
  while (same < word.length && word[same] === other[same]) same++;
  const [rest, otherRest] = [word.slice(same), other.slice(same)];
  if (rest.slice(1) === otherRest.slice(1) || rest.slice(1) === otherRest || rest === otherRest.slice(1)) return true;
  const [first = "", second = ""] = rest;
  return rest.slice(2) === otherRest.slice(2) && `${second}${first}` === otherRest.slice(0, 2);
}
