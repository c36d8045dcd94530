/** The capacity model of one workspace, whose requests gateways mostly decide under blocks: its costs, its accuracy and what one Redis admits. */
import { checkedHotShapes } from "../parts/fleet.ts";
import type { Facts } from "../report/facts.ts";
import { shown, table } from "../report/table.ts";
import { measuredAt, total } from "./costs.ts";
import { capacityOf } from "./limits.ts";
import { predict } from "./model.ts";
import { compared, fit, shapeName, stagesTable, type Fitted } from "./report.ts";

/** A fleet whose gateways send more requests than one Redis admits if a worker is asked about each. */
const size = { gateways: 16, workers: 4, metering: 1, masters: 1, cores: 32 };

/** @returns empty when one workspace was not measured */
export function hotTexts(facts: Facts): string[] {
  const { hot } = facts.fleet ?? {};
  const fitted = hot ? fit({ ...facts, fleet: { measurements: hot } }) : null;
  if (!fitted) return [];
  const title =
    "With one workspace (_hot_), whose requests gateways mostly decide under [blocks](../../src/gateway/admission/block.ts):";
  return [title, stagesTable(fitted), checkTable(fitted), redisText(fitted)];
}

function checkTable({ model, fleet, cores }: Fitted): string {
  const lines = checkedHotShapes.flatMap((shape) => {
    const measured = measuredAt(shape, fleet);
    if (measured === null) return [];
    const predicted = predict({ shape, cores }, model);
    const redis = compared(predicted.costs["redis-server"] ?? Number.NaN, measured.costs["redis-server"] ?? Number.NaN);
    return [[shapeName(shape), ...redis, ...compared(total(predicted.costs), total(measured.costs))]];
  });
  const head = [
    "one workspace, not used for the model",
    "CPU µs of Redis a request predicted",
    "measured",
    "error",
    "of all processes predicted",
    "measured",
    "error",
  ];
  return table(head, lines);
}

/** What the model says, and what it would say if each request cost as much as at the dearest point that checks it. */
function redisText({ model, fleet }: Fitted): string {
  const checked = checkedHotShapes.map((shape) => measuredAt(shape, fleet)?.costs["redis-server"] ?? Number.NaN);
  const dearest = (model.busy * 1_000_000) / Math.max(...checked);
  const perSecond = capacityOf(size, model).limits.find(({ by }) => by === "Redis")?.perSecond ?? Number.NaN;
  return (
    `For ${size.gateways} gateways and ${size.workers} workers, one Redis admits ${shown(perSecond)} requests a second by this model, ` +
    `and ${shown(dearest)} at the dearest measured point.`
  );
}
