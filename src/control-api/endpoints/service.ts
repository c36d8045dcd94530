/**
 * Endpoints for the operator about the whole service: its state with how its providers answer, the rotation of secrets, and the verification
 * of the ledger.
 */
import { type Static, Type } from "@sinclair/typebox";
import { resealSecondFactors } from "../../accounts/second-factor/second-factor.ts";
import { rotateSecrets, Rotation } from "../../accounts/secrets/rotate.ts";
import { FleetView } from "../../backing/fleet-state.ts";
import { ledgerStatementMsMax } from "../../gateway/limits.ts";
import { healthOfProviders, type MeasuredRoute, ProviderHealth } from "../../gateway/models/listing.ts";
import { resealServiceKeys } from "../../gateway/service-keys/service-keys.ts";
import { Verification, verifyLedger } from "../../gateway/metering/verify.ts";
import { ServiceView } from "../../process/health.ts";
import { NoFields } from "../fields.ts";
import { endpoint } from "../endpoint.ts";
import type { ControlParts } from "../parts.ts";
import { streamProgress, wantsProgress } from "../responses.ts";

const ServedFleet = Type.Composite([
  FleetView,
  Type.Object({ providers: Type.Array(ProviderHealth, { description: "How providers answered in the last day" }) }),
]);
export type ServedFleet = Static<typeof ServedFleet>;

export const serviceEndpoints = {
  show: endpoint({
    method: "GET",
    path: "/service",
    command: "service show",
    summary: "Show the state of the process that answers: its version, what it depends on, and its alarms",
    fields: NoFields,
    view: ServiceView,
    async handle({ actors, parts }) {
      actors.operator("see the state of the service");
      return parts.serviceState();
    },
  }),
  showFleet: endpoint({
    method: "GET",
    path: "/status",
    command: "status",
    summary: "Show what runs: the processes, the database's schema, what waits for the ledger, and how providers answer",
    fields: NoFields,
    view: ServedFleet,
    async handle({ actors, parts }) {
      actors.operator("see the state of the service");
      return { ...(await parts.fleetState()), providers: healthOfProviders(measuredRoutes(parts)) };
    },
  }),
};

function measuredRoutes({ models, measure }: Pick<ControlParts, "models" | "measure">): MeasuredRoute[] {
  return models.list().flatMap(({ routes }) =>
    routes.flatMap((route) => {
      const measured = measure(route);
      if (measured === null) return [];
      return [{ provider: route.provider.id, uptime_percent: measured.uptimePercent, latency_ms: measured.latencyMs }];
    }),
  );
}

export const secretEndpoints = {
  rotate: endpoint({
    method: "POST",
    path: "/secrets/rotate",
    command: "secrets rotate",
    summary: "Seal every workspace's data key, second factor and provider's key under the first key of SECRETS_KEY",
    fields: NoFields,
    view: Rotation,
    handle: async ({ actors, parts }) =>
      rotateSecrets(actors.operator("rotate secrets"), { ...parts, reseals: [resealSecondFactors, resealServiceKeys] }),
  }),
};

export const ledgerEndpoints = {
  verify: endpoint({
    method: "GET",
    path: "/ledger/verify",
    command: "ledger verify",
    summary: "Check all stored amounts in one snapshot",
    fields: NoFields,
    view: Verification,
    deadlineMs: ledgerStatementMsMax,
    progress: true,
    async handle({ actors, request, parts: { sql, log } }) {
      actors.operator("verify the ledger");
      if (!wantsProgress(request)) return verifyLedger({ sql });
      return streamProgress((tell) => verifyLedger({ sql, onChecked: tell }), log);
    },
  }),
};
