import { Type } from "@sinclair/typebox";
import { listRowsMax } from "../../http/limits.ts";
import { productRowsDefault } from "../limits.ts";
import { nameFilter } from "../api/operations/fields.ts";
import { operation, reading } from "../api/operations/operation.ts";
import { listData, pageAnswer, pageFields } from "../api/operations/page.ts";
import { ProductView } from "./schema.ts";
import { countProducts, selectProducts } from "./store.ts";
import { viewProducts } from "./view.ts";

export const listProducts = operation({
  title: "List products",
  description:
    "Lists products of the active scope by name, with their projects, SBOMs, live vulnerabilities and security posture. If the scope " +
    "is a project, the list has the product of that project. `name` is the whole, exact name.",
  annotations: reading,
  input: Type.Object({
    name: nameFilter("Products of exactly this name"),
    ...pageFields({ normal: productRowsDefault, max: listRowsMax }),
  }),
  data: listData("products", ProductView),
  async handle({ input: { name, limit, offset }, caller: { workspace, scope }, parts: { sql } }) {
    const filter = { workspace, scope, name: name ?? null };
    const total = await countProducts(filter, sql);
    const rows = await selectProducts({ ...filter, limit, offset }, sql);
    const hint = total === 0 && name !== undefined ? ". A name must match exactly" : "";
    return {
      data: { products: await viewProducts(rows, sql), ...pageAnswer({ limit, offset }, { total, rows: rows.length }) },
      message: `${rows.length} of ${total} products${hint}`,
    };
  },
});
