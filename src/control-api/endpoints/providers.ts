/**
 * Endpoints for the service's providers: what each needs until its models can be called, the operator's key and decisions, and their tests.
 * Everyone who can sign in may list them, since models show as much; only the operator sees where keys come from, and changes anything.
 */
import { ProviderForm, ProviderTest, ProviderView } from "../../gateway/service-keys/schema.ts";
import { listProviders } from "../../gateway/service-keys/provider-list.ts";
import * as serviceKeys from "../../gateway/service-keys/service-keys.ts";
import { listOf, NoFields } from "../fields.ts";
import { endpoint } from "../endpoint.ts";
import { ownKeyTryMs } from "../limits.ts";

export const providerEndpoints = {
  list: endpoint({
    method: "GET",
    path: "/providers",
    command: "provider list",
    summary: "List the catalog's providers: their states, and whether a workspace may bring its own key",
    fields: NoFields,
    view: listOf(ProviderView),
    handle: async ({ actors, parts }) => ({
      data: await listProviders({ isOperator: actors.principal.kind === "operator" }, parts),
    }),
  }),
  add: endpoint({
    method: "PUT",
    path: "/providers/:id",
    command: {
      name: "provider add",
      flags: { terms_checked: { bare: true }, subprocessor_listed: { bare: true } },
      example: "--id openai --key - --terms-checked --subprocessor-listed",
    },
    summary:
      "Record that a provider may be used, and store or replace its key after it was tried; without a key the environment's counts",
    fields: ProviderForm,
    view: ProviderView,
    deadlineMs: ownKeyTryMs,
    async handle({ input: form, id, actors, parts }) {
      const actor = actors.operator("add a provider");
      actors.requireRecentSignIn("add a provider");
      return serviceKeys.addProvider({ actor, id, form }, parts);
    },
  }),
  test: endpoint({
    method: "POST",
    path: "/providers/:id/test",
    command: "provider test",
    summary: "Try a provider's key, by its list of models or else one call, and run its failed launch checks again",
    fields: NoFields,
    view: ProviderTest,
    deadlineMs: ownKeyTryMs,
    handle: async ({ id, actors, parts }) => serviceKeys.testProvider({ actor: actors.operator("test a provider"), id }, parts),
  }),
  disable: endpoint({
    method: "POST",
    path: "/providers/:id/disable",
    command: "provider disable",
    summary: "Call a provider no longer, not even with workspaces' own keys; its key stays stored",
    fields: NoFields,
    view: ProviderView,
    handle: async ({ id, actors, parts }) =>
      serviceKeys.switchProvider({ actor: actors.operator("disable a provider"), id, disabled: true }, parts),
  }),
  enable: endpoint({
    method: "POST",
    path: "/providers/:id/enable",
    command: "provider enable",
    summary: "Call a disabled provider again",
    fields: NoFields,
    view: ProviderView,
    async handle({ id, actors, parts }) {
      const actor = actors.operator("enable a provider");
      actors.requireRecentSignIn("enable a provider");
      return serviceKeys.switchProvider({ actor, id, disabled: false }, parts);
    },
  }),
  remove: endpoint({
    method: "DELETE",
    path: "/providers/:id",
    command: { name: "provider remove", confirm: "Its stored key is deleted, which cannot be undone" },
    summary: "Delete a provider's stored key and decisions: the catalog's files and the environment count again",
    fields: NoFields,
    view: ProviderView,
    async handle({ id, actors, parts }) {
      const actor = actors.operator("remove a provider");
      actors.requireRecentSignIn("remove a provider");
      return serviceKeys.removeProvider({ actor, id }, parts);
    },
  }),
};
