/** The products of a workspace, for a choice in a form and for their names in a list. */
import { listRowsMax } from "../../../http/limits.ts";
import type { ProductView } from "../../../security/projects/product-schema.ts";
import type { Field } from "../../look/forms/field.ts";
import type { PageCall } from "../../page.ts";

/** Of the first products by name; others are shown by their id. */
export async function productNames(call: PageCall): Promise<ReadonlyMap<string, string>> {
  const { data } = await call.control<{ data: ProductView[] }>("GET", "/products", { limit: String(listRowsMax) });
  return new Map(data.map(({ id, name }) => [id, name]));
}

/** A choice, or a text where a choice would be too long. */
export function productField(names: ReadonlyMap<string, string>): Field {
  const shared = { name: "product", label: "Product" };
  if (names.size >= listRowsMax)
    return { ...shared, kind: "text", hint: "The id or exact name of a product. If empty: none.", charactersMax: 200 };
  const choices = [{ value: "", label: "None" }, ...Array.from(names, ([id, name]) => ({ value: id, label: name }))];
  return { ...shared, kind: "choice", choices };
}
