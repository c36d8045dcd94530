/** `weir connection people`: a table, or all people as CSV or NDJSON, to a file or to standard output. */
import { writeFileSync } from "node:fs";
import { peopleTable, type PeopleReading, type PeopleView } from "../../../src/connectors/connections/schema.ts";
import { peopleMax } from "../../../src/connectors/limits.ts";
import { csvText } from "../../../src/http/csv-response.ts";
import { answerAs, CallError } from "../call.ts";
import { printNamed } from "../print-findings.ts";
import { UsageError } from "../value.ts";
import type { LocalAnswer, Sending } from "../verb.ts";

export async function listPeople(fields: Record<string, unknown>, { get }: Sending): Promise<LocalAnswer> {
  const { id, format, output, ...query } = fields;
  const path = `/connections/${encodeURIComponent(String(id))}/people`;
  if (format === undefined) {
    if (output !== undefined) throw new UsageError("--output needs --format csv or --format ndjson");
    const body = await get(path, query);
    return { body, text: textOf(answerAs<PeopleView>(body)), errors: [] };
  }
  if ("limit" in query || "after" in query) throw new UsageError("--format has all people: leave out --limit and --after");
  const { reading, data } = answerAs<PeopleView>(await get(path, { ...query, limit: peopleMax }));
  const read_at = reading?.read_at ?? null;
  const lines = data.map((person) => `${JSON.stringify({ ...person, read_at })}\n`);
  const document = format === "csv" ? csvText(peopleTable({ read_at, data })) : lines.join("");
  if (output === undefined) return { body: { data }, text: document.trimEnd(), errors: [] };
  try {
    writeFileSync(String(output), document);
  } catch (error) {
    throw new CallError(`Cannot write "${String(output)}": ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  return { body: { output, people: data.length }, text: `${String(output)}: ${data.length} people`, errors: [] };
}

function textOf({ reading, data, next }: PeopleView): string {
  if (reading === null) return "(never read: weir connection read-people reads them)";
  const rows = data.map(({ login, state, second_factor: factor }) => {
    return { login, state, second_factor: factor === null ? "" : factor ? "yes" : "no" };
  });
  const more = next === null ? "" : `; --after ${next} lists the next ones`;
  return [printNamed({ data: rows }, ["login", "state", "second_factor"]), "", ...notesOf(reading)].join("\n") + more;
}

/** What was read, and what the table does not show. */
function notesOf(reading: PeopleReading): string[] {
  const { people, read_at: at, list, complete, current, second_factor_unknown: unknown, failure } = reading;
  return [
    at === null ? `never read from ${list}` : `${people} people, read at ${at} from ${list}`,
    ...(complete === false ? [`There are more than these: a reading ends at ${peopleMax} people`] : []),
    ...(current || at === null ? [] : ["They were read with credentials that have been replaced"]),
    ...(unknown === null ? [] : [`Second factor: ${unknown}`]),
    ...(failure === null ? [] : [`Readings have failed since ${failure.since} (${failure.outcome}): ${failure.message}`]),
  ];
}
