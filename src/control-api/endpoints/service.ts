/**
 * Endpoints for what the operator asks of the whole service: its state, the rotation of secrets, the ledger's check, and maintenance of
 * its database.
 */
import { Type } from "@sinclair/typebox";
import { resealSecondFactors } from "../../accounts/second-factor/second-factor.ts";
import { rotateSecrets, Rotation } from "../../accounts/secrets/rotate.ts";
import { FleetView } from "../../backing/fleet-state.ts";
import { migrationMsMax } from "../../backing/limits.ts";
import { bindConnections } from "../../connectors/connections/connections.ts";
import { ledgerStatementMsMax } from "../../gateway/limits.ts";
import { moveGenerations, MoveView } from "../../gateway/metering/move.ts";
import { Verification, verifyLedger } from "../../gateway/metering/verify.ts";
import { ServiceView } from "../../process/health.ts";
import { endpoint, type Endpoint } from "../endpoint.ts";
import { NoFields } from "../fields.ts";
import { streamProgress, wantsProgress } from "../responses.ts";

export const serviceEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/service",
    summary: "Show the state of the process that answers: its version, what it depends on, and its alarms",
    fields: NoFields,
    view: ServiceView,
    async handle({ actors, parts }) {
      actors.operator("see the state of the service");
      return parts.serviceState();
    },
  }),
  endpoint({
    method: "GET",
    path: "/status",
    summary: "Show what runs: the processes with their versions, the database's schema, and what waits for the ledger",
    fields: NoFields,
    view: FleetView,
    async handle({ actors, parts }) {
      actors.operator("see the state of the service");
      return parts.fleetState();
    },
  }),
];

export const secretEndpoints: Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/secrets/rotate",
    summary: "Seal every workspace's data key and every second factor under the first key of SECRETS_KEY",
    fields: NoFields,
    view: Rotation,
    handle: async ({ actors, parts }) =>
      rotateSecrets(actors.operator("rotate secrets"), { ...parts, bind: bindConnections, reseal: resealSecondFactors }),
  }),
];

export const ledgerEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/ledger/verify",
    summary: "Check the stored money over one snapshot; as `application/x-ndjson` with each invariant as soon as it is checked",
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
];

export const migrateEndpoints: Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/migrate",
    summary: "Move the generations of the version before to their new table; as `application/x-ndjson` with its progress",
    fields: Type.Object({
      finish: Type.Optional(
        Type.Boolean({ description: "then drop the older tables: no process of the version before may run" }),
      ),
    }),
    view: MoveView,
    deadlineMs: migrationMsMax,
    progress: true,
    async handle({ input: { finish = false }, actors, request, parts }) {
      actors.operator("migrate the database");
      if (!wantsProgress(request)) return moveGenerations(parts, { finish });
      return streamProgress((onMoved) => moveGenerations(parts, { finish, onMoved }), parts.log);
    },
  }),
];
