import type { KeyRecord } from "../../accounts/keys/record.ts";
import type { Model, Route, UnavailableReason } from "../models/model.ts";
import type { OwnKeys } from "../models/own-keys/own-routes.ts";

/** This process's view of the catalog. */
export interface ModelsView {
  /** False until a valid catalog has been read. */
  readable(): boolean;
  find(id: string): Model | null;
  /** The published model that an unknown id probably means. Absent: refusals name none. */
  nearest?(id: string): string | null;
  /** The routes that may serve this workspace, or the reason why there is none. */
  usableRoutes(
    model: Model,
    record: Pick<KeyRecord, "zeroDataRetention" | "earlyAccess"> & OwnKeys,
  ): { routes: Route[]; reason: UnavailableReason | null };
}
