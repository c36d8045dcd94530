/**
 * Endpoints for the operator about the whole service: its state, the rotation of secrets, and the verification of the ledger.
 */
import { resealSecondFactors } from "../../accounts/second-factor/second-factor.ts";
import { rotateSecrets, Rotation } from "../../accounts/secrets/rotate.ts";
import { FleetView } from "../../backing/fleet-state.ts";
import { ledgerStatementMsMax } from "../../gateway/limits.ts";
import { resealServiceKeys } from "../../gateway/service-keys/service-keys.ts";
import { Verification, verifyLedger } from "../../gateway/metering/verify.ts";
import { ServiceView } from "../../process/health.ts";
import { NoFields } from "../fields.ts";
import { endpoint } from "../endpoint.ts";
import { streamProgress, wantsProgress } from "../responses.ts";

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
    summary: "Show what runs: the processes with their versions, the database's schema, and what waits for the ledger",
    fields: NoFields,
    view: FleetView,
    async handle({ actors, parts }) {
      actors.operator("see the state of the service");
      return parts.fleetState();
    },
  }),
};

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
