/** Line drawings for the navigation, in the colour of the text beside them. */
import { markup, trusted, type Html } from "../../../http/html.ts";

/** On a square of 16. */
const drawings = {
  home: "M2.5 7.5 8 3l5.5 4.5V13h-4V9.5h-3V13h-4z",
  key: "M7 9a3 3 0 1 1 2.2-1L13.5 12.3V14H11v-1.5H9.5V11L8.2 9.7",
  models: "M8 2.5 13.5 5.5v5L8 13.5l-5.5-3v-5zM2.5 5.5 8 8.5l5.5-3M8 8.5v5",
  workbench: "M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2zM5 6h6M5 8h4",
  requests: "M2.5 4h11M2.5 8h11M2.5 12h7",
  spend: "M3 13.5v-4M8 13.5v-11M13 13.5v-7",
  members:
    "M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6zM2 13.5c0-2.5 1.8-4 4-4s4 1.5 4 4M10.5 3.2a2.2 2.2 0 0 1 0 4.1M11.5 9.7c1.6.4 2.5 1.8 2.5 3.8",
  settings:
    "M2.5 5h6M12 5h1.5M2.5 11H4M7.5 11h6M10.2 6.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM5.7 12.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4z",
  audit: "M4 2.5h6l2.5 2.5v8.5H4zM6 7h4.5M6 9.5h4.5M6 12h2",
  alerts: "M8 2.5A3.5 3.5 0 0 0 4.5 6c0 3.3-1.5 4.5-1.5 4.5h10S11.5 9.3 11.5 6A3.5 3.5 0 0 0 8 2.5zM6.5 12.5a1.5 1.5 0 0 0 3 0",
  provider: "M5 6V2.5M11 6V2.5M3.5 6h9v2a4.5 4.5 0 0 1-9 0zM8 12.5v1.5",
  findings: "M8 2 13 4v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM8 5.5V8.5M8 10.7v.3",
  projects: "M2.5 4h4l1.5 1.5h5.5V13h-11z",
  vulnerabilities:
    "M5.5 6a2.5 2.5 0 0 1 5 0M4.5 6.5h7v3a3.5 3.5 0 0 1-7 0zM8 6.5V13M4.5 9H2M14 9h-2.5M4.5 6.5 2.5 5M11.5 6.5l2-1.5M5 11.5 3 13M11 11.5l2 1.5",
  products: "M2.5 5 8 2.5 13.5 5 8 7.5zM2.5 8 8 10.5 13.5 8M2.5 11 8 13.5 13.5 11",
  ledger: "M3 2.5h10v11H3zM6 2.5v11M8 6h3M8 9h3",
  service: "M1.5 8.5h3l2-5 3 9 2-4h3",
  tickets: "M2.5 4.5h11V7a1 1 0 0 0 0 2v2.5h-11V9a1 1 0 0 0 0-2zM9.5 4.5v7",
  connections: "M6.5 9.5 9.5 6.5M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5 7.5 13A3 3 0 0 1 3 8.5L4.5 7",
  operator: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.1M5 11h.1",
} as const;

export type IconName = keyof typeof drawings;

export function icon(name: IconName): Html {
  return markup`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="${trusted(drawings[name])}" /></svg>`;
}
