/**
 * Endpoints for a workspace's own provider keys. After each change every gateway and worker reads its records again.
 */
import { Type } from "@sinclair/typebox";
import type { Actor } from "../../accounts/audit/actor.ts";
import type { WorkspaceRow } from "../../accounts/workspaces/store.ts";
import * as ownKeys from "../../gateway/own-keys/own-keys.ts";
import { NewOwnKey, OwnKeyDeleted, OwnKeyForm, OwnKeyTest, OwnKeyTestForm, OwnKeyView } from "../../gateway/own-keys/schema.ts";
import { testOwnKey } from "../../gateway/own-keys/test-own-key.ts";
import { inWorkspace, listOf, NamedWorkspace, NoFields, withOptionalWorkspace } from "../fields.ts";
import { endpoint, type EndpointCall } from "../endpoint.ts";
import { modelCheckMsMax, ownKeyTryMs } from "../limits.ts";

/** The workspace of the path's key and the actor there; a key outside the named workspace counts as unknown. */
async function ownerAndActor({
  id,
  input,
  actors,
  parts,
}: EndpointCall<{ workspace?: string }>): Promise<{ actor: Actor; workspace: WorkspaceRow }> {
  const found = await ownKeys.findOwnKey(id, parts.sql);
  return actors.forResource({ named: input.workspace, workspace: found.workspace, unknown: ownKeys.noOwnKey(id) });
}

export const providerKeyEndpoints = {
  create: endpoint({
    method: "POST",
    path: "/provider-keys",
    command: "provider-key create",
    summary: "Store a workspace's own key for a provider, sealed, after a test call of at most 16 tokens that its provider bills",
    fields: inWorkspace(OwnKeyForm),
    view: OwnKeyView,
    status: 201,
    deadlineMs: ownKeyTryMs,
    async handle(call) {
      call.actors.requireRecentSignIn("store a provider key");
      const { workspace: named, ...form } = call.input;
      const { actor, workspace } = await call.actors.inWorkspace(named);
      return ownKeys.createOwnKey({ actor, workspace, form }, call.parts);
    },
  }),
  list: endpoint({
    method: "GET",
    path: "/provider-keys",
    command: "provider-key list",
    summary: "List own provider keys in order of creation; members and auditors see that they exist",
    fields: Type.Object({ workspace: Type.Optional(NamedWorkspace) }),
    view: listOf(OwnKeyView),
    async handle({ input, actors, parts }) {
      const { actor, workspace } = await actors.inAnyWorkspace(input.workspace);
      return { data: await ownKeys.listOwnKeys({ actor, workspace: workspace?.id ?? null }, parts.sql) };
    },
  }),
  replace: endpoint({
    method: "PUT",
    path: "/provider-keys/:id",
    command: "provider-key replace",
    summary: "Replace the key with a new one that the provider accepts in a test call; a disabled one is in use again",
    fields: withOptionalWorkspace(NewOwnKey),
    view: OwnKeyView,
    deadlineMs: ownKeyTryMs,
    async handle(call) {
      call.actors.requireRecentSignIn("replace a provider key");
      const { actor, workspace } = await ownerAndActor(call);
      const { workspace: _named, ...form } = call.input;
      return ownKeys.replaceOwnKey({ actor, workspace, id: call.id, form }, call.parts);
    },
  }),
  test: endpoint({
    method: "POST",
    path: "/provider-keys/:id/test",
    command: "provider-key test",
    summary:
      "Call the provider with the key, for each chat model without a launch check or one named model; the provider bills the calls",
    fields: withOptionalWorkspace(OwnKeyTestForm),
    view: OwnKeyTest,
    deadlineMs: modelCheckMsMax,
    async handle(call) {
      const { actor, workspace } = await ownerAndActor(call);
      const { workspace: _named, ...form } = call.input;
      return testOwnKey({ actor, workspace, id: call.id, form }, call.parts);
    },
  }),
  disable: endpoint({
    method: "POST",
    path: "/provider-keys/:id/disable",
    command: "provider-key disable",
    summary: "Keep the key and no longer use it: from now on its provider is called with the service's key and charged",
    fields: withOptionalWorkspace(NoFields),
    view: OwnKeyView,
    async handle(call) {
      // From then on, calls to its provider are charged to credit.
      call.actors.requireRecentSignIn("disable a provider key");
      const { actor, workspace } = await ownerAndActor(call);
      return ownKeys.disableOwnKey({ actor, workspace: workspace.id, id: call.id }, call.parts);
    },
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/provider-keys/:id",
    command: "provider-key delete",
    summary: "Delete the key, irrevocably: from now on its provider is called with the service's key and charged",
    fields: withOptionalWorkspace(NoFields),
    view: OwnKeyDeleted,
    async handle(call) {
      call.actors.requireRecentSignIn("delete a provider key");
      const { actor, workspace } = await ownerAndActor(call);
      return ownKeys.deleteOwnKey({ actor, workspace: workspace.id, id: call.id }, call.parts);
    },
  }),
};
