/** Loads OpenTelemetry's packages and sends traces and metrics, if that is switched on; otherwise the packages stay unloaded. */
import type { TelemetryParts } from "./open-telemetry.ts";
import type { TelemetryConfig } from "./read-telemetry.ts";

/** Dispose the result when the process ends. */
export async function startTelemetry({
  config,
  ...parts
}: Omit<TelemetryParts, "config"> & { config: TelemetryConfig | null }): Promise<AsyncDisposable> {
  if (config === null) return new AsyncDisposableStack();
  return (await import("./open-telemetry.ts")).openTelemetry({ config, ...parts });
}
