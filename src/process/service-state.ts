/** The state of this process, as the operator sees it. */
import { Type, type Static } from "@sinclair/typebox";
import { isoTime, type Clock } from "../kernel/clock.ts";
import { alarmsTotal } from "../kernel/metrics.ts";
import { runChecks, type Check } from "./health.ts";
import { version } from "./version.ts";

export const ServiceView = Type.Object({
  version: Type.String({ description: "The version of Weir" }),
  started_at: Type.String({ description: "When this process started, ISO 8601 in UTC" }),
  dependencies: Type.Record(Type.String(), Type.String(), { description: "By the part's name `ok` or the problem" }),
  alarms: Type.Array(
    Type.Object({
      alarm: Type.String({ description: "Its name, as in the log and in the metric `weir_alarms_total`" }),
      count: Type.Integer({ description: "How often this process raised it since it started" }),
    }),
    { description: "The alarms that were raised" },
  ),
});
export type ServiceView = Static<typeof ServiceView>;

export function serviceState(checks: Record<string, Check>, clock: Clock): () => Promise<ServiceView> {
  const startedAt = isoTime(clock.now());
  return async () => {
    const [dependencies, { values }] = await Promise.all([runChecks(checks), alarmsTotal.get()]);
    const alarms = values.map(({ labels, value }) => ({ alarm: String(labels.alarm), count: value }));
    return { version, started_at: startedAt, dependencies, alarms: alarms.filter(({ count }) => count > 0) };
  };
}
