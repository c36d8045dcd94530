/**
 * Products: create, find by id or exact name, list, and the operations for both. A name must not look like an id, so a text is always one
 * or the other. Creating a product writes an audit event in the same transaction.
 */
import { Type } from "@sinclair/typebox";
import { type Actor, authorize, writers } from "../../accounts/audit/actor.ts";
import { change, type Sources, type AuditEvent } from "../../accounts/audit/change.ts";
import { DomainError } from "../../accounts/errors.ts";
import type { Transaction, Queries } from "../../backing/backing.ts";
import { listRowsMax } from "../../http/limits.ts";
import { isToolsId, newToolsId, type WorkspaceId } from "../../kernel/ids.ts";
import { nameFilter, listData, pageAnswer, pageFields } from "../fields.ts";
import { operation, reading } from "../operation.ts";
import { productRowsDefault } from "../limits.ts";
import { requireResourceQuota, resourceCreated, referenceTo, requireResource, resourceNotFound } from "../resource.ts";
import { ProductForm, ProductView, viewProductOf, viewProducts } from "./product-schema.ts";
import { insertProduct, selectProductIdByName, countProducts, selectProducts } from "./product-store.ts";

/**
 * @returns the product's id
 * @throws DomainError conflict for an existing name or a full quota; invalid_field for a name that looks like an id; forbidden for auditors
 */
export async function createProduct(
  { actor, workspace, name }: { actor: Actor; workspace: WorkspaceId; name: string },
  sources: Sources,
): Promise<string> {
  authorize(actor, { roles: writers, action: "create a product" });
  if (isToolsId("prd", name)) {
    throw new DomainError("invalid_field", `Cannot call a product "${name}": the name looks like an id`, { field: "name" });
  }
  return change(actor, sources, async (tx) => {
    const now = sources.clock.now();
    const id = newToolsId("prd", now);
    if (await insertProduct({ id, workspace, name, at: new Date(now) }, tx)) {
      await requireResourceQuota("product", workspace, tx);
      return { result: id, event: resourceCreated("product", { workspace, id, name }) };
    }
    const known = await requireProduct({ workspace, product: name }, tx);
    throw new DomainError("conflict", `There is a product "${name}" already, with the id "${known}"`, { field: "name" });
  });
}

interface NamedProduct {
  workspace: WorkspaceId;
  /** Id or exact name; a new name creates a product. */
  product: string;
  at: Date;
}

interface FoundProduct {
  id: string;
  /** The creation event; empty if the product existed. */
  events: AuditEvent[];
}

/** @throws DomainError not_found for an id that the workspace does not have */
export async function findOrCreateProduct({ workspace, product, at }: NamedProduct, tx: Transaction): Promise<FoundProduct> {
  if (!isToolsId("prd", product)) {
    const id = newToolsId("prd", at.getTime());
    const made = await insertProduct({ id, workspace, name: product, at }, tx);
    if (made) return { id, events: [resourceCreated("product", { workspace, id, name: product })] };
  }
  return { id: await requireProduct({ workspace, product }, tx), events: [] };
}

/**
 * @param product id or exact name
 * @returns its id
 * @throws DomainError not_found
 */
export async function requireProduct(
  { workspace, product }: { workspace: WorkspaceId; product: string },
  sql: Queries,
): Promise<string> {
  const reference = referenceTo("product", product);
  if ("id" in reference) {
    await requireResource("product", { workspace, ...reference }, sql);
    return reference.id;
  }
  const id = await selectProductIdByName({ workspace, ...reference }, sql);
  if (id === undefined) throw resourceNotFound("product", reference);
  return id;
}

export const createProductOperation = operation({
  title: "Create a product",
  description: "Creates a product, which groups projects. Names are unique in a workspace; upper and lower case differ.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  addition: true,
  input: ProductForm,
  data: ProductView,
  async handle({ input: { name }, caller, parts }) {
    const { workspace } = caller;
    const id = await createProduct({ actor: caller.actor, workspace, name }, parts);
    return { data: await viewProductOf({ workspace, id }, parts.sql), message: `The product ${name} is created` };
  },
});

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
