/** The JSON Schema of a row, for readers of exports (https://json-schema.org/draft/2020-12). */
import { Type } from "@sinclair/typebox";
import { jsonSchema } from "../../http/json-schema.ts";
import { ConnectorRow } from "./row.ts";
import { oneOf } from "./files/schema.ts";

/** @param categories names of categories.json; empty while there is no catalog, and then any name is allowed */
export function rowSchemaText(categories: readonly string[]): string {
  const category = categories.length > 0 ? oneOf(categories) : ConnectorRow.properties.category;
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "/api/connector-schema.json",
    title: "A row of the connector catalog",
    ...jsonSchema(Type.Object({ ...ConnectorRow.properties, category }), new Map()),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
