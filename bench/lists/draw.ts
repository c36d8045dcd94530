/** Random calls of lists, with usual combinations of filters and any offset. */
import type { Scope } from "../../src/security/operation.ts";
import { ecosystemOfName, ecosystemNames, ranksOf, severities } from "../../src/security/findings/schema.ts";
import * as plan from "./plan.ts";
import { productId, projectId, sbomId, type NaiveFilter } from "./store.ts";

export interface Draw {
  list: "findings" | "vulnerabilities";
  inventory: plan.Inventory;
  scope: Scope;
  input: Record<string, string | number>;
  /** The start of the page, as a share of all rows. */
  depth: number;
}

/** @param chance returns numbers from 0 to below 1 */
export function drawCall(chance: () => number): Draw {
  const draw = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T;
  const place = draw(["workspace", "workspace", "product", "project", "sbom"] as const);
  const inventory = draw(plan.inventories);
  const projects = plan.plannedProjects().filter((project) => project.inventory === inventory);
  const number = projects[Math.floor(chance() ** 3 * projects.length)]?.number ?? 0;
  const list = place !== "sbom" && chance() < 0.5 ? "vulnerabilities" : "findings";
  const input: Draw["input"] = {
    limit: draw([25, 50, 100, 200, 1 + Math.floor(chance() * 200)]),
    severity: draw(["all", "all", ...severities]),
  };
  if (place === "sbom") input["sbom_id"] = sbomId(number);
  if (list === "findings")
    input["status"] = draw(["all", "all", "open", "open", "resolved", "ignored", "in_progress", "false_positive"]);
  else {
    input["ecosystem"] = draw(["all", "all", "all", ...ecosystemNames]);
    if (chance() < 0.3) input["cvss_min"] = Math.round(chance() * 100) / 10;
  }
  const product = productId(inventory, 1 + Math.floor(chance() * plan.products));
  return { list, inventory, scope: scopeOf(place, { number, product }), input, depth: chance() };
}

function scopeOf(
  place: "workspace" | "product" | "project" | "sbom",
  { number, product }: { number: number; product: string },
): Scope {
  if (place === "product") return { kind: "product", id: product };
  return place === "project" ? { kind: "project", id: projectId(number) } : { kind: "workspace" };
}

/** The same call for the naive queries. */
export function naiveOf({ inventory, scope, input }: Draw, offset: number) {
  const severity = severities.find((one) => one === input["severity"]) ?? "all";
  const ecosystem = ecosystemNames.find((one) => one === input["ecosystem"]);
  const place: NaiveFilter["place"] =
    input["sbom_id"] !== undefined
      ? { sbom: String(input["sbom_id"]) }
      : scope.kind === "workspace"
        ? { column: "workspace_id", id: inventory.workspace }
        : { column: `${scope.kind}_id`, id: scope.id };
  return {
    place,
    ranks: ranksOf(severity),
    limit: Number(input["limit"]),
    offset,
    shown: String(input["status"]),
    ecosystem: ecosystem === undefined ? null : ecosystemOfName(ecosystem),
    scoreMin: Math.round(Number(input["cvss_min"] ?? 0) * 10),
  };
}
