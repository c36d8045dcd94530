/**
 * Endpoints for API keys. A key belongs to a person: without one in `X-Act-As`, the operator acts as the owner in the form. A key outside
 * the named workspace counts as unknown. Only the answer to the creation has the full key.
 */
import { Type } from "@sinclair/typebox";
import type { Actor, MemberActor } from "../../accounts/audit/actor.ts";
import { DomainError } from "../../accounts/errors.ts";
import * as keys from "../../accounts/keys/keys.ts";
import { KeyEdit, KeyForm, KeyView, NewKeyView } from "../../accounts/keys/schema.ts";
import type { KeyRow } from "../../accounts/keys/store.ts";
import { memberActor } from "../../accounts/members/principal.ts";
import { emailOf, line } from "../../accounts/workspaces/fields.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { inWorkspace, listOf, NamedWorkspace, NoFields, parseRowLimit, rowLimit, withOptionalWorkspace } from "../fields.ts";
import { endpoint, type EndpointCall } from "../endpoint.ts";
import { keyRowsMax, positionsAtOnceMax } from "../limits.ts";
import type { ControlParts } from "../parts.ts";

/** @throws DomainError invalid_field without a person */
async function keyOwner(
  { actor, workspace, owner }: { actor: Actor; workspace: WorkspaceId; owner: string | undefined },
  { sql }: ControlParts,
): Promise<MemberActor> {
  if (actor.kind === "member") return actor;
  if (owner !== undefined) {
    return memberActor({ kind: "person", email: owner, carriedBy: "operator token", namedBy: "owner" }, { workspace, sql });
  }
  throw new DomainError("invalid_field", "The owner is missing: a key belongs to a person", { field: "owner" });
}

/** The path's key and the actor. */
async function keyAndActor({
  id,
  input,
  actors,
  parts,
}: EndpointCall<{ workspace?: string }>): Promise<{ actor: Actor; row: KeyRow }> {
  const row = await keys.findKey(id, parts);
  const { actor, workspace } = await actors.forResource({
    named: input.workspace,
    workspace: row.workspace,
    unknown: keys.noKey(id),
  });
  return { actor, row: keys.requireSeen({ actor, workspace: workspace.id, row }) };
}

/** With what their open requests reserve. Over many workspaces the gateways are not asked. */
async function describeKeys<View extends KeyView>(views: View[], { reservedByKey }: Sources): Promise<View[]> {
  const workspaces = [...new Set(views.map(({ workspace_id: workspace }) => workspace))];
  if (workspaces.length > positionsAtOnceMax) return views;
  const asked = workspaces.map(async (workspace) => [workspace, await reservedByKey(workspace)] as const);
  const reserved = new Map(await Promise.all(asked));
  return views.map((view) => {
    const ofWorkspace = reserved.get(view.workspace_id) ?? null;
    return keys.withReserved(view, ofWorkspace && (ofWorkspace.get(view.id) ?? 0n));
  });
}

async function describeKey<View extends KeyView>(view: View, sources: Sources): Promise<View> {
  const [described = view] = await describeKeys([view], sources);
  return described;
}

type Sources = Pick<ControlParts, "reservedByKey">;

const trueOrFalse = (title: string) =>
  Type.Optional(Type.Union([Type.Literal("true"), Type.Literal("false")], { title, description: "true or false" }));

const keyFlags = {
  monthly_spend_limit_usd: "limit",
  daily_spend_limit_usd: "daily-limit",
  rate_limit_rpm: { flag: "rpm", none: "default" },
} as const;

export const keyEndpoints = {
  create: endpoint({
    method: "POST",
    path: "/keys",
    command: {
      name: "key create",
      flags: { ...keyFlags, owner: { unlessAs: true } },
      example: '--workspace default --owner owner@localhost --name "my app" --limit 25 --rpm 60',
    },
    summary: "Create a key and show it once",
    fields: inWorkspace(KeyForm),
    view: NewKeyView,
    status: 201,
    async handle({ input: { workspace: named, ...form }, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const owner = await keyOwner({ actor, workspace: workspace.id, owner: form.owner }, parts);
      return describeKey(await keys.createKey({ actor: owner, workspace: workspace.id, form }, parts), parts);
    },
  }),
  list: endpoint({
    method: "GET",
    path: "/keys",
    command: { name: "key list", flags: { revoked: { bare: true }, near_limit: { bare: true } } },
    summary: "List keys in order of creation",
    fields: Type.Object({
      workspace: Type.Optional(NamedWorkspace),
      owner: Type.Optional(emailOf("Only keys of this member")),
      text: Type.Optional(
        line("a part of a key's name", {
          title: "Only those with this text in their name, owner or last characters",
          minLength: 1,
        }),
      ),
      revoked: trueOrFalse("Only the revoked ones"),
      near_limit: trueOrFalse("Only those that have spent 80 % of their monthly limit"),
      after: Type.Optional(
        Type.String({
          pattern: "^key-[a-z2-7]{26}$",
          title: "Only those created after this key",
          description: "the id of a key",
        }),
      ),
      limit: rowLimit({ max: keyRowsMax }),
    }),
    view: listOf(KeyView),
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inAnyWorkspace(input.workspace);
      const { owner = null, text = null, after = null, limit } = input;
      const filter = {
        workspace: workspace?.id ?? null,
        owner,
        text,
        revoked: input.revoked === "true",
        nearLimit: input.near_limit === "true",
        after,
        limit: limit === undefined ? null : parseRowLimit(limit, { normal: keyRowsMax, max: keyRowsMax }),
      };
      return { data: await describeKeys(await keys.listKeys({ actor, ...filter }, parts), parts) };
    },
  }),
  show: endpoint({
    method: "GET",
    path: "/keys/:id",
    command: "key show",
    summary: "Show a key",
    fields: withOptionalWorkspace(NoFields),
    view: KeyView,
    handle: async (call) => describeKey(keys.viewKey((await keyAndActor(call)).row), call.parts),
  }),
  edit: endpoint({
    method: "PATCH",
    path: "/keys/:id",
    command: { name: "key edit", flags: keyFlags },
    summary: "Change a key's name, spend limits or requests per minute; other fields stay",
    fields: withOptionalWorkspace(KeyEdit),
    view: KeyView,
    async handle(call) {
      const { actor } = await keyAndActor(call);
      const { workspace: _named, ...edit } = call.input;
      return describeKey(await keys.editKey({ actor, id: call.id, edit }, call.parts), call.parts);
    },
  }),
  revoke: endpoint({
    method: "POST",
    path: "/keys/:id/revoke",
    command: { name: "key revoke", confirm: "A revoked key cannot be restored" },
    summary: "Revoke a key, irrevocably",
    fields: withOptionalWorkspace(NoFields),
    view: KeyView,
    async handle(call) {
      const { actor } = await keyAndActor(call);
      return describeKey(await keys.revokeKey({ actor, id: call.id }, call.parts), call.parts);
    },
  }),
};
