/**
 * The names of all variables of Weir, and warnings about names that look meant for Weir but that nothing reads, since a typing error would
 * be ignored silently. A name counts if it is one typing error away from a known one; service links of Kubernetes are ignored.
 */
import { secretVariables, type Environment } from "./variables.ts";

/** Variables that hold no secret; any process of a fleet may have them. */
export const openVariables = [
  "PORT",
  "HOST",
  "DATA_DIR",
  "PLAINTEXT_HOSTS",
  "SERVICE_SLUG",
  "CATALOG_DIR",
  "SANDBOX",
  "CONSOLE",
  "PUBLIC_URL",
  "TRUSTED_PROXIES",
  "MCP_ORIGINS",
  "MAIL_FROM",
  "GITHUB_API_URL",
  "GITLAB_API_URL",
  "ADVISORIES_URL",
  "NATS_REPLICAS",
  "METRICS_PORT",
  "METRICS_HOST",
  "LOG_LEVEL",
  "LOG_FORMAT",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_METRIC_EXPORT_INTERVAL",
  "OTEL_METRICS_EXPORTER",
  "OTEL_SERVICE_NAME",
  "OTEL_TRACES_EXPORTER",
  "OTEL_TRACES_SAMPLER_ARG",
  "FIRST_KEYS",
  "SHUTDOWN_LEAVE_MS",
  "CONNECT_TIMEOUT_MS",
  "FIRST_BYTE_TIMEOUT_MS",
  "IDLE_TIMEOUT_MS",
  "STREAM_DURATION_MS",
  "BODY_TIMEOUT_MS",
  "SBOMS_KEPT",
] as const;

/** Variables without secrets that only some processes of a fleet get. */
const narrowVariables = [
  "AWS_ACCOUNT_ID",
  "AWS_ACCESS_KEY_ID",
  "STRIPE_API_URL",
  "OIDC_CLIENT_ID",
  "OIDC_ISSUER",
  "OIDC_NAME",
  "WEIR_URL",
] as const;

/** All variables except those of providers' keys, which the catalog names. Tests compare them with what the configuration reads. */
export const knownVariables: ReadonlySet<string> = new Set([
  ...openVariables,
  ...narrowVariables,
  ...secretVariables,
  ...secretVariables.map((name) => `${name}_FILE`),
]);

/** Names that the docs, deployments and tests use for their own commands. */
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
 * A sentence for each name that is one typing error away from a known, unset variable, or that begins with WEIR_.
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

/** Shorter names resemble too many others. */
const lettersMin = 4;

function isMeant(name: string, known: string): boolean {
  if (name === `WEIR_${known}`) return true;
  return name.length >= lettersMin && known.length >= lettersMin && isOneTypoAway(name.toUpperCase(), known);
}

/** Whether one letter is missing, added or wrong, two neighbours are swapped, or only the case differs. */
function isOneTypoAway(word: string, other: string): boolean {
  let same = 0;
  while (same < word.length && word[same] === other[same]) same++;
  const [rest, otherRest] = [word.slice(same), other.slice(same)];
  if (rest.slice(1) === otherRest.slice(1) || rest.slice(1) === otherRest || rest === otherRest.slice(1)) return true;
  const [first = "", second = ""] = rest;
  return rest.slice(2) === otherRest.slice(2) && `${second}${first}` === otherRest.slice(0, 2);
}
