/** The catalog's search form, which works without a script. */
import { methodNames } from "../catalog/files/columns.ts";
import type { Filters } from "../catalog/filter.ts";
import { queryCharactersMax } from "../catalog/read-parameters.ts";
import type { Facet, Facets } from "./facets.ts";
import { markup, type Html } from "../../http/html.ts";

export function searchForm({ category, method, q }: Filters, { categories, methods }: Facets): Html {
  return markup`<form class="search" role="search" action="/connectors" method="get">
    <p class="wide">
      <label for="q">Name or vendor</label>
      <input id="q" name="q" type="search" value="${q}" maxlength="${queryCharactersMax}" autocomplete="off" spellcheck="false" />
    </p>
    <p class="send"><button type="submit">Search</button></p>
    <p>
      <label for="category">Category</label>
      <select id="category" name="category">
        ${options(categories, { chosen: category, any: "All categories", label: (name) => name })}
      </select>
    </p>
    <p>
      <label for="method">Connect with</label>
      <select id="method" name="method">
        ${options(methods, { chosen: method, any: "Any method", label: (name) => methodNames[name] })}
      </select>
    </p>
  </form>`;
}

/** Each with the number of connectors that it would leave. */
function options<Choice extends string>(
  { any, counts }: Facet<Choice>,
  words: { chosen: Choice | null; any: string; label: (choice: Choice) => string },
): Html {
  const option = (value: string, text: string, count: number): Html => {
    const selected = value === (words.chosen ?? "") ? markup` selected` : null;
    return markup`<option value="${value}"${selected}>${text} (${count})</option>`;
  };
  return markup`${option("", words.any, any)}${counts.map(({ choice, count }) => option(choice, words.label(choice), count))}`;
}
