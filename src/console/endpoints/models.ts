import { Type } from "@sinclair/typebox";
import { modelRecord, ModelRecord } from "../../models/listing.ts";
import { ControlError } from "../../workspaces/control-error.ts";
import { line } from "../../workspaces/fields.ts";
import { endpoint, type Endpoint } from "../endpoint.ts";
import { listOf } from "../fields.ts";

export const modelEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/models",
    summary: "List the catalog's models and why those that cannot be called cannot",
    fields: Type.Object({ id: Type.Optional(line("the id of a model")) }),
    view: listOf(ModelRecord),
    async handle({ input: { id }, parts: { models } }) {
      const chosen = models.list().filter((model) => id === undefined || model.id === id);
      if (id !== undefined && chosen.length === 0) {
        throw new ControlError("not_found", { field: "id", message: `There is no model with the id "${id}"` });
      }
      const demands = { zeroDataRetention: false };
      return { data: chosen.map((model) => modelRecord(model, models.availability(model, demands), () => null)) };
    },
  }),
];
