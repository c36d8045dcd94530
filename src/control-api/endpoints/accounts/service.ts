import { FleetView } from "../../../backing/fleet-state.ts";
import { ServiceView } from "../../../process/health.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { NoFields } from "../../fields.ts";

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
