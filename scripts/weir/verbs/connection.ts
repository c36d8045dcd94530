import { number, objectFile, oneOf, text } from "../value.ts";
import { ofWorkspace, withId, workspace, type Flag, type Verb } from "../verb.ts";

const theConnection = withId("id of the connection");

const credentialSet: Flag = {
  name: "credential-set",
  field: "credential_set",
  value: number,
  help: "which alternative of the form the credentials fill in, from 0",
};

const credentials: Flag = {
  name: "credentials",
  field: "credentials",
  value: objectFile,
  help: "a JSON file with a value for each key of the form; - reads it from standard input",
};

export const connectionVerbs: readonly Verb[] = [
  {
    noun: "connection",
    verb: "create",
    summary: "Connect a workspace to a vendor; the credentials are sealed and never shown",
    method: "POST",
    path: "/connections",
    flags: [
      ofWorkspace,
      { name: "connector", field: "connector", value: text, required: true, help: "id or slug of the connector" },
      {
        name: "method",
        field: "method",
        value: oneOf("api_token", "record_only"),
        help: "how to connect; default: the connector's method",
      },
      credentialSet,
      credentials,
    ],
  },
  {
    noun: "connection",
    verb: "list",
    summary: "List connections in the order of their creation, without their credentials",
    method: "GET",
    path: "/connections",
    flags: [workspace],
  },
  {
    noun: "connection",
    verb: "show",
    summary: "Show a connection with its last test, without its credentials",
    method: "GET",
    path: "/connections/:id",
    flags: [theConnection, workspace],
  },
  {
    noun: "connection",
    verb: "replace",
    summary: "Replace all credentials by new ones",
    method: "PUT",
    path: "/connections/:id/credentials",
    flags: [theConnection, workspace, credentialSet, { ...credentials, required: true }],
  },
  {
    noun: "connection",
    verb: "test",
    summary: "Call the vendor with the connection's credentials, without changing anything there",
    method: "POST",
    path: "/connections/:id/test",
    flags: [theConnection, workspace],
  },
  {
    noun: "connection",
    verb: "delete",
    summary: "Delete a connection with its credentials, irrevocably",
    method: "DELETE",
    path: "/connections/:id",
    flags: [theConnection, workspace],
  },
];
