/** Names of OpenTelemetry's semantic conventions for generative AI: https://opentelemetry.io/docs/specs/semconv/gen-ai/ */
import type { Attributes } from "@opentelemetry/api";
import type { TracedCall, TracedGeneration } from "../../kernel/telemetry/traces.ts";

/** Well-known names of providers that have another id in the catalog. */
const providerNames: Record<string, string> = {
  google: "gcp.gemini",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  xai: "x_ai",
};

/** What names a call in spans and in metrics. */
export function callAttributes({ operation }: TracedGeneration, { provider, model, baseUrl, code }: TracedCall): Attributes {
  return {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": providerNames[provider] ?? provider,
    "gen_ai.request.model": model,
    ...serverOf(baseUrl),
    ...(code !== null && { "error.type": code }),
  };
}

/** By address, since parsing one is slow. The catalog bounds their number. */
const servers = new Map<string, Attributes>();

function serverOf(baseUrl: string): Attributes {
  const known = servers.get(baseUrl);
  if (known !== undefined) return known;
  const { hostname, port, protocol } = new URL(baseUrl);
  const standard = protocol === "http:" ? 80 : 443;
  const server = { "server.address": hostname, "server.port": port === "" ? standard : Number(port) };
  servers.set(baseUrl, server);
  return server;
}

export function tokenAttributes({ tokens }: TracedGeneration): Attributes {
  return {
    "gen_ai.usage.input_tokens": tokens.prompt,
    "gen_ai.usage.output_tokens": tokens.completion,
    "gen_ai.usage.cache_read.input_tokens": tokens.cached,
    "gen_ai.usage.cache_creation.input_tokens": tokens.cacheWrite,
  };
}

/** The bounds of the conventions' histograms. */
export const durationBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
export const tokenBounds = Array.from({ length: 14 }, (_, power) => 4 ** power);
export const firstTokenBounds = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
