/**
 * The state of the process that answers: its version, what it depends on, and its alarms. Each process of a fleet has its own; `weir
 * status` shows them together.
 */
import { serviceEndpoints } from "../../../control-api/endpoints/service.ts";
import { markup } from "../../../http/html.ts";
import { badge, facts, emptyState, section, table, time } from "../../look/parts.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";

export const servicePage: Page = {
  of: "operator",
  path: "/service",
  navigation: { section: "Operator", label: "Service", icon: "service" },
  roles: [],
  render,
};

async function render(call: PageCall): Promise<PageContent> {
  const { version, started_at: startedAt, dependencies, alarms } = await call.control(serviceEndpoints.show);
  const parts = Object.entries(dependencies).map(([name, state]) => ({ name, state }));
  const isReady = parts.every(({ state }) => state === "ok");
  return {
    title: "Service",
    badge: isReady ? badge("good", "ready") : badge("bad", "not ready"),
    lead: "The process that answered this page. In a fleet each process has its own state; its /metrics shows it too.",
    main: markup`${facts([
      ["Version", version],
      ["Started", time(startedAt)],
    ])}
    ${section(
      "parts",
      "What it depends on",
      table({
        caption: "What it depends on",
        columns: [
          { label: "Part", kind: "text", cell: ({ name }) => name },
          {
            label: "State",
            kind: "badge",
            cell: ({ state }) => (state === "ok" ? badge("good", "ok") : badge("bad", "unavailable")),
          },
          { label: "Problem", kind: "text", cell: ({ state }) => (state === "ok" ? null : state) },
        ],
        rows: parts,
        empty: markup``,
      }),
    )}
    ${section(
      "alarms",
      "Alarms since it started",
      table({
        caption: "Alarms since it started",
        columns: [
          { label: "Alarm", kind: "text", cell: ({ alarm }) => markup`<code>${alarm}</code>` },
          { label: "Raised", kind: "number", cell: ({ count }) => count },
        ],
        rows: alarms,
        empty: emptyState("No alarm was raised.", null),
      }),
    )}`,
  };
}
