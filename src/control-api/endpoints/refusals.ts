/**
 * Endpoints for calls that were refused, which the log lacks: the newest with their message, and counts of the last 31 days by key, code
 * and time. Calls without a known key belong to no workspace, and only the operator counts them.
 */
import { Type } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import { findKey, requireSeen } from "../../accounts/keys/keys.ts";
import { line } from "../../accounts/workspaces/fields.ts";
import { refusedCountRowsDefault, refusedCountRowsMax, refusedKeptMax } from "../../gateway/refusals/limits.ts";
import * as refusals from "../../gateway/refusals/refusals.ts";
import { RefusalCounts, RefusedEndpoint, RefusedList, RefusedView } from "../../gateway/refusals/schema.ts";
import type { KeyId } from "../../kernel/ids.ts";
import type { ActorResolver } from "../actor-resolver.ts";
import { NamedWorkspace, NoFields, parseRowLimit, parseTime, rowLimit, timeOf, withOptionalWorkspace } from "../fields.ts";
import { endpoint, type EndpointCall } from "../endpoint.ts";

const filters = {
  key: Type.Optional(line("the id of a key", { title: "Only those of this key" })),
  member: Type.Optional(
    line("the email of a member", { title: "Only those of this member, in the Workbench or with keys of theirs" }),
  ),
  code: Type.Optional(line("the code of an error", { title: "Only those with this code of an error" })),
  from: Type.Optional(timeOf("Only those refused from this time on")),
  to: Type.Optional(timeOf("Only those refused before this time")),
};

const dimensionWords = refusals.countedDimensions.join(", ");

export const refusalEndpoints = {
  list: endpoint({
    method: "GET",
    path: "/refusals",
    command: { name: "refusal list", example: "--workspace default --since 24h --code rate_limited" },
    summary: "List the newest refused calls of a workspace, which the log lacks, newest first",
    fields: Type.Object({
      workspace: NamedWorkspace,
      ...filters,
      endpoint: Type.Optional(
        Type.Union(RefusedEndpoint.anyOf, { title: "Only those of this endpoint", description: "the name of an endpoint" }),
      ),
      model: Type.Optional(line("the id of a model", { title: "Only those of this model" })),
      limit: rowLimit({ normal: refusedKeptMax, max: refusedKeptMax }),
      before: Type.Optional(
        Type.String({
          pattern: "^req-[a-z2-7]{26}$",
          title: "Only those older than this call",
          description: "the id of a refused call",
        }),
      ),
    }),
    view: RefusedList,
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      const { member = null, code = null, endpoint: named = null, model = null, before = null } = input;
      const key = await seenKey(input, { workspace: workspace.id, actor }, parts);
      const limit = parseRowLimit(input.limit, { normal: refusedKeptMax, max: refusedKeptMax });
      const page = { code, endpoint: named, model, before, limit, ...rangeOf(input) };
      return refusals.listRefusals({ asked: { actor, workspace: workspace.id, key, member }, page }, parts.sql);
    },
  }),
  count: endpoint({
    method: "GET",
    path: "/refusals/counts",
    command: { name: "refusal count", example: "--workspace default --since 24h --by hour,key" },
    summary: "Count refused calls of the last 31 days by code, key and time; without a workspace all, also those with wrong keys",
    fields: Type.Object({
      workspace: Type.Optional(NamedWorkspace),
      ...filters,
      by: Type.Optional(
        line(`words such as day,key out of ${dimensionWords}`, {
          title: "What to sum by, besides the code, separated by commas: key, and one of minute, hour and day (UTC)",
        }),
      ),
      limit: rowLimit({ normal: refusedCountRowsDefault, max: refusedCountRowsMax }),
    }),
    view: RefusalCounts,
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inAnyWorkspace(input.workspace);
      const { member = null, code = null } = input;
      const key = workspace === null ? null : await seenKey(input, { workspace: workspace.id, actor }, parts);
      const limit = parseRowLimit(input.limit, { normal: refusedCountRowsDefault, max: refusedCountRowsMax });
      const asked = { actor, workspace: workspace?.id ?? null, key, member };
      const counted = { asked, code, by: dimensionsIn(input.by), limit, ...rangeOf(input) };
      return refusals.countRefusals(counted, { sql: parts.reads, clock: parts.clock });
    },
  }),
  show: endpoint({
    method: "GET",
    path: "/refusals/:id",
    command: "refusal show",
    summary: "Show a refused call",
    fields: withOptionalWorkspace(NoFields),
    view: RefusedView,
    async handle({ input, id, actors, parts }) {
      const row = await refusals.findRefusal(id, parts.sql);
      const unknown = refusals.refusalNotFound(id);
      const { actor, workspace } = await actors.forResource({ named: input.workspace, workspace: row.workspace, unknown });
      return refusals.showRefusal({ actor, workspace: workspace.id, row }, parts.sql);
    },
  }),
};

type Found = Awaited<ReturnType<ActorResolver["inWorkspace"]>>;

/** @throws DomainError not_found for a key that the actor may not see, or of another workspace */
async function seenKey(
  { key: id }: { key?: string },
  { workspace, actor }: { workspace: string; actor: Found["actor"] },
  parts: EndpointCall<unknown>["parts"],
): Promise<KeyId | null> {
  if (id === undefined) return null;
  return requireSeen({ actor, workspace, row: await findKey(id, parts) }).id;
}

/** @throws DomainError invalid_field */
function rangeOf({ from, to }: { from?: string; to?: string }): { fromMs: number | null; toMs: number | null } {
  const [fromMs, toMs] = [parseTime(from, "from")?.getTime() ?? null, parseTime(to, "to")?.getTime() ?? null];
  if (fromMs === null || toMs === null || fromMs < toMs) return { fromMs, toMs };
  throw new DomainError("invalid_field", "Cannot list a time that ends before it begins: a from before to is needed", {
    field: "from",
  });
}

/** @throws DomainError invalid_field */
function dimensionsIn(text: string | undefined): (typeof refusals.countedDimensions)[number][] {
  if (text === undefined) return [];
  return text.split(",").map((word) => {
    const known = refusals.countedDimensions.find((one) => one === word.trim());
    if (known !== undefined) return known;
    throw new DomainError("invalid_field", `Cannot count by "${word.slice(0, 40)}": ${dimensionWords} are possible`, {
      field: "by",
    });
  });
}
