/**
 * Endpoints for connections to vendors. Connectors are those of the catalog that this gateway serves; the error for an unknown name
 * suggests the nearest one.
 */
import { Type } from "@sinclair/typebox";
import type { Actor } from "../../accounts/audit/actor.ts";
import { DomainError } from "../../accounts/errors.ts";
import { findConnector, likelyConnector } from "../../connectors/catalog/find.ts";
import type { ConnectorRow } from "../../connectors/catalog/row.ts";
import * as connections from "../../connectors/connections/connections.ts";
import * as people from "../../connectors/connections/people.ts";
import * as schema from "../../connectors/connections/schema.ts";
import type { ConnectionRow } from "../../connectors/connections/store.ts";
import { peopleLoginCharactersMax, peopleMax, peopleRowsDefault } from "../../connectors/limits.ts";
import { csvResponse, ndjsonResponse } from "../../http/csv-response.ts";
import type { WorkspaceRow } from "../../accounts/workspaces/store.ts";
import { line } from "../../accounts/workspaces/fields.ts";
import {
  inWorkspace,
  listOf,
  NamedWorkspace,
  NoFields,
  parseRowLimit,
  rowLimit,
  withOptionalWorkspace,
  wordOf,
} from "../fields.ts";
import { endpoint, type EndpointCall } from "../endpoint.ts";
import { connectionTestMs, peopleReadMs } from "../limits.ts";
import type { ControlParts } from "../parts.ts";

/** The path's connection and the actor; a connection outside the named workspace counts as unknown. */
async function connectionAndActor({
  id,
  input,
  actors,
  parts,
}: EndpointCall<{ workspace?: string }>): Promise<{ actor: Actor; row: ConnectionRow; workspace: WorkspaceRow }> {
  const found = await connections.findConnection(id, parts.sql);
  const { actor, workspace } = await actors.forResource({
    named: input.workspace,
    workspace: found.workspace,
    unknown: connections.noConnection(id),
  });
  return { actor, workspace, row: connections.requireConnection({ id, workspace: workspace.id, row: found }) };
}

/** From the catalog that this gateway serves. */
function unknownConnector(named: string, { connectors: { published } }: ControlParts): DomainError {
  const likely = published === null ? undefined : likelyConnector(named, published);
  const hint = likely === undefined ? "" : `: the nearest is "${likely.slug}"`;
  return new DomainError("invalid_field", `There is no connector "${named}" in the catalog${hint}`, { field: "connector" });
}

function connectorNamed(named: string, { connectors }: ControlParts): ConnectorRow | undefined {
  if (connectors.published) return findConnector(named, connectors.published);
  throw new DomainError("unavailable", "There is no connector catalog yet: try again shortly");
}

/** Without a catalog it finds nothing. */
function finder({ connectors: { published } }: ControlParts): (id: string) => ConnectorRow | undefined {
  return (id) => (published === null ? undefined : findConnector(id, published));
}

export const connectionEndpoints = {
  create: endpoint({
    method: "POST",
    path: "/connections",
    command: "connection create",
    summary: "Connect a workspace to a vendor; the values of the form are sealed and never shown",
    fields: inWorkspace(schema.ConnectionForm),
    view: schema.ConnectionView,
    status: 201,
    async handle({ input: { workspace: named, ...form }, actors, parts }) {
      const { actor, workspace } = await actors.inWorkspace(named);
      const connector = connectorNamed(form.connector, parts);
      if (connector) return connections.createConnection({ actor, workspace: workspace.id, connector, form }, parts);
      throw unknownConnector(form.connector, parts);
    },
  }),
  list: endpoint({
    method: "GET",
    path: "/connections",
    command: "connection list",
    summary: "List connections in order of creation, without their credentials",
    fields: Type.Object({ workspace: Type.Optional(NamedWorkspace) }),
    view: listOf(schema.ConnectionView),
    async handle({ input, actors, parts }) {
      const { workspace } = await actors.inAnyWorkspace(input.workspace);
      return {
        data: await connections.listConnections(workspace?.id ?? null, { sql: parts.sql, find: finder(parts), aws: parts.aws }),
      };
    },
  }),
  show: endpoint({
    method: "GET",
    path: "/connections/:id",
    command: "connection show",
    summary: "Show a connection with its last test, without its credentials",
    fields: withOptionalWorkspace(NoFields),
    view: schema.ConnectionView,
    async handle(call) {
      const { row } = await connectionAndActor(call);
      return connections.viewConnection(row, { connector: finder(call.parts)(row.connector), aws: call.parts.aws });
    },
  }),
  rename: endpoint({
    method: "PATCH",
    path: "/connections/:id",
    command: "connection set",
    summary: "Give a connection another name",
    fields: withOptionalWorkspace(schema.ConnectionName),
    view: schema.ConnectionView,
    async handle(call) {
      const { actor, row } = await connectionAndActor(call);
      const { workspace: _named, ...form } = call.input;
      const connector = finder(call.parts)(row.connector);
      return connections.renameConnection({ actor, workspace: row.workspace, id: row.id, connector, form }, call.parts);
    },
  }),
  replaceCredentials: endpoint({
    method: "PUT",
    path: "/connections/:id/credentials",
    command: "connection replace",
    summary: "Replace all credentials with new ones",
    fields: withOptionalWorkspace(schema.NewCredentials),
    view: schema.ConnectionView,
    async handle(call) {
      call.actors.requireRecentSignIn("replace the credentials of a connection");
      const { actor, row } = await connectionAndActor(call);
      const connector = connectorNamed(row.connector, call.parts);
      if (!connector) {
        const message = `The catalog no longer has "${row.connector}": this connection can only be deleted`;
        throw new DomainError("conflict", message);
      }
      const { workspace: _named, ...form } = call.input;
      return connections.replaceCredentials({ actor, workspace: row.workspace, id: row.id, connector, form }, call.parts);
    },
  }),
  test: endpoint({
    method: "POST",
    path: "/connections/:id/test",
    command: "connection test",
    summary: "Call the vendor with the connection's credentials, in a way that changes nothing there",
    fields: withOptionalWorkspace(NoFields),
    view: schema.ConnectionTest,
    deadlineMs: connectionTestMs,
    async handle(call) {
      const { actor, row } = await connectionAndActor(call);
      return connections.testConnection(
        { actor, workspace: row.workspace, id: row.id },
        { ...call.parts, find: finder(call.parts) },
      );
    },
  }),
  people: endpoint({
    method: "GET",
    path: "/connections/:id/people",
    command: { name: "connection people", flags: { format: null } },
    summary: "List who has an account at the vendor, as it was last read; in early access (`people`)",
    fields: withOptionalWorkspace(
      Type.Object({
        limit: rowLimit({ normal: peopleRowsDefault, max: peopleMax }),
        after: Type.Optional(
          line("the login of a person", {
            title: "Only those after this login",
            maxLength: peopleLoginCharactersMax,
          }),
        ),
        format: Type.Optional(wordOf(["json", "csv", "ndjson"], { title: "csv and ndjson are files with all people" })),
      }),
    ),
    view: schema.PeopleView,
    csv: true,
    ndjson: true,
    async handle(call) {
      const { format = "json", limit, after = null } = call.input;
      const asked = await connectionAndActor(call);
      const page =
        format === "json"
          ? { after, limit: parseRowLimit(limit, { normal: peopleRowsDefault, max: peopleMax }) }
          : { after: null, limit: peopleMax };
      const found = await people.showPeople(asked, page, call.parts.sql);
      return format === "json" ? found : peopleFile(format, found, call.id);
    },
  }),
  readPeople: endpoint({
    method: "POST",
    path: "/connections/:id/people",
    command: "connection read-people",
    summary: "Read who has an account at the vendor, in a way that changes nothing there, and from then on each day",
    fields: withOptionalWorkspace(NoFields),
    view: schema.PeopleReading,
    deadlineMs: peopleReadMs,
    async handle(call) {
      return people.readPeople(await connectionAndActor(call), call.parts);
    },
  }),
  forgetPeople: endpoint({
    method: "DELETE",
    path: "/connections/:id/people",
    command: "connection forget-people",
    summary: "Delete the people that were read, and read them no more",
    fields: withOptionalWorkspace(NoFields),
    view: schema.PeopleForgotten,
    async handle(call) {
      return people.forgetPeople(await connectionAndActor(call), call.parts);
    },
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/connections/:id",
    command: "connection delete",
    summary: "Delete a connection with its credentials, irrevocably",
    fields: withOptionalWorkspace(NoFields),
    view: schema.ConnectionDeleted,
    async handle(call) {
      call.actors.requireRecentSignIn("delete a connection");
      const { actor, row } = await connectionAndActor(call);
      return connections.deleteConnection({ actor, workspace: row.workspace, id: row.id }, call.parts);
    },
  }),
};

/** Each row of a file says when it was read. */
function peopleFile(format: "csv" | "ndjson", { reading, data }: schema.PeopleView, id: string): Response {
  const read_at = reading?.read_at ?? null;
  const name = `people-${id}`;
  if (format === "ndjson")
    return ndjsonResponse(
      name,
      data.map((person) => ({ ...person, read_at })),
    );
  return csvResponse({ name, ...schema.peopleTable({ read_at, data }) });
}
