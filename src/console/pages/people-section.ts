/**
 * Who has an account at the vendor of a connection, on the connection's page: a table with its time and its source, what it lacks, and files
 * of all people. Members see none of it, and neither does a workspace without the early access.
 */
import { DomainError } from "../../accounts/errors.ts";
import type { ConnectionView, PeopleReading, PeopleView, PersonView } from "../../connectors/connections/schema.ts";
import { peopleFieldsOf } from "../../connectors/connections/vendor-people.ts";
import { peopleMax } from "../../connectors/limits.ts";
import { asTyped } from "../../control-api/endpoint.ts";
import { connectionEndpoints } from "../../control-api/endpoints/connections.ts";
import { markup, type Html } from "../../http/html.ts";
import { actionButton, address } from "../look/forms.ts";
import { badge, cursorLinks, emptyState, notice, section, table, time, type Tone, userText } from "../look/parts.ts";
import { hiddenFields } from "../page-forms.ts";
import type { ActionResult, PageCall } from "../page.ts";
import { connectorName, mayManage } from "./connections-page.ts";

const peopleRows = 50;

/** null: none are read of this vendor, or not in this workspace, or not for this viewer. */
export async function peopleSection(connection: ConnectionView, call: PageCall): Promise<Html | null> {
  if (peopleFieldsOf(connection.connector) === undefined) return null;
  try {
    const after = call.query.get("after");
    const given = { id: connection.id, limit: String(peopleRows), ...(after && { after: asTyped(after) }) };
    const view = await call.control(connectionEndpoints.people, given);
    return section("people", "People", peopleParts(view, { connection, call }));
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (error.code === "conflict") return section("people", "People", markup`<p>${error.message}.</p>`);
    if (error.code === "not_found" || error.code === "forbidden") return null;
    throw error;
  }
}

function peopleParts(
  { reading, data, next }: PeopleView,
  { connection, call }: { connection: ConnectionView; call: PageCall },
): Html {
  const act = (action: string, label: string): Html =>
    actionButton({ action: call.path, label, hidden: hiddenFields(call, action) });
  const may = mayManage(call);
  if (reading === null) {
    const words = `People have not been read yet. A reading lists who has an account at ${connectorName(connection.connector, call)} and changes nothing there. It is repeated each day.`;
    return emptyState(words, may ? act("read-people", "Read people") : null);
  }
  const file = (format: string): string =>
    address(`/api/console/connections/${connection.id}/people`, { workspace: call.workspace.id, format });
  const buttons = may ? markup`${act("read-people", "Read again")}${act("forget-people", "Delete and stop")}` : null;
  // No reading has succeeded yet, so there is nothing to list or to download.
  if (reading.read_at === null) return markup`${peopleNotes(reading)}<div class="list-bar">${buttons}</div>`;
  return markup`${peopleNotes(reading)}
    <div class="list-bar">${buttons}<a class="button quiet" href="${file("csv")}" download>CSV</a><a class="button quiet" href="${file("ndjson")}" download>NDJSON</a></div>
    ${table<PersonView>({
      caption: "People",
      columns: [
        { label: "Login", kind: "text", cell: ({ login }) => userText(login) },
        { label: "State", kind: "badge", cell: ({ state }) => badge(personTones[state], state) },
        { label: "Second factor", kind: "badge", cell: ({ second_factor: factor }) => factorBadge(factor) },
      ],
      rows: data,
      empty: emptyState("There are no people to show.", null),
    })}
    ${cursorLinks({
      shown: `${data.length} of ${reading.people} people`,
      firstPath: call.query.get("after") ? call.path : null,
      nextPath: next === null ? null : address(call.path, { after: next }),
    })}`;
}

/** The time and the source of what is shown, and what it lacks. */
function peopleNotes({ people, read_at: at, list, complete, current, second_factor_unknown: why, failure }: PeopleReading): Html {
  const failed =
    failure === null
      ? null
      : notice({
          tone: "warn",
          words: markup`Readings have failed since ${time(failure.since)}: ${failure.message}.${at === null ? null : " The people below are those of the last good one."}`,
        });
  if (at === null) return markup`${failed}`;
  return markup`${failed}
    <p>${people} people, read ${time(at, { seconds: true })} from the vendor’s list <code>${list}</code>.</p>
    ${complete === false ? markup`<p>There are more than these: a reading ends at ${peopleMax} people.</p>` : null}
    ${current ? null : markup`<p>They were read with credentials that have been replaced.</p>`}
    ${why === null ? null : markup`<p class="hint">Some second factors are not known: ${why}.</p>`}`;
}

const personTones: Record<PersonView["state"], Tone> = {
  active: "good",
  pending: "neutral",
  locked: "warn",
  suspended: "neutral",
  disabled: "neutral",
  archived: "neutral",
  unknown: "neutral",
};

function factorBadge(factor: boolean | null): Html | null {
  if (factor === null) return null;
  return factor ? badge("good", "set up") : badge("bad", "none");
}

async function readPeople(call: PageCall): Promise<ActionResult> {
  const { failure, people } = await call.control(connectionEndpoints.readPeople, { id: call.params["id"] ?? "" });
  const said =
    failure === null ? `${people} people were read. They are read again each day.` : `The reading failed. ${failure.message}.`;
  return { goTo: call.path, said, warns: failure !== null };
}

async function forgetPeople(call: PageCall): Promise<ActionResult> {
  await call.control(connectionEndpoints.forgetPeople, { id: call.params["id"] ?? "" });
  return { goTo: call.path, said: "The people are deleted, and are no longer read." };
}

/** The forms of the section, by the value of their field `action`. */
export const peopleActions = { "read-people": readPeople, "forget-people": forgetPeople };
