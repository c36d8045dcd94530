/**
 * The checklist of first steps on Home, over all three products: what is done is derived from what exists, and a person sees only steps
 * that their role may do. It is gone once all of them are done, or once the person hides it.
 */
import { checklistEndpoints } from "../../../control-api/endpoints/checklist.ts";
import { markup, type Html } from "../../../http/html.ts";
import { actionButton } from "../../look/forms.ts";
import { section } from "../../look/parts.ts";
import { checklist } from "../../look/steps.ts";
import { hiddenFields } from "../../page-forms.ts";
import type { ActionResult, PageCall } from "../../page.ts";

type StepName = "request" | "key" | "limit" | "colleague" | "alert" | "sbom" | "connection";

interface FirstStep {
  name: StepName;
  label: string;
  path: string;
  words: string;
}

const products: readonly { title: string; steps: readonly FirstStep[] }[] = [
  {
    title: "Inference",
    steps: [
      {
        name: "request",
        label: "Send a first request",
        path: "/workbench",
        words: "Try a model in the Workbench; it needs no key. Requests then shows what it cost, to the nano-dollar.",
      },
      {
        name: "key",
        label: "Create a key for your program",
        path: "/keys/new",
        words: "It is shown once, with a first request to paste.",
      },
      { name: "limit", label: "Limit what a key may spend", path: "/keys", words: "By month or by day, on the key’s page." },
      { name: "alert", label: "Set an alert", path: "/alerts/new", words: "Before a limit or the credit is spent." },
      {
        name: "colleague",
        label: "Invite a colleague",
        path: "/members/new",
        words: "As a member, an auditor or an admin.",
      },
    ],
  },
  {
    title: "Security",
    steps: [
      {
        name: "sbom",
        label: "Upload an SBOM",
        path: "/projects/new",
        words: "It is compared with known vulnerabilities at once.",
      },
    ],
  },
  {
    title: "Compliance",
    steps: [
      {
        name: "connection",
        label: "Connect a vendor",
        path: "/connections/new",
        words: "Its credentials are sealed and tested.",
      },
    ],
  },
];

/** null: all is done, it is hidden, or the role may do none of the steps. */
export async function firstStepsSection(call: PageCall): Promise<Html | null> {
  const state = await call.control(checklistEndpoints.show);
  // The operator has no key of their own.
  const may = ({ path }: FirstStep): boolean => call.offers(path) && (path !== "/keys/new" || call.viewer.email !== null);
  const offered = products
    .map(({ title, steps }) => ({ title, steps: steps.filter(may) }))
    .filter(({ steps }) => steps.length > 0);
  const all = offered.flatMap(({ steps }) => steps);
  const done = all.filter(({ name }) => state[name]);
  if (state.hidden || done.length === all.length) return null;
  const groups = offered.map(
    ({ title, steps }) =>
      markup`<div><h3>${title}</h3>${checklist(
        steps.map(({ name, label, path, words }) => ({ label, words, path: call.link(path), done: state[name] })),
      )}</div>`,
  );
  const hide = actionButton({
    action: call.path,
    label: "Hide",
    what: "the first steps",
    hidden: hiddenFields(call, "hide-steps"),
  });
  const body = markup`<p class="under">${done.length} of ${all.length} done</p>${hide}<div class="groups">${groups}</div>`;
  return markup`<div class="checklist">${section("first-steps", "First steps", body)}</div>`;
}

export async function hideSteps(call: PageCall): Promise<ActionResult> {
  await call.control(checklistEndpoints.hide, { hidden: true });
  return { goTo: call.path, said: "The first steps are hidden for you." };
}
