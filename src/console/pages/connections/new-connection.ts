/** Connecting a vendor: the vendor is chosen, then its form is filled in, saved and tested. */
import { markup, type Html } from "../../../http/html.ts";
import type { ConnectorRow } from "../../../connectors/catalog/row.ts";
import type { ConnectionTest, ConnectionView } from "../../../connectors/connections/schema.ts";
import { labelsOf } from "../../../connectors/pages/credential-form.ts";
import { grantOfSet } from "../../../connectors/pages/set-up-page.ts";
import { outward } from "../../../http/page.ts";
import { connectionTestMs } from "../../../control-api/limits.ts";
import type { FormFields } from "../../form.ts";
import { address } from "../../look/forms/address.ts";
import { form } from "../../look/forms/form.ts";
import { tabs } from "../../look/tabs.ts";
import { userText } from "../../look/user-text.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { section } from "../security/section.ts";
import { requireConnector } from "./connector.ts";
import { credentialFields, credentialsIn, withoutSecrets } from "./credential-fields.ts";
import { testedWords } from "./state.ts";

export const newConnectionPage: Page = {
  of: "workspace",
  path: "/connections/new/:slug",
  navigation: null,
  roles: ["admin", "super_admin"],
  deadlineMs: connectionTestMs,
  render,
  actions: { connect },
};

const noCredentials = { fields: [] };

/** The alternative of the form that the address names, from 0. */
function setOf(row: ConnectorRow, number: number) {
  return row.credential_sets[number] ?? row.credential_sets[0] ?? noCredentials;
}

function numberIn(text: string | null): number {
  return text !== null && /^\d{1,2}$/.test(text) ? Number(text) : 0;
}

async function render(call: PageCall): Promise<PageContent> {
  const row = requireConnector(call.params["slug"] ?? "", call);
  const trail = [
    { path: call.link("/connections"), label: "Connections" },
    { path: call.link("/connections/new"), label: "Connect a vendor" },
  ];
  const docs = row.docs === null ? null : markup`<p>${outward(row.docs, markup`Documentation of ${row.name}`)}</p>`;
  const title = `Connect ${row.name}`;
  if (row.credential_sets.length === 0) {
    const lead = `Nothing is read from ${row.name}: the connection records that you use it, and asks for no credentials.`;
    return { title, trail, lead, main: connectForm(row, call) };
  }
  return {
    title,
    trail,
    main: markup`${setTabs(row, call)}
      ${section("grant", "1. Prepare it at the vendor", markup`${grantOfSet(row, chosenSet(call), call.parts.control.connectors)}${docs}`)}
      ${section("form", "2. Fill in the form", connectForm(row, call))}`,
  };
}

function chosenSet(call: PageCall): number {
  return numberIn(call.refused?.form.text("credential_set") ?? call.query.get("set"));
}

/** Above both steps, for both depend on it; null without a choice. */
function setTabs(row: ConnectorRow, call: PageCall): Html | null {
  const number = chosenSet(call);
  const here = call.link(`/connections/new/${row.slug}`);
  const choices = row.credential_sets.map((one, index) => ({
    path: address(here, { set: index === 0 ? undefined : String(index) }),
    label: labelsOf(one),
    count: null,
    current: index === number,
  }));
  return choices.length < 2 ? null : tabs("What you have", choices);
}

function connectForm(row: ConnectorRow, call: PageCall): Html {
  const number = chosenSet(call);
  const set = setOf(row, number);
  const generic =
    row.form === "generic"
      ? markup`<p class="hint">No source names what ${userText(row.name)} asks for, so this is the form for any vendor.</p>`
      : null;
  return markup`${generic}${form({
    id: "connect",
    action: call.link(`/connections/new/${row.slug}`),
    hidden: hiddenFields(call, "connect", { credential_set: String(number) }),
    fields: credentialFields(set),
    state: withoutSecrets(formState(call, { action: "connect" }), set),
    submit: row.credential_sets.length === 0 ? "Keep it on record" : "Save",
    cancelPath: call.link("/connections"),
  })}`;
}

/** Saves, and tests at once where there is a test. The connection stays where the test fails. */
async function connect(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const row = requireConnector(call.params["slug"] ?? "", call);
  const number = numberIn(typed.text("credential_set"));
  const form =
    row.credential_sets.length === 0 ? {} : { credential_set: number, credentials: credentialsIn(typed, setOf(row, number)) };
  const made = await call.control<ConnectionView>("POST", "/connections", { connector: row.id, ...form });
  const path = `/connections/${made.id}`;
  if (!made.testable) return { goTo: call.link(path), said: `${row.name} is connected.` };
  const tested = await call.control<ConnectionTest>("POST", `${path}/test`);
  return { goTo: call.link(path), said: `${row.name} is connected. ${testedWords(tested)}`, warns: tested.outcome !== "works" };
}
