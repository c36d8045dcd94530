/** The tables of a statement. None has more than five columns, so that they stay tables on paper. */
import type { Line, Movement, OwnKeyUse } from "../../../gateway/statements/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { formatUsd, parseUsd } from "../../../kernel/money.ts";
import { statementLinesShownMax } from "../../limits.ts";
import { notice } from "../../look/states.ts";
import { table } from "../../look/table.ts";
import { userText } from "../../look/user-text.ts";
import { exactMoney } from "./exact-money.ts";
import { utcTime } from "./utc-time.ts";

/** The dearest ones; the file has all. */
export function linesTable(lines: readonly Line[], total: string): Html {
  const left = lines.slice(statementLinesShownMax).reduce((sum, { cost_usd: cost }) => sum + parseUsd(cost), 0n);
  const more =
    lines.length <= statementLinesShownMax
      ? null
      : notice({
          tone: "neutral",
          words: markup`The ${statementLinesShownMax} dearest of ${lines.length} lines. The others are ${exactMoney(formatUsd(left))}; the CSV has all.`,
        });
  const counted = (count: (line: Line) => number): string => whole(lines.reduce((sum, line) => sum + count(line), 0));
  return markup`${more}${table<Line>({
    caption: "Charges",
    columns: [
      { label: "Key", kind: "text", cell: keyCell },
      { label: "Model", kind: "text", cell: modelCell },
      { label: "Requests", kind: "number", cell: ({ requests }) => whole(requests) },
      { label: "Tokens in + out", kind: "number", cell: tokensCell },
      { label: "Amount", kind: "money", cell: ({ cost_usd: cost }) => exactMoney(cost) },
    ],
    rows: lines.slice(0, statementLinesShownMax),
    totals: ["All charges", null, counted(({ requests }) => requests), null, exactMoney(total)],
    empty: markup``,
  })}`;
}

function keyCell({ key_id: id, key_name: name, member, model }: Line): Html {
  if (model === null) return markup`Other requests`;
  return markup`${userText(name ?? id ?? "unknown")}${member === null ? null : markup`<span class="under">${userText(member)}</span>`}`;
}

function modelCell({ model, provider, endpoint, tier_above_tokens: tier }: Line): Html | null {
  if (model === null || provider === null || endpoint === null) return null;
  const price = tier === null ? null : markup`, price above ${whole(tier)} tokens`;
  return markup`${userText(model)}<span class="under">${userText(provider)}, ${endpoint}${price}</span>`;
}

function tokensCell({ prompt_tokens: prompt, completion_tokens: completion, cached_tokens: cached }: Line): Html {
  const read = cached === 0 ? null : markup`<span class="under">${whole(cached)} cached</span>`;
  return markup`${whole(prompt)} + ${whole(completion)}${read}`;
}

/** @param movements refunds with a minus */
export function movementsTable(movements: readonly Movement[]): Html {
  return table<Movement>({
    caption: "Credits and refunds",
    columns: [
      { label: "Time", kind: "time", cell: ({ at }) => utcTime(at) },
      { label: "Kind", kind: "text", cell: ({ kind }) => kindWords(kind) },
      { label: "Reference", kind: "text", cell: ({ ref }) => ref },
      { label: "Amount", kind: "money", cell: ({ usd }) => exactMoney(usd) },
    ],
    rows: movements.slice(0, statementLinesShownMax),
    empty: markup``,
  });
}

/** The ledger's word, such as `dispute_reversed`, as one that people write. */
function kindWords(kind: string | null): string {
  return kind === null ? "others" : kind.replaceAll("_", " ");
}

export function ownKeyTable(uses: readonly OwnKeyUse[]): Html {
  return markup`<p class="under">The providers bill these calls. They are no part of the charges.</p>${table<OwnKeyUse>({
    caption: "Calls with own provider keys",
    columns: [
      { label: "Model", kind: "text", cell: ({ model }) => model },
      { label: "Provider", kind: "text", cell: ({ provider }) => provider },
      { label: "Requests", kind: "number", cell: ({ requests }) => whole(requests) },
      { label: "At list prices", kind: "money", cell: ({ list_cost_usd: cost }) => exactMoney(cost) },
    ],
    rows: uses,
    empty: markup``,
  })}`;
}

function whole(count: number): string {
  return count.toLocaleString("en-US");
}
