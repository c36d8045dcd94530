/**
 * Reads where traces and metrics are sent. The variables have OpenTelemetry's names. Workspace ids and spend are sent there, so a
 * connection over a network needs TLS. Errors show no header, since it may hold a credential.
 */
import { isLoopback } from "../../kernel/addresses.ts";
import { Secret } from "../../kernel/secret.ts";
import { trimmedEnd } from "../../kernel/text.ts";
import { secretText, ConfigError, integer, oneOf, text, type Environment } from "../environment/variables.ts";

/** Where traces and metrics are sent. */
export interface TelemetryConfig {
  /** Without a trailing slash. */
  endpoint: string;
  /** By their names; they may hold a credential. */
  headers: Record<string, Secret>;
  service: string;
  traces: boolean;
  metrics: boolean;
  /** The share of generations that are traced, 0 to 1. */
  share: number;
  metricsEveryMs: number;
}

/**
 * @param plainTextHosts that may be reached without TLS
 * @returns null: nothing is sent
 * @throws ConfigError with the variable
 */
export function readTelemetry(environment: Environment, plainTextHosts: string[]): TelemetryConfig | null {
  const endpoint = text(environment, "OTEL_EXPORTER_OTLP_ENDPOINT", "");
  const rest = {
    headers: readHeaders(secretText(environment, "OTEL_EXPORTER_OTLP_HEADERS") ?? ""),
    service: text(environment, "OTEL_SERVICE_NAME", "weir"),
    traces: oneOf(environment, "OTEL_TRACES_EXPORTER", "otlp", ["otlp", "none"]) === "otlp",
    metrics: oneOf(environment, "OTEL_METRICS_EXPORTER", "otlp", ["otlp", "none"]) === "otlp",
    share: readShare(text(environment, "OTEL_TRACES_SAMPLER_ARG", "1")),
    metricsEveryMs: integer(environment, "OTEL_METRIC_EXPORT_INTERVAL", 60_000, 1_000, 3_600_000),
  };
  return endpoint === "" ? null : { endpoint: readEndpoint(endpoint, plainTextHosts), ...rest };
}

/** `name=value,name=value`, the values percent-encoded. The error does not show them. */
function readHeaders(value: string): Record<string, Secret> {
  const pairs = value.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...rest] = pair.split("=").map((part) => part.trim());
      const decoded = decode(rest.join("="));
      if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && decoded) return [name, new Secret(decoded)];
      throw new ConfigError("OTEL_EXPORTER_OTLP_HEADERS takes name=value pairs, separated by commas, the values percent-encoded");
    }),
  );
}

/** null: it is not percent-encoded, or it is not a value of a header. */
function decode(encoded: string): string | null {
  try {
    const value = decodeURIComponent(encoded);
    return /^[!-~ ]*$/.test(value) ? value : null;
  } catch {
    return null;
  }
}

function readShare(value: string): number {
  const share = Number(value);
  if (/^(?:[01]|1\.0|0?\.\d+)$/.test(value)) return share;
  throw new ConfigError(`OTEL_TRACES_SAMPLER_ARG is "${value}": a share from 0 to 1 is needed, such as 0.1`);
}

/** Workspace ids and spend are sent there, so a connection over a network needs TLS. */
function readEndpoint(value: string, plainTextHosts: string[]): string {
  const url = URL.parse(value);
  const isPlain = url !== null && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  const host = url?.hostname.replace(/^\[|\]$/g, "") ?? "";
  const mayBePlain = isLoopback(host) || plainTextHosts.some((allowed) => allowed.toLowerCase() === host);
  if (isPlain && (url.protocol === "https:" || (url.protocol === "http:" && mayBePlain))) return trimmedEnd(value, "/");
  throw new ConfigError(
    `OTEL_EXPORTER_OTLP_ENDPOINT is not an address such as https://collector.example.com:4318 or http://127.0.0.1:4318; http needs a host of this machine or of PLAINTEXT_HOSTS, and credentials belong in OTEL_EXPORTER_OTLP_HEADERS`,
  );
}
