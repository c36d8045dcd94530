/**
 * Stores an SBOM as the current one of a project, and the operation `upload_sbom`.
 *
 * The rows of the SBOM, the project and the product, the quota and the request for a scan are one transaction. Uploading the same bytes
 * again changes nothing and returns the same id; the bytes of a former SBOM make it current again. Packages are added before the
 * transaction: all workspaces share them and must not wait while a large SBOM is stored. The project is checked before anything is written,
 * and again when it is locked. A project of the sample data takes no other SBOMs, so that it can be removed without losing anything.
 */
import { Type } from "@sinclair/typebox";
import { signatureOf, type Actor, authorize, writers } from "../../accounts/audit/actor.ts";
import { change, type AuditEvent, changedFields } from "../../accounts/audit/change.ts";
import { DomainError } from "../../accounts/errors.ts";
import { nameCharactersMax } from "../../accounts/limits.ts";
import type { Database, Transaction } from "../../backing/backing.ts";
import type { Notification } from "../../backing/bus.ts";
import type { Clock } from "../../kernel/clock.ts";
import { newToolsId, type WorkspaceId } from "../../kernel/ids.ts";
import { lineOf } from "../fields.ts";
import { operation } from "../operation.ts";
import { packagesPerStatement, sbomBytesMax, sbomFilenameCharactersMax, sbomStoreMs } from "../limits.ts";
import { referenceTo, requireResource, requireResourceQuota } from "../resource.ts";
import { requireRoomForSbom, takeRoomForSbom } from "../sboms/quota.ts";
import type { SbomRows } from "../sboms/sbom-rows.ts";
import { insertComponents, insertEcosystems, insertEdges, insertSbom, selectSbomId } from "../sboms/store.ts";
import { requestScan } from "../scans/store.ts";
import { packageIds } from "../versions/store.ts";
import { notComparedIn, viewCoverage } from "./coverage.ts";
import { findOrCreateProduct } from "./products.ts";
import { findOrCreateProject } from "./projects.ts";
import { StoredSbom } from "./schema.ts";
import { updateDocument, updateOrigin, updateProduct, type ProjectProvider, type ProjectRow } from "./store.ts";

export interface SbomToStore {
  actor: Actor;
  workspace: WorkspaceId;
  /** Id or exact name; a new name creates a project. */
  project: string;
  /** Id or exact name; a new name creates a product; null: the project keeps its product. */
  product: string | null;
  /** The source that the SBOM was created from; null: it was uploaded, and an existing project keeps its origin. */
  origin: { provider: Exclude<ProjectProvider, "upload">; repository: string | null } | null;
  filename: string | null;
  sbom: SbomRows;
}

export interface SbomStoreParts {
  sql: Database;
  clock: Clock;
  /** Notifies every process, after the commit. */
  notify(topic: Notification): void;
}

/**
 * @throws DomainError not_found for an unknown id of a project or product; forbidden for auditors; conflict if the quota is full, or the
 *   project belongs to the sample data
 * @throws LimitReachedError if the workspace has stored too many SBOMs within the hour
 */
export async function storeSbom(request: SbomToStore, parts: SbomStoreParts): Promise<StoredSbom> {
  const [only] = await storeTogether(request, { requests: [request], parts });
  if (only === undefined) throw new Error("Storing an SBOM gave no result");
  const { changed: _, ...stored } = only;
  const { coverage } = await viewCoverage(stored.sbom_id, parts);
  return { ...stored, components_not_compared: notComparedIn(coverage) };
}

/** What is known before it is compared with advisories. */
type NewSbom = Omit<StoredSbom, "components_not_compared"> & { changed: boolean };

interface SbomsToStore {
  requests: readonly SbomToStore[];
  parts: SbomStoreParts;
  /** What else to lock, before any project. */
  lock?(tx: Transaction): Promise<unknown>;
}

/** Stores several SBOMs of a workspace, all or none of them. @throws like `storeSbom` */
export async function storeTogether(
  { actor, workspace }: Pick<SbomToStore, "actor" | "workspace">,
  { requests, parts, lock }: SbomsToStore,
): Promise<NewSbom[]> {
  for (const request of requests) await prepare(request, parts);
  const { sql, clock, notify } = parts;
  const stored = await change(actor, { sql, clock }, async (tx) => {
    await lock?.(tx);
    const at = new Date(clock.now());
    const all: Stored[] = [];
    for (const request of requests) all.push(await storeIn(tx, request, at));
    await takeRoom(all, { workspace, at }, tx);
    return { result: all.map(({ view }) => view), event: all.flatMap(({ events }) => events) };
  });
  if (stored.some(({ changed }) => changed)) notify("scan-waits");
  return stored;
}

const sbomField = Type.Union([Type.Object({}), Type.String()], {
  title: `The SBOM, of at most ${sbomBytesMax / 1024 / 1024} MiB: CycloneDX 1.2 to 1.7 in JSON or XML, SPDX 2.2 or 2.3 in JSON or tag-value, SPDX 3.0 in JSON-LD`,
  description: "an SBOM as a JSON object, or as a text",
});

export const uploadSbom = operation({
  title: "Upload an SBOM",
  description:
    "Stores an SBOM as the current one of a project, which is then scanned against all known advisories. A project or product with a new " +
    "name is created. Uploading the same SBOM again changes nothing.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  addition: true,
  takesSbom: true,
  deadlineMs: sbomStoreMs,
  input: Type.Object({
    sbom: sbomField,
    project: lineOf({ title: "Id or exact name of the project; a new name creates a project", min: 1, max: nameCharactersMax }),
    product: Type.Optional(
      lineOf({
        title: "Id or exact name of the product of the project; a new name creates a product",
        min: 1,
        max: nameCharactersMax,
      }),
    ),
    filename: Type.Optional(lineOf({ title: "Name of the file", min: 1, max: sbomFilenameCharactersMax })),
  }),
  data: StoredSbom,
  async handle({ input: { project, product = null, filename = null }, caller, sbom, parts }) {
    // A value that is neither an object nor a string has already been refused as an invalid field.
    if (sbom === null)
      throw new DomainError("invalid_field", 'The field "sbom" cannot be read: an SBOM as a JSON object, or as a text is needed');
    if (sbom.refused !== null) throw new DomainError("invalid_field", sbom.refused);
    const request = { actor: caller.actor, workspace: caller.workspace, project, product, origin: null, filename };
    const stored = await storeSbom({ ...request, sbom: sbom.rows }, parts);
    const { components, components_not_compared: left, scan_status: scan } = stored;
    const gap = left === 0 ? "" : `. ${left} of them cannot be compared with advisories: get_project says why`;
    return { data: stored, message: `${components} components are stored; the scan is ${scan}${gap}` };
  },
});

/** What happens before the transaction: checks, and the packages. */
async function prepare(request: SbomToStore, { sql, clock }: SbomStoreParts): Promise<void> {
  authorize(request.actor, { roles: writers, action: "store an SBOM" });
  await requireProject(request, sql);
  await requireRoomForSbom({ workspace: request.workspace, now: clock.now(), sha256: request.sbom.sha256 }, sql);
  await addPackages(request.sbom, sql);
}

/** Checks the project before anything is written. */
async function requireProject({ workspace, project }: SbomToStore, sql: Database): Promise<void> {
  const reference = referenceTo("project", project);
  if ("id" in reference) await requireResource("project", { workspace, ...reference }, sql);
}

/** Runs outside the transaction. */
async function addPackages({ packages }: SbomRows, sql: Database): Promise<void> {
  for (let at = 0; at < packages.length; at += packagesPerStatement) {
    await packageIds(packages.slice(at, at + packagesPerStatement), sql);
  }
}

interface Stored {
  view: NewSbom;
  events: AuditEvent[];
  /** What is new, and counts against a quota. */
  added: ("product" | "project" | "sbom")[];
}

async function storeIn(tx: Transaction, request: SbomToStore, at: Date): Promise<Stored> {
  const { workspace, sbom } = request;
  const product = request.product === null ? null : await findOrCreateProduct({ workspace, product: request.product, at }, tx);
  const found = await findOrCreateProject({ workspace, project: request.project, at }, tx);
  const { project } = found;
  if (found.events.length === 0) requireSameKind(project, request);
  const events = [
    ...(product?.events ?? []),
    ...found.events,
    ...(await updateOriginAndProduct({ request, project, product: product?.id ?? null }, tx)),
  ];
  const known = await selectSbomId({ project: project.id, sha256: sbom.sha256 }, tx);
  const id = known ?? newToolsId("sbom", at.getTime());
  const changed = id !== project.sbom;
  if (known === undefined) await insertWhole({ request, project: project.id, id, at }, tx);
  if (changed) {
    await updateDocument({ id: project.id, sbom: id }, tx);
    await requestScan({ project: project.id, at }, tx);
    events.push({
      event: "project.sbom.set",
      workspace,
      target: project.id,
      changes: { sbom_id: { from: project.sbom, to: id } },
    });
  }
  const added: Stored["added"] = known === undefined ? ["sbom"] : [];
  if ((product?.events ?? []).length > 0) added.push("product");
  if (found.events.length > 0) added.push("project");
  return { view: viewOf(sbom, { project, id, changed }), events, added };
}

/** After all rows are written, since others wait for these locks. */
async function takeRoom(
  stored: readonly Stored[],
  { workspace, at }: { workspace: WorkspaceId; at: Date },
  tx: Transaction,
): Promise<void> {
  const added = new Set(stored.flatMap((one) => one.added));
  if (added.has("product")) await requireResourceQuota("product", workspace, tx);
  if (added.has("project")) await requireResourceQuota("project", workspace, tx);
  if (added.has("sbom")) await takeRoomForSbom({ workspace, now: at.getTime() }, tx);
}

/** Neither does the sample data change a project of the workspace's own, nor is anything of its own lost with the sample data. */
function requireSameKind({ name, provider }: ProjectRow, { origin }: SbomToStore): void {
  const isLoading = origin?.provider === "sample";
  if ((provider === "sample") === isLoading) return;
  const problem = isLoading
    ? `The workspace has a project "${name}" of its own, so the sample data cannot be loaded`
    : `The project "${name}" is sample data: remove the sample data, or choose another name`;
  throw new DomainError("conflict", problem, { field: "project" });
}

interface ProjectUpdate {
  request: SbomToStore;
  project: ProjectRow;
  product: string | null;
}

/** Updates the origin and the product of the project. */
async function updateOriginAndProduct(
  { request: { workspace, origin }, project, product }: ProjectUpdate,
  tx: Transaction,
): Promise<AuditEvent[]> {
  const before = { product_id: project.product, provider: project.provider, repository: project.repository };
  const after = { ...before, ...(product !== null && { product_id: product }), ...origin };
  if (origin !== null) await updateOrigin({ id: project.id, ...origin }, tx);
  if (after.product_id !== before.product_id) await updateProduct({ id: project.id, product }, tx);
  const changes = changedFields({ before, after });
  return Object.keys(changes).length === 0 ? [] : [{ event: "project.updated", workspace, target: project.id, changes }];
}

interface SbomInsert {
  request: SbomToStore;
  project: string;
  id: string;
  at: Date;
}

async function insertWhole({ request, project, id, at }: SbomInsert, tx: Transaction): Promise<void> {
  const { workspace, filename, sbom: rows } = request;
  await insertSbom({ id, workspace, project, filename, createdBy: signatureOf(request.actor).actor, rows, at }, tx);
  await insertEcosystems({ sbom: id, rows: rows.ecosystems }, tx);
  for (const batch of rows.componentRows) await insertComponents({ sbom: id, rows: batch }, tx);
  for (const batch of rows.edgeRows) await insertEdges({ sbom: id, rows: batch }, tx);
}

function viewOf(sbom: SbomRows, { project, id, changed }: { project: ProjectRow; id: string; changed: boolean }): NewSbom {
  return {
    sbom_id: id,
    project_id: project.id,
    format: sbom.format,
    spec_version: sbom.specVersion,
    components: sbom.components,
    warnings: sbom.warnings,
    scan_status: changed ? "pending" : project.scanStatus,
    changed,
  };
}
