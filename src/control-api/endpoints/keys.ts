import { Type } from "@sinclair/typebox";
import type { Actor, MemberActor } from "../../accounts/audit/actor.ts";
import { createKey } from "../../accounts/keys/create.ts";
import { editKey } from "../../accounts/keys/edit.ts";
import { listKeys } from "../../accounts/keys/list.ts";
import { revokeKey } from "../../accounts/keys/revoke.ts";
import { KeyEdit, KeyForm, KeyView, NewKeyView } from "../../accounts/keys/schema.ts";
import { findKey, noKey, requireSeen } from "../../accounts/keys/show.ts";
import type { KeyRow } from "../../accounts/keys/store.ts";
import { viewKey } from "../../accounts/keys/view.ts";
import { actAs } from "../../accounts/workspaces/act.ts";
import { DomainError } from "../../accounts/errors.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { endpoint, type Call, type Endpoint } from "../endpoint.ts";
import { inWorkspace, listOf, NamedWorkspace, NoFields, perhapsInWorkspace } from "../fields.ts";
import type { ControlParts } from "../parts.ts";

/** A key belongs to a person: alone, the operator acts as the owner that is named. */
async function keyOwner(
  { actor, workspace, owner }: { actor: Actor; workspace: WorkspaceId; owner: string | undefined },
  { sql }: ControlParts,
): Promise<MemberActor> {
  if (actor.kind === "member") return actor;
  if (owner !== undefined) return actAs({ workspace, email: owner, field: "owner" }, sql);
  throw new DomainError("invalid_field", "The owner is missing: a key belongs to a person", { field: "owner" });
}

/** The key of the path, and who acts on it; in another workspace than the one named there is no such key. */
async function enterKey({ id, input, acting, parts }: Call<{ workspace?: string }>): Promise<{ actor: Actor; row: KeyRow }> {
  const row = await findKey(id, parts);
  const { actor, workspace } = await acting.around({ named: input.workspace, workspace: row.workspace, unknown: noKey(id) });
  return { actor, row: requireSeen({ actor, workspace: workspace.id, row }) };
}

export const keyEndpoints: Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/keys",
    summary: "Create a key; `key` in the answer is the only time it is shown",
    fields: inWorkspace(KeyForm),
    view: NewKeyView,
    status: 201,
    async handle({ input: { workspace: named, ...form }, acting, parts }) {
      const { actor, workspace } = await acting.in(named);
      const owner = await keyOwner({ actor, workspace: workspace.id, owner: form.owner }, parts);
      const created = await createKey({ actor: owner, workspace: workspace.id, form }, parts);
      parts.notify("records-changed");
      return created;
    },
  }),
  endpoint({
    method: "GET",
    path: "/keys",
    summary: "List keys in the order of their creation; `revoked=true` lists the revoked ones",
    fields: Type.Object({
      workspace: Type.Optional(NamedWorkspace),
      revoked: Type.Optional(Type.Union([Type.Literal("true"), Type.Literal("false")], { description: "true or false" })),
    }),
    view: listOf(KeyView),
    async handle({ input, acting, parts }) {
      const { actor, workspace } = await acting.inAny(input.workspace);
      const revoked = input.revoked === "true";
      return { data: await listKeys({ actor, workspace: workspace?.id ?? null, revoked }, parts) };
    },
  }),
  endpoint({
    method: "GET",
    path: "/keys/:id",
    summary: "Show a key",
    fields: perhapsInWorkspace(NoFields),
    view: KeyView,
    handle: async (call) => viewKey((await enterKey(call)).row),
  }),
  endpoint({
    method: "PATCH",
    path: "/keys/:id",
    summary: "Change a key's name, monthly spend limit or requests per minute; fields not given stay",
    fields: perhapsInWorkspace(KeyEdit),
    view: KeyView,
    async handle(call) {
      const { actor } = await enterKey(call);
      const { workspace: _named, ...edit } = call.input;
      const view = await editKey({ actor, id: call.id, edit }, call.parts);
      call.parts.notify("records-changed");
      return view;
    },
  }),
  endpoint({
    method: "POST",
    path: "/keys/:id/revoke",
    summary: "Revoke a key for good",
    fields: perhapsInWorkspace(NoFields),
    view: KeyView,
    async handle(call) {
      const { actor } = await enterKey(call);
      const view = await revokeKey({ actor, id: call.id }, call.parts);
      call.parts.notify("records-changed");
      return view;
    },
  }),
];
