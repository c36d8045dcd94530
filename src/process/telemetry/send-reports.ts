/** Logs when telemetry cannot be sent, and when it can again: once each, since a collector may be away for days. */
import type { Logger } from "../../kernel/log.ts";

/** Of OpenTelemetry's exporters: 0 is success. */
interface SendResult {
  code: number;
  error?: Error;
}

interface Exporter<T> {
  export(batch: T, done: (result: SendResult) => void): void;
}

export interface SendReports {
  /** @returns the same exporter, whose results are reported */
  watch<T, E extends Exporter<T>>(exporter: E & Exporter<T>): E;
}

export function reported(log: Logger): SendReports {
  let isFailing = false;
  const report = ({ code, error }: SendResult): void => {
    if (code === 0 && isFailing) log.info({ event: "telemetry.restored" }, "Telemetry is sent again");
    // The error's message may quote the collector's answer.
    if (code !== 0 && !isFailing) log.warn({ event: "telemetry.failed", reason: error?.name ?? "" }, failed);
    isFailing = code !== 0;
  };
  return {
    watch(exporter) {
      const send = exporter.export.bind(exporter);
      exporter.export = (batch, done) => {
        send(batch, (result) => {
          report(result);
          done(result);
        });
      };
      return exporter;
    },
  };
}

const failed = "Telemetry cannot be sent: traces are lost until it can, and nothing else is";
