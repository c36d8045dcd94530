/** What needs attention on Home besides money: findings that have a fix, and connections that do not work. */
import type { ConnectionView } from "../../../connectors/connections/schema.ts";
import type { FindingPage } from "../../../security/findings/lists/search-findings.ts";
import { markup, type Html } from "../../../http/html.ts";
import { address } from "../../look/forms/address.ts";
import { table } from "../../look/table.ts";
import { userText } from "../../look/user-text.ts";
import type { PageCall } from "../../page.ts";
import { pageSection } from "../../page-section.ts";
import { attentionOf, connectionBadge } from "../connections/state.ts";
import { severityBadge } from "../security/severity.ts";

interface Attention {
  findings: FindingPage["data"];
  connections: ConnectionView[];
}

const findingsShown = 5;
const connectionsShown = 5;
/** Of a connection whose last test failed. */
const failed = 1;
/** Open findings that have a fix, the most severe first. */
const toFix = { status: "live", fixable: "true" };

export async function readAttention(call: PageCall): Promise<Attention> {
  const [{ data: findings }, { data: connections }] = await Promise.all([
    call.control<FindingPage>("GET", "/findings", { ...toFix, limit: String(findingsShown) }),
    call.control<{ data: ConnectionView[] }>("GET", "/connections"),
  ]);
  const broken = connections.filter((connection) => attentionOf(connection) <= failed);
  return {
    findings,
    connections: broken.toSorted((one, other) => attentionOf(one) - attentionOf(other)).slice(0, connectionsShown),
  };
}

export function attentionSections({ findings, connections }: Attention, call: PageCall): Html {
  return markup`${findings.length === 0 ? null : findingsSection(findings, call)}${connections.length === 0 ? null : connectionsSection(connections, call)}`;
}

function findingsSection(rows: Attention["findings"], call: PageCall): Html {
  const worst = table<Attention["findings"][number]>({
    caption: "The most severe open findings with a fix",
    columns: [
      {
        label: "Vulnerability",
        kind: "text",
        cell: ({ id, cve_id: cve }) => markup`<a href="${call.link(`/findings/${id}`)}">${userText(cve)}</a>`,
      },
      { label: "Severity", kind: "badge", cell: ({ severity, cvss_score: score }) => severityBadge(severity, score) },
      { label: "Component", kind: "text", cell: ({ component, component_version: version }) => `${component} ${version}`.trim() },
      { label: "Fixed in", kind: "text", cell: ({ fix_version: fix }) => fix },
    ],
    rows,
    empty: markup``,
  });
  const all = markup`<p><a href="${address(call.link("/findings"), toFix)}">All open findings with a fix</a></p>`;
  return pageSection("fixes", "Findings with a fix", markup`${worst}${all}`);
}

function connectionsSection(rows: readonly ConnectionView[], call: PageCall): Html {
  const broken = table<ConnectionView>({
    caption: "Connections whose last test failed",
    columns: [
      {
        label: "Vendor",
        kind: "text",
        cell: ({ id, connector }) => markup`<a href="${call.link(`/connections/${id}`)}">${userText(connector)}</a>`,
      },
      { label: "State", kind: "badge", cell: connectionBadge },
      { label: "What the test showed", kind: "text", cell: ({ last_test: test }) => test?.message ?? null },
    ],
    rows,
    empty: markup``,
  });
  return pageSection("connections", "Connections that need attention", broken);
}
