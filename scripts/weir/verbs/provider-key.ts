import { onOff, secretFile, text } from "../value.ts";
import { ofWorkspace, withId, workspace, type Flag, type Verb } from "../verb.ts";

const theKey = withId("id of the own provider key");

const key: Flag = {
  name: "key",
  field: "key",
  value: secretFile,
  required: true,
  help: "a file with the provider's key; - reads it from standard input",
};

const zeroDataRetention: Flag = {
  name: "zero-data-retention",
  field: "zero_data_retention",
  value: onOff,
  help: "whether the provider keeps nothing under the account of this key",
};

const columns = ["id", "provider", "name", "masked", "state", "zero_data_retention", "last_used_at"];

export const providerKeyVerbs: readonly Verb[] = [
  {
    noun: "provider-key",
    verb: "create",
    summary: "Store the workspace's own key for a provider, which bills its calls from then on, also the test call of now",
    method: "POST",
    path: "/provider-keys",
    flags: [
      ofWorkspace,
      { name: "provider", field: "provider", value: text, required: true, help: "id of the provider" },
      { name: "name", field: "name", value: text, help: "its name" },
      key,
      zeroDataRetention,
    ],
  },
  {
    noun: "provider-key",
    verb: "list",
    summary: "List own provider keys in the order of their creation",
    method: "GET",
    path: "/provider-keys",
    flags: [workspace],
    columns,
  },
  {
    noun: "provider",
    verb: "list",
    summary: "List the providers that a workspace may bring its own key for",
    method: "GET",
    path: "/providers",
    flags: [],
  },
  {
    noun: "provider-key",
    verb: "replace",
    summary: "Replace the key by a new one, which its provider must accept in a test call",
    method: "PUT",
    path: "/provider-keys/:id",
    flags: [theKey, workspace, key, zeroDataRetention],
  },
  {
    noun: "provider-key",
    verb: "test",
    summary:
      "Call the provider with the key, for each chat model that has no launch check; the provider bills at most 16 tokens for each",
    method: "POST",
    path: "/provider-keys/:id/test",
    flags: [theKey, workspace, { name: "model", field: "model", value: text, help: "test only this model" }],
  },
  {
    noun: "provider-key",
    verb: "disable",
    summary: "Stop using the key: its provider is then called with the service's key and charged",
    method: "POST",
    path: "/provider-keys/:id/disable",
    flags: [theKey, workspace],
  },
  {
    noun: "provider-key",
    verb: "delete",
    summary: "Delete the key, irrevocably: its provider is then called with the service's key and charged",
    method: "DELETE",
    path: "/provider-keys/:id",
    flags: [theKey, workspace],
  },
];
