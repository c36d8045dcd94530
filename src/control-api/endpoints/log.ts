/**
 * Endpoints for the request log and its stored prompts. No index covers the outcome, the endpoint or the provider of requests, or the model within a
 * key. With such a filter a bounded number of the newest rows is searched; the answer says how many, and where to continue.
 */
import { Type } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import { findKey, noKey, requireSeen } from "../../accounts/keys/keys.ts";
import { line } from "../../accounts/workspaces/fields.ts";
import { NamedEndpoint } from "../../gateway/field-parts.ts";
import { showGeneration } from "../../gateway/generations/detail.ts";
import * as generations from "../../gateway/generations/generations.ts";
import { retainLog, RetentionView } from "../../gateway/generations/retain.ts";
import { GenerationDetail, LogView } from "../../gateway/generations/schema.ts";
import type { LogPage } from "../../gateway/generations/store.ts";
import { retainMonthsMax, retainMonthsMin, retainStatementMsMax } from "../../gateway/limits.ts";
import * as prompts from "../../gateway/prompts/prompts.ts";
import { selectPromptWorkspace } from "../../gateway/prompts/store.ts";
import type { ActorResolver } from "../actor-resolver.ts";
import { NamedWorkspace, NoFields, parseRowLimit, withOptionalWorkspace, rowLimit } from "../fields.ts";
import { endpoint, type EndpointCall } from "../endpoint.ts";
import { logRowsDefault, logRowsMax, promptDeletionMsMax } from "../limits.ts";
import { streamProgress, wantsProgress } from "../responses.ts";

const timeWords = "a time such as 2026-11-20T00:00:00Z";
const timeOf = (title: string) =>
  Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z$", title, description: timeWords });

/** @throws DomainError invalid_field */
function readRange({ from, to }: { from?: string; to?: string }): Pick<LogPage, "fromMs" | "toMs"> {
  const [fromMs, toMs] = [readTime("from", from), readTime("to", to)];
  if (fromMs === null || toMs === null || fromMs < toMs) return { fromMs, toMs };
  throw new DomainError("invalid_field", "Cannot list a time that ends before it begins: a from before to is needed", {
    field: "from",
  });
}

function readTime(field: "from" | "to", text: string | undefined): number | null {
  const ms = text === undefined ? null : Date.parse(text);
  if (ms === null || ms >= 0) return ms;
  throw new DomainError("invalid_field", `Cannot take the value of "${field}": ${timeWords} is needed`, { field });
}

export const logEndpoints = {
  list: endpoint({
    method: "GET",
    path: "/log",
    command: { name: "log list", example: "--workspace default --since 24h --status error --limit 20" },
    summary: "List ended generations, newest first",
    fields: Type.Object({
      workspace: Type.Optional(NamedWorkspace),
      key: Type.Optional(line("the id of a key", { title: "Only those of this key" })),
      member: Type.Optional(
        line("the email of a member", { title: "Only those of this member, in the Workbench or with keys of theirs" }),
      ),
      model: Type.Optional(line("the id of a model", { title: "Only those of this model; needs a workspace or a key" })),
      provider: Type.Optional(line("the id of a provider", { title: "Only those that this provider answered" })),
      from: Type.Optional(timeOf("Only those accepted from this time on")),
      to: Type.Optional(timeOf("Only those accepted before this time")),
      status: Type.Optional(
        Type.Union([Type.Literal("ok"), Type.Literal("error")], {
          title: "Only those that went well, or that failed",
          description: "ok or error",
        }),
      ),
      code: Type.Optional(line("the code of an error", { title: "Only those with this code of an error" })),
      endpoint: Type.Optional(
        Type.Union(NamedEndpoint.anyOf, { title: "Only those of this endpoint", description: "the name of an endpoint" }),
      ),
      limit: rowLimit({ normal: logRowsDefault, max: logRowsMax }),
      before: Type.Optional(
        Type.String({
          pattern: "^gen-[a-z2-7]{26}$",
          title: "Only those older than this generation",
          description: "the id of a generation",
        }),
      ),
    }),
    view: LogView,
    async handle({ input, actors, parts }) {
      const key = input.key === undefined ? null : await findKey(input.key, parts);
      const { actor, workspace } = key
        ? await actors.forResource({ named: input.workspace, workspace: key.workspace, unknown: noKey(key.id) })
        : await actors.inAnyWorkspace(input.workspace);
      if (key) requireSeen({ actor, workspace: workspace?.id ?? null, row: key });
      if (input.model !== undefined && workspace === null && key === null)
        throw new DomainError("invalid_field", "Cannot list a model over all workspaces: name a workspace or a key", {
          field: "model",
        });
      const page = {
        model: input.model ?? null,
        before: input.before ?? null,
        ...readRange(input),
        limit: parseRowLimit(input.limit, { normal: logRowsDefault, max: logRowsMax }),
      };
      const { member = null, status = null, code = null, endpoint: named = null, provider = null } = input;
      const filter = { workspace: workspace?.id ?? null, key: key?.id ?? null, member, status, code, endpoint: named, provider };
      return generations.listGenerations({ actor, filter, page }, { ...parts, sql: parts.reads });
    },
  }),
  retain: endpoint({
    method: "POST",
    path: "/log/retain",
    command: { name: "log retain", confirm: "Deleted rows cannot be restored" },
    summary: "Delete older months of the log and keep their sums",
    fields: Type.Object({
      months: Type.Integer({
        minimum: retainMonthsMin,
        maximum: retainMonthsMax,
        description: `how many months before the current one are kept, ${retainMonthsMin} to ${retainMonthsMax},`,
      }),
    }),
    view: RetentionView,
    deadlineMs: retainStatementMsMax,
    progress: true,
    async handle({ input: { months }, actors, request, parts }) {
      const actor = actors.operator("delete months of the log");
      if (!wantsProgress(request)) return retainLog({ actor, months }, parts);
      return streamProgress((onRetained) => retainLog({ actor, months, onRetained }, parts), parts.log);
    },
  }),
  show: endpoint({
    method: "GET",
    path: "/log/:id",
    command: "log show",
    summary: "Show an ended generation, by its id or the X-Request-Id of its answer",
    fields: withOptionalWorkspace(NoFields),
    view: GenerationDetail,
    async handle({ input, id, actors, parts }) {
      const row = await generations.findGeneration(id, parts.sql);
      const { actor, workspace } = await actors.forResource({
        named: input.workspace,
        workspace: row.workspace,
        unknown: generations.generationNotFound(id),
      });
      const caller = await generations.requireVisibleGeneration({ actor, workspace: workspace.id, row }, parts);
      const promptStored = (await selectPromptWorkspace(row.generation, parts.sql)) === workspace.id;
      return showGeneration({ row, caller, promptStored, catalog: parts.models.catalog() }, parts.sql);
    },
  }),
};

type Entering = Pick<EndpointCall<unknown>, "id" | "actors" | "parts"> & { named: string | undefined };

/** The actor of a call about stored prompts, and the workspace. */
async function promptAndActor({ id, named, actors, parts }: Entering): ReturnType<ActorResolver["forResource"]> {
  const workspace = await prompts.findPromptWorkspace(id, parts.sql);
  return actors.forResource({ named, workspace, unknown: prompts.promptNotFound(id) });
}

export const promptEndpoints = {
  count: endpoint({
    method: "GET",
    path: "/prompts",
    command: "prompt count",
    summary: "Count a workspace's stored prompts",
    fields: Type.Object({ workspace: NamedWorkspace }),
    view: prompts.PromptCount,
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(input.workspace);
      return prompts.countStoredPrompts({ actor, workspace: workspace.id }, parts.sql);
    },
  }),
  show: endpoint({
    method: "GET",
    path: "/prompts/:id",
    command: "prompt show",
    summary: "Show the stored prompt of a generation, with its answer",
    fields: withOptionalWorkspace(NoFields),
    view: prompts.PromptView,
    async handle({ input, id, actors, parts }) {
      const { actor, workspace } = await promptAndActor({ id, named: input.workspace, actors, parts });
      actors.requireRecentSignIn("read a stored prompt");
      return prompts.showPrompt({ actor, workspace: workspace.id, generation: id }, parts);
    },
  }),
  delete: endpoint({
    method: "POST",
    path: "/prompts/delete",
    command: "prompt delete",
    summary: "Delete the stored prompt of a generation, or those of a workspace from before a time, irrevocably",
    fields: withOptionalWorkspace(prompts.PromptDeletion),
    view: prompts.PromptsDeleted,
    deadlineMs: promptDeletionMsMax,
    async handle({ input: { workspace: named, id, before }, actors, parts }) {
      actors.requireRecentSignIn("delete stored prompts");
      if (id !== undefined && before === undefined) {
        const { actor, workspace } = await promptAndActor({ id, named, actors, parts });
        return prompts.deleteOnePrompt({ actor, workspace: workspace.id, generation: id }, parts);
      }
      if (id === undefined && before !== undefined && named !== undefined) {
        const { actor, workspace } = await actors.inWorkspace(named);
        return prompts.deletePromptsOf({ actor, workspace: workspace.id, before }, parts);
      }
      const message = "Name a generation by its id, or a workspace and the time before which to delete its prompts";
      throw new DomainError("invalid_field", message, { field: id === undefined ? "before" : "id" });
    },
  }),
};
