/** The names of all variables of Weir, for those who pass them on and for warnings about names that nothing reads. */
import { secretVariables } from "./secret-variables.ts";

/** Those that hold no secret and that any process of a fleet may have. */
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

/** Those that belong to a secret, or to clients. */
const narrowVariables = ["STRIPE_API_URL", "OIDC_CLIENT_ID", "OIDC_ISSUER", "OIDC_NAME", "WEIR_URL"] as const;

/** All but the variables of providers' keys, which the catalog names. Tests compare them with those that the configuration reads. */
export const knownVariables: ReadonlySet<string> = new Set([
  ...openVariables,
  ...narrowVariables,
  ...secretVariables,
  ...secretVariables.map((name) => `${name}_FILE`),
]);
