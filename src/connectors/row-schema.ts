/** The JSON Schema of a row, for whoever reads exports (https://json-schema.org/draft/2020-12). */
import { jsonSchema } from "../kernel/json-schema.ts";
import { ConnectorRow } from "./row.ts";

export function rowSchemaText(): string {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "/api/connector-schema.json",
    title: "A row of the connector catalog",
    ...jsonSchema(ConnectorRow, new Map()),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
