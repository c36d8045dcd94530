import { Type } from "@sinclair/typebox";
import { modelCheckMsMax } from "../../limits.ts";
import { checkModels } from "../../../gateway/models/check.ts";
import { modelRecord, ModelRecord } from "../../../gateway/models/listing.ts";
import type { Model } from "../../../gateway/models/model.ts";
import { DomainError } from "../../../accounts/errors.ts";
import { line } from "../../../accounts/workspaces/fields.ts";
import { endpoint, type Endpoint } from "../../endpoint.ts";
import { listOf } from "../../fields.ts";
import type { ControlParts } from "../../parts.ts";
import { streamProgress, wantsProgress } from "../../stream-progress.ts";

const ChosenModels = Type.Object({ id: Type.Optional(line("the id of a model")) });

/** All models, or the named one. @throws DomainError not_found */
function choose(id: string | undefined, { models }: ControlParts): Model[] {
  const chosen = models.list().filter((model) => id === undefined || model.id === id);
  if (id === undefined || chosen.length > 0) return chosen;
  throw new DomainError("not_found", `There is no model with the id "${id}"`, { field: "id" });
}

function describe(chosen: Model[], { models }: ControlParts): { data: ModelRecord[] } {
  const demands = { zeroDataRetention: false, earlyAccess: ["embeddings"] };
  return { data: chosen.map((model) => modelRecord(model, models.availability(model, demands), () => null)) };
}

export const modelEndpoints: Endpoint[] = [
  endpoint({
    method: "GET",
    path: "/models",
    summary: "List the catalog's models, with the reason if one cannot be called",
    fields: ChosenModels,
    view: listOf(ModelRecord),
    handle: async ({ input, parts }) => describe(choose(input.id, parts), parts),
  }),
  endpoint({
    method: "POST",
    path: "/models/check",
    summary: "Run the launch checks again and wait for them; as `application/x-ndjson` with each check as soon as it ends",
    fields: ChosenModels,
    view: listOf(ModelRecord),
    deadlineMs: modelCheckMsMax,
    progress: true,
    async handle({ input, actors, request, parts }) {
      actors.operator("check models");
      const chosen = choose(input.id, parts);
      const check = async (tell?: (part: unknown) => void) => {
        await checkModels({ chosen, onEnded: ({ model, provider, code }) => tell?.({ model, provider, code }) }, parts);
        return describe(chosen, parts);
      };
      return wantsProgress(request) ? streamProgress(check, parts.log) : check();
    },
  }),
];
