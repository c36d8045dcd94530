import { Notes, type Finding } from "../evidence.ts";
import type { Admitted, Charged, History } from "../history.ts";
import { settingOf, type SettingHistory } from "../setting-history.ts";

/**
 * I-11: each admission could be charged in full without exceeding the monthly limit of its key or workspace, as the limit was at some
 * moment of the last half minute, for which readers may cache it. The only exceptions are late charges and counts above the bound.
 */
export function monthLimits(history: History, delayMsMax: number): Finding {
  const notes = new Notes();
  const limits = new Map<string, SettingHistory<bigint | null>>();
  const months = new Map<string, Month>();
  const open = new Map<string, Admitted>();
  const closed = new Set<string>();
  for (const event of history) {
    if (event.kind === "spend limit") settingOf(limits, event.key ?? event.workspace).set(event.at, event.limit);
    if (event.kind === "restored") for (const lost of event.lost) if (lost.kind === "charged") lose(lost, months);
    if (event.kind === "released") closeHold(event.generation, open, months);
    if (event.kind === "charged") {
      closed.add(event.generation);
      closeHold(event.generation, open, months);
      for (const who of [event.key, event.workspace]) monthAt(months, who, event.month).charge(event);
    }
    if (event.kind !== "admitted" || closed.has(event.generation)) continue;
    open.set(event.generation, event);
    for (const who of [event.key, event.workspace]) {
      const month = monthAt(months, who, event.month);
      month.held += event.amount;
      const allowed = limits.get(who)?.at(event.at, delayMsMax) ?? [];
      if (allowed.length === 0 || allowed.includes(null)) continue;
      notes.check(
        allowed.some((limit) => limit !== null && month.spent + month.held - month.excepted <= limit),
        () =>
          `${event.generation}: admitted at ${event.at}, ${who} spent ${month.spent} and holds ${month.held}, with a limit of ${allowed.join(" or ")}`,
      );
    }
  }
  return notes;
}

class Month {
  spent = 0n;
  held = 0n;
  excepted = 0n;

  charge({ cost, reserved, late }: { cost: bigint; reserved: bigint; late: boolean }): void {
    this.spent += cost;
    if (late) this.excepted += cost;
    else if (cost > reserved) this.excepted += cost - reserved;
  }
}

/** It may be booked again. Its hold is released. */
function lose(lost: Charged, months: Map<string, Month>): void {
  for (const who of [lost.key, lost.workspace]) monthAt(months, who, lost.month).spent -= lost.cost;
}

function monthAt(months: Map<string, Month>, who: string, name: string): Month {
  const month = months.get(`${who} ${name}`) ?? new Month();
  months.set(`${who} ${name}`, month);
  return month;
}

function closeHold(generation: string, open: Map<string, Admitted>, months: Map<string, Month>): void {
  const hold = open.get(generation);
  if (!hold) return;
  open.delete(generation);
  for (const who of [hold.key, hold.workspace]) monthAt(months, who, hold.month).held -= hold.amount;
}
