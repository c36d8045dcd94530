/** The section about a coding agent's request, on each API. */
import { agentConnections, agentWeir, type AgentRun } from "../../parts/agent.ts";
import { agentApis, type AgentApi } from "../../load/agent-body.ts";
import { median } from "../../measure/median.ts";
import type { Measurement } from "../../measure/measure.ts";
import { barsSvg } from "../plots/bars.ts";
import { agentMeasurements, agentRates, costAt, firstEventMs, sweepsOf } from "../rows.ts";
import { shown, table } from "../table.ts";
import { ownCostsOf, totalOf } from "./costs.ts";
import type { Plot, Section } from "./section.ts";

/** The provider without a gateway has neither processes nor a part in the plot. */
const direct = "direct";
export const apiNames: Record<AgentApi, string> = { chat: "chat completions", messages: "Messages", responses: "Responses" };

export function agentSections(run: AgentRun): Section[] {
  const measured = agentApis.map((api) => ({ api, all: agentMeasurements(run, api) })).filter(({ all }) => all.length > 0);
  const head = [
    "API",
    "contender",
    `requests/s at ${agentConnections.ceiling}`,
    `÷ ${agentWeir}: median (least to most)`,
    "first event at 1, ms: p50 / p99",
    "added p50",
    "CPU ms a request",
    "failed",
  ];
  const text = table(
    head,
    measured.flatMap(({ api, all }) => namesIn(all).map((name) => lineOf(api, name, all))),
  );
  return [{ name: "agent", title: "An agent's request", text, plots: [plot(measured)] }];
}

function namesIn(all: readonly Measurement[]): string[] {
  return [...new Set(all.map(({ contender }) => contender))];
}

function lineOf(api: AgentApi, name: string, all: Measurement[]): string[] {
  const load = `${agentConnections.ceiling} connections`;
  const own = all.filter(({ contender }) => contender === name);
  const alone = own.filter((one) => one.load === `${agentConnections.alone} connections`);
  const summaries = alone.map(({ result }) => result.firstEventMs);
  const middle = (which: "p50" | "p99"): number => median(summaries.map((summary) => summary?.[which] ?? Number.NaN));
  const added = median(sweepsOf(all).map((sweep) => firstEventMs(sweep, name) - firstEventMs(sweep, direct)));
  const cost = costAt(all, name, load);
  const ratios = agentRates(all, name, agentWeir);
  return [
    apiNames[api],
    name,
    shown(median(own.filter((one) => one.load === load).map(({ result }) => result.perSecond))),
    name === agentWeir ? "" : `${shown(median(ratios))} (${shown(Math.min(...ratios))} to ${shown(Math.max(...ratios))})`,
    `${shown(middle("p50"))} / ${shown(middle("p99"))}`,
    name === direct ? "" : shown(added),
    name === direct || cost === null ? "" : shown(totalOf(ownCostsOf(cost)) / 1_000),
    String(own.reduce((sum, { result }) => sum + result.failedInAll, 0)),
  ];
}

function plot(measured: readonly { api: AgentApi; all: Measurement[] }[]): Plot {
  const load = `${agentConnections.ceiling} connections`;
  const panels = measured.map(({ api, all }) => {
    const bars = namesIn(all)
      .filter((name) => name !== direct)
      .map((name) => {
        const rates = all.filter((one) => one.contender === name && one.load === load).map(({ result }) => result.perSecond);
        return { name, parts: [{ name: "requests/s", value: median(rates) }] };
      });
    return { name: apiNames[api], bars };
  });
  const title = `An agent's requests a second, ${agentConnections.ceiling} connections`;
  const svg = barsSvg({ title, axis: "requests a second, median of the sweeps", panels });
  return { name: "agent", svg, alt: "An agent's requests a second on chat completions, Messages and Responses, by contender" };
}
