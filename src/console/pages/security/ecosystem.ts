import { ecosystemNames, type EcosystemName } from "../../../security/findings/schema.ts";
import type { Filter } from "../../look/forms/filter-form.ts";

const names: Record<EcosystemName, string> = {
  npm: "npm",
  pypi: "PyPI",
  maven: "Maven",
  go: "Go",
  cargo: "Cargo",
  rubygems: "RubyGems",
  nuget: "NuGet",
};

/** As its people write it; another text stays. */
export function ecosystemName(word: string | null): string | null {
  return ecosystemNames.flatMap((known) => (known === word ? [names[known]] : []))[0] ?? word;
}

export function ecosystemFilter(value: string): Filter {
  const choices = [{ value: "", label: "Any" }, ...ecosystemNames.map((word) => ({ value: word, label: names[word] }))];
  return { name: "ecosystem", label: "Ecosystem", kind: "choice", value, choices };
}
