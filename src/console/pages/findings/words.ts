/** A finding in sentences: why it is one, and what to do about it. */
import { markup, type Html } from "../../../http/html.ts";
import type { FindingDetails } from "../../../security/findings/details/show-finding.ts";
import { userText } from "../../look/user-text.ts";
import { rangeWords } from "../security/range-words.ts";

export function whyItMatches({ component, component_version: version, cve_id: name, evidence }: FindingDetails): Html {
  const { source, range, comparator, listed } = evidence;
  const said = source === null || source === name ? markup`Its advisory` : markup`The advisory <code>${source}</code>`;
  const installed = markup`<strong>${userText(`${component} ${version}`.trim())}</strong>`;
  if (comparator !== null) {
    const whole = range !== null && range !== comparator ? markup` In its own words: <code>${range}</code>.` : null;
    return markup`<p>${said} says that these versions are affected: <strong>${rangeWords(comparator)}</strong>. ${installed} is one of them.${whole}</p>`;
  }
  if (listed !== null)
    return markup`<p>${said} lists the version <code>${listed}</code> as affected, which is that of ${installed}.</p>`;
  return range === null
    ? markup`<p>${said} names ${installed}.</p>`
    : markup`<p>${said} says that these versions are affected: <code>${range}</code>. ${installed} is one of them.</p>`;
}

const steps: Record<string, string> = {
  patch: "a small step on the same release line",
  minor: "within the same major version",
  major: "a new major version: expect changes that break",
};

export function whatToDo({ upgrade, upgrade_for_all: all, open_findings: open, component }: FindingDetails): Html {
  if (upgrade.version === null)
    return markup`<p>There is no version to upgrade to. ${upgrade.reason === null ? "" : `${upgrade.reason}.`}</p>`;
  const step = upgrade.step === null ? null : markup`, ${steps[upgrade.step] ?? upgrade.step}`;
  const early = upgrade.prerelease ? markup` Only a prerelease fixes it so far.` : null;
  const first = markup`<p>Upgrade ${userText(component)} to <strong>${userText(upgrade.version)}</strong>${step}.${early}</p>`;
  if (open < 2 || all.version === null) return first;
  if (all.version === upgrade.version)
    return markup`${first}<p>This version has no known vulnerability: it fixes all ${open} open findings of the component.</p>`;
  return markup`${first}<p>Version <strong>${userText(all.version)}</strong> fixes all ${open} open findings of the component.</p>`;
}

const relations: Record<string, string> = {
  root: "It is the project itself.",
  direct: "The project depends on it directly.",
  transitive: "The project depends on it through other components:",
  unknown: "The SBOM does not say how the project depends on it.",
};

/** The way from the root to the component. */
export function dependencyPath({ relation, path }: FindingDetails): Html | null {
  if (relation === null) return null;
  const steps = path.map((step, index) => markup`${index === 0 ? null : markup` → `}<code>${step}</code>`);
  return markup`<p>${relations[relation] ?? ""}${relation === "transitive" && path.length > 0 ? markup` ${steps}` : null}</p>`;
}
