/**
 * Endpoints for the operator about the whole service: its state with how its providers answer, the rotation of secrets, and the verification
 * of the ledger.
 */
import { type Static, Type } from "@sinclair/typebox";
import { resealSecondFactors } from "../../accounts/second-factor/second-factor.ts";
import { rotateSecrets, Rotation } from "../../accounts/secrets/rotate.ts";
import { FleetView } from "../../backing/fleet-state.ts";
import { ledgerStatementMsMax } from "../../gateway/limits.ts";
import { resealServiceKeys } from "../../gateway/service-keys/service-keys.ts";
import { Verification, verifyLedger } from "../../gateway/metering/verify.ts";
import { ServiceView } from "../../process/health.ts";
import { NoFields } from "../fields.ts";
import { endpoint } from "../endpoint.ts";
import type { ControlParts } from "../parts.ts";
import { streamProgress, wantsProgress } from "../responses.ts";

const ProviderHealth = Type.Object({
  provider: Type.String({ description: "The provider" }),
  models: Type.Integer({ description: "How many of its models had requests in the last day" }),
  uptime_percent: Type.Union([Type.Number(), Type.Null()], {
    description: "Of these models the lowest share of requests that the provider answered, in percent; null: not measured",
  }),
  latency_ms: Type.Union([Type.Number(), Type.Null()], {
    description: "Of these models the longest mean time to the first token, in milliseconds; null: not measured",
  }),
});
type ProviderHealth = Static<typeof ProviderHealth>;

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
      return { ...(await parts.fleetState()), providers: providerHealth(parts) };
    },
  }),
};

/** Those that had requests in the last day, by the worst of their models: a mean would hide one that fails. */
function providerHealth({ models, measure }: Pick<ControlParts, "models" | "measure">): ProviderHealth[] {
  const health = new Map<string, ProviderHealth>();
  for (const route of models.list().flatMap(({ routes }) => routes)) {
    const measured = measure(route);
    if (measured === null) continue;
    const { id: provider } = route.provider;
    const known = health.get(provider) ?? { provider, models: 0, uptime_percent: null, latency_ms: null };
    health.set(provider, {
      provider,
      models: known.models + 1,
      uptime_percent: chosen(Math.min, known.uptime_percent, measured.uptimePercent),
      latency_ms: chosen(Math.max, known.latency_ms, measured.latencyMs),
    });
  }
  return [...health.values()].toSorted((one, other) => (one.provider < other.provider ? -1 : 1));
}

/** null is no measurement. */
function chosen(choose: (one: number, other: number) => number, one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : choose(one, other);
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
