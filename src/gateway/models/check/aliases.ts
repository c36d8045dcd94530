/** Two names of one model must have the same facts: otherwise a client that changes the name would get another model. */
import { isDeepStrictEqual } from "node:util";
import type { ModelEntry } from "../schema.ts";
import type { JudgedModel } from "./judged-model.ts";
import type { ModelProblem } from "./problem.ts";

/** `-20251001` or `-2025-10-01`. A date without its year, such as `-0731`, mostly names another model. */
const dateInName = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;

/** What each name has for itself. Tiers are compared together with the prices. */
const ownFields = new Set<string>([
  "id",
  "name",
  "upstream_model",
  "alias_of",
  "released",
  "listed_as",
  "published",
  "tiers",
  "source",
  "checked_with",
  "note",
  "seen",
] satisfies (keyof ModelEntry)[]);

/** Every field in which a model of one provider differs from the model that it is another name of. */
export function aliasesAtOdds(judged: readonly JudgedModel[]): ModelProblem[] {
  const single = judged.filter(({ entry }) => entry.routes === undefined);
  const places = new Map(single.map((one) => [`${one.file} ${one.entry.id}`, one]));
  return judged.flatMap((one) => {
    const { file, entry } = one;
    const id = otherNameOf(entry);
    const other = id === null || entry.routes !== undefined ? undefined : places.get(`${file} ${id}`);
    if (other === undefined) {
      if (typeof entry.alias_of !== "string") return [];
      return [
        { file, id: entry.id, field: "alias_of", message: `no model of this provider alone is called "${entry.alias_of}"` },
      ];
    }
    const message = `differs from ${other.entry.id}, another name of the same model`;
    return fieldsAtOdds(one, other).map((field) => ({ file, id: entry.id, field, message }));
  });
}

/** Another name of the same model, which the provider may not have. @returns null: the name stands for a model of its own */
export function otherNameOf({ id, alias_of }: ModelEntry): string | null {
  if (alias_of !== undefined) return alias_of;
  return dateInName.test(id) ? id.replace(dateInName, "") : null;
}

function fieldsAtOdds(one: JudgedModel, other: JudgedModel): string[] {
  const [facts, others] = [factsOf(one), factsOf(other)];
  const fields = new Set([...facts.keys(), ...others.keys()]);
  return [...fields].filter((field) => !isDeepStrictEqual(facts.get(field), others.get(field)));
}

/** As the service reads them: an absent field is its default, and words have no order. */
function factsOf({ entry, model }: JudgedModel): Map<string, unknown> {
  const stated = Object.entries(entry).filter(([field]) => !ownFields.has(field));
  return new Map<string, unknown>([
    ...stated,
    ["prices_per_1m_usd", model.listPrices],
    ["supports", model.supports],
    ["reasons", model.reasons],
  ]);
}
