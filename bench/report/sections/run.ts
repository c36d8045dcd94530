/** The sections about the run: machine, time, bars and goals. */
import type { Facts } from "../facts.ts";
import { median } from "../../measure/median.ts";
import { rowsOf, verdictOf, type Row } from "../rows.ts";
import { shown, table } from "../table.ts";
import type { Section } from "./section.ts";

export function runSections(facts: Facts): Section[] {
  return [
    { name: "run", title: "The run", text: whereOf(facts), plots: [] },
    { name: "goals", title: "Bars and goals", text: goalsTable(rowsOf(facts)), plots: [] },
  ];
}

function whereOf({ at, command, commit, machine, versions, leftOut, invalid }: Facts): string {
  const load = machine.loadBefore.map((value) => value.toFixed(1)).join(", ");
  const programs = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const place = `${machine.cores} cores of ${machine.processor}, ${machine.memoryGiB} GiB, Linux ${machine.kernel}`;
  return [
    `\`${command}\` on ${at.slice(0, 10)} at ${at.slice(11, 16)} UTC, commit ${commit}, on ${place}. ${programs.join(", ")}.`,
    `Load of the machine before the run (1, 5, 15 minutes): ${load}.`,
    ...leftOut.map((line) => `${line}.`),
    ...(invalid.length > 0 ? [`**This run is invalid:** ${invalid.join("; ")}.`] : []),
  ].join("\n");
}

export function goalsTable(rows: Row[]): string {
  const lines = rows.map((row) => {
    const { what, bar, goal, unit, values } = row;
    const range = values.length > 1 ? ` (${shown(Math.min(...values))} to ${shown(Math.max(...values))})` : "";
    const reached = values.length === 0 ? "" : `${`${shown(median(values))} ${unit}`.trim()}${range}`;
    return [what, `${bar} ${unit}`.trim(), `${goal} ${unit}`.trim(), reached, verdictOf(row)];
  });
  return table(["what", "bar", "goal", "reached: median (least to most)", ""], lines);
}
