/**
 * The checklist of first steps on Home, over all three products: what is done is derived from what exists, and a person sees only steps
 * that their role may do. It is gone once all of them are done, or once the person hides it.
 *
 * A workspace without projects may load the sample data there. While that is loaded, Home says so and offers to remove it, with or without
 * the checklist.
 */
import { checklistEndpoints } from "../../../control-api/endpoints/checklist.ts";
import { sampleEndpoints } from "../../../control-api/endpoints/uploads.ts";
import { markup, type Html } from "../../../http/html.ts";
import { actionButton, confirmForm } from "../../look/forms.ts";
import { section } from "../../look/parts.ts";
import { checklist } from "../../look/steps.ts";
import { actDialog, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, PageCall } from "../../page.ts";
import { providersPath } from "../operator/providers-page.ts";

type StepName = "provider" | "request" | "key" | "limit" | "colleague" | "alert" | "sbom" | "connection";

interface FirstStep {
  name: StepName;
  label: string;
  /** Below the workspace's pages, unless it is one of the operator's. */
  path: string;
  words: string;
}

const products: readonly { title: string; steps: readonly FirstStep[] }[] = [
  {
    title: "Inference",
    steps: [
      {
        name: "provider",
        label: "Add a provider’s key",
        path: providersPath,
        words: "Of OpenAI, Anthropic or another. The sandbox needs none.",
      },
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

interface FirstSteps {
  /** null: all is done, it is hidden, or the role may do none of the steps. */
  steps: Html | null;
  /** That the sample data is loaded, unless the steps say so; null: it is not. */
  sample: Html | null;
}

export async function firstSteps(call: PageCall): Promise<FirstSteps> {
  const [state, sample] = await Promise.all([call.control(checklistEndpoints.show), readSample(call)]);
  const { email, operates } = call.viewer;
  const may = ({ path }: FirstStep): boolean => {
    // The operator's own Home says more of providers.
    if (path === providersPath) return operates && email !== null;
    // The operator has no key of their own.
    return call.offers(path) && (path !== "/keys/new" || email !== null);
  };
  const linked = (path: string): string => (path === providersPath ? path : call.link(path));
  const offered = products
    .map(({ title, steps }) => ({ title, steps: steps.filter(may) }))
    .filter(({ steps }) => steps.length > 0);
  const all = offered.flatMap(({ steps }) => steps);
  const done = all.filter(({ name }) => state[name]);
  const isHidden = state.hidden && call.query.get("steps") !== "shown";
  if (isHidden || done.length === all.length) return { steps: null, sample: sample.isLoaded ? sample.line : null };
  const groups = offered.map(
    ({ title, steps }) =>
      markup`<div><h3>${title}</h3>${checklist(
        steps.map(({ name, label, path, words }) => ({ label, words, path: linked(path), done: state[name] })),
      )}${title === "Security" ? sample.line : null}</div>`,
  );
  const hide = actionButton({
    action: call.path,
    label: "Hide",
    what: "the first steps",
    hidden: hiddenFields(call, "hide-steps"),
  });
  const body = markup`<p class="under">${done.length} of ${all.length} done</p>${hide}<div class="groups">${groups}</div>`;
  return { steps: markup`<div class="checklist">${section("first-steps", "First steps", body)}</div>`, sample: null };
}

interface Sample {
  isLoaded: boolean;
  /** null: the role may not change it, or the workspace has projects of its own and no sample data. */
  line: Html | null;
}

async function readSample(call: PageCall): Promise<Sample> {
  if (call.workspace.role === "auditor") return { isLoaded: false, line: null };
  const { projects, own_projects: hasOwn } = await call.control(sampleEndpoints.show);
  const isLoaded = projects.length > 0;
  return { isLoaded, line: isLoaded ? loadedLine(call) : hasOwn ? null : loadLine(call) };
}

function loadLine(call: PageCall): Html {
  const hidden = hiddenFields(call, "load-sample");
  const load = actionButton({ action: call.path, label: "Load sample data", hidden });
  return markup`<div class="sample"><span class="under">To look around first: three small projects of real packages.</span>${load}</div>`;
}

function loadedLine(call: PageCall): Html {
  const body = confirmForm({
    id: "remove-sample-data",
    warning: "Its three projects are removed with their findings, and with the decisions on these. This cannot be undone.",
    action: call.path,
    hidden: hiddenFields(call, "remove-sample"),
    submit: "Remove",
    cancelPath: call.path,
  });
  const act = { action: "remove-sample", label: "Remove it", title: "Remove the sample data?", body };
  const { button, dialog } = actDialog(call, act);
  return markup`<div class="sample"><span>Sample data is loaded.</span>${button}</div>${dialog}`;
}

export async function loadSampleData(call: PageCall): Promise<ActionResult> {
  const { changed } = await call.control(sampleEndpoints.load);
  return {
    goTo: call.path,
    said: changed ? "The sample data is loaded and will be scanned." : "The sample data is loaded already.",
  };
}

export async function removeSampleData(call: PageCall): Promise<ActionResult> {
  const { removed } = await call.control(sampleEndpoints.remove);
  return { goTo: call.path, said: removed.length === 0 ? "The sample data was not loaded." : "The sample data is removed." };
}

/** Of Home, with the steps that a person has hidden. */
export const shownStepsPath = "/?steps=shown";

export async function hideSteps(call: PageCall): Promise<ActionResult> {
  await call.control(checklistEndpoints.hide, { hidden: true });
  return { goTo: call.path, said: "The first steps are hidden for you. The search still leads to them." };
}
