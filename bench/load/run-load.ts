/** Open and closed loops over one target. */
import { Connection, type ResponseHandler, type Outcome } from "./connection.ts";
import type { Target } from "./target.ts";
import { Tally, type Result } from "./tally.ts";

export interface LoadPlan {
  target: Target;
  /** closed: so many connections, each with one request at a time. open: so many requests a second, independent of the answers. */
  loop:
    { kind: "closed"; connections: number; rampSeconds: number } | { kind: "open"; perSecond: number; connectionsMax: number };
  warmUpSeconds: number;
  seconds: number;
  /** A request that takes longer fails. */
  timeoutSeconds: number;
  /** Called once a second. */
  progress(line: string): void;
  /** Ends the load early. */
  stop: AbortSignal;
}

const tickMs = 1;
const timerStepMs = 1_000;

/** Resolves when every request has ended, or was aborted at its timeout. */
export async function runLoad(plan: LoadPlan): Promise<Result> {
  const run = new LoadRun(plan);
  return run.finished;
}

class LoadRun {
  readonly finished: Promise<Result>;
  readonly #plan: LoadPlan;
  readonly #tally = new Tally();
  readonly #connections: Connection[] = [];
  readonly #free: Connection[] = [];
  /** Intended times of requests that wait for a connection. */
  readonly #waiting: number[] = [];
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  readonly #startedAt = performance.now();
  readonly #measuredFrom: number;
  readonly #endsAt: number;
  #resolve: (result: Result) => void = () => {};
  #sent = 0;
  #underWay = 0;
  #underWayMax = 0;
  #endedInAll = 0;
  #failedInAll = 0;
  /** The number of ended requests at the last progress line. */
  #endedAtLook = 0;
  #lastEndedAt = 0;
  #stopped = false;
  /** When sending stopped: at the planned end, or earlier at the `stop` signal. */
  #stoppedAt: number;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#measuredFrom = this.#startedAt + plan.warmUpSeconds * 1_000;
    this.#endsAt = this.#measuredFrom + plan.seconds * 1_000;
    this.#stoppedAt = this.#endsAt;
    this.finished = new Promise((resolve) => (this.#resolve = resolve));
    this.#timers.push(setInterval(() => this.#look(), timerStepMs));
    plan.stop.addEventListener("abort", () => this.#stop());
    setTimeout(() => this.#stop(), this.#endsAt - this.#startedAt);
    if (plan.loop.kind === "open") this.#timers.push(setInterval(() => this.#sendDue(), tickMs));
    else this.#openAll(plan.loop);
  }

  /** Opens connections evenly over the ramp, since streams that begin together would have all events at the same moments. */
  #openAll({ connections, rampSeconds }: { connections: number; rampSeconds: number }): void {
    for (let n = 0; n < connections; n++) {
      const open = () => this.#nextUnlessStopped(this.#connect());
      if (rampSeconds === 0) open();
      else setTimeout(open, (n * rampSeconds * 1_000) / connections);
    }
  }

  #connect(): Connection {
    const connection = new Connection(this.#plan.target);
    this.#connections.push(connection);
    return connection;
  }

  #next(connection: Connection): void {
    this.#send(connection, performance.now());
  }

  /** Sends all requests that are due by now. */
  #sendDue(): void {
    const { loop } = this.#plan;
    if (loop.kind !== "open") return;
    // None is due at the end itself, however the times are rounded.
    const before = Math.min(performance.now(), this.#endsAt - 0.001);
    for (let due = this.#dueAt(loop.perSecond); due <= before && !this.#stopped; due = this.#dueAt(loop.perSecond)) {
      this.#sent++;
      const connection = this.#free.pop() ?? (this.#connections.length < loop.connectionsMax ? this.#connect() : null);
      if (connection === null) this.#waiting.push(due);
      else this.#send(connection, due);
    }
  }

  #dueAt(perSecond: number): number {
    return this.#startedAt + (this.#sent * 1_000) / perSecond;
  }

  #send(connection: Connection, intendedAt: number): void {
    const { target, loop } = this.#plan;
    if (loop.kind === "open" && intendedAt >= this.#measuredFrom) this.#tally.sendLateness.add(performance.now() - intendedAt);
    this.#underWay++;
    this.#underWayMax = Math.max(this.#underWayMax, this.#underWay);
    const number = loop.kind === "closed" ? this.#sent++ : this.#endedInAll + this.#underWay;
    connection.send(target.request(number), this.#handler(connection, intendedAt));
  }

  #handler(connection: Connection, intendedAt: number): ResponseHandler {
    const tally = this.#tally;
    let last = -1;
    return {
      event: (at, latenessMs) => {
        if (last === -1) tally.firstEvent.add(at - intendedAt);
        if (at >= this.#measuredFrom && at <= this.#stoppedAt) {
          tally.events++;
          if (last !== -1) tally.gap.add(at - last);
          if (latenessMs !== null) tally.eventLateness.add(latenessMs);
        }
        last = at;
      },
      ended: (outcome) => this.#ended(connection, intendedAt, outcome),
    };
  }

  #ended(connection: Connection, intendedAt: number, outcome: Outcome): void {
    const open = this.#plan.loop.kind === "open";
    this.#underWay--;
    this.#endedInAll++;
    this.#lastEndedAt = outcome.endedAt;
    if (outcome.code !== null) this.#failedInAll++;
    // Open loop: counts requests that were due in the measured time. Closed loop: counts those that ended in it, so that the rate is exact.
    const counted = open
      ? intendedAt >= this.#measuredFrom
      : outcome.endedAt >= this.#measuredFrom && outcome.endedAt <= this.#stoppedAt;
    if (counted || outcome.code !== null) this.#tally.count(outcome);
    if (counted && outcome.code === null) this.#tally.latency.add(outcome.endedAt - intendedAt);
    const due = this.#waiting.shift();
    if (due !== undefined) this.#send(connection, due);
    else if (this.#stopped) this.#finishWhenQuiet();
    else if (open) this.#free.push(connection);
    // A refused connection fails at once, so a pause avoids a busy loop.
    else if (outcome.status === 0) setTimeout(() => this.#nextUnlessStopped(connection), 10);
    else this.#next(connection);
  }

  #nextUnlessStopped(connection: Connection): void {
    if (!this.#stopped) this.#next(connection);
    else this.#finishWhenQuiet();
  }

  #look(): void {
    const now = performance.now();
    const { progress, timeoutSeconds } = this.#plan;
    for (const connection of this.#connections) {
      const since = connection.busySince;
      if (since !== null && now - since > timeoutSeconds * 1_000) connection.abort("timeout");
    }
    const perSecond = this.#endedInAll - this.#endedAtLook;
    this.#endedAtLook = this.#endedInAll;
    const phase = now < this.#measuredFrom ? "warming up" : this.#stopped ? "ending" : "measuring";
    const seconds = Math.round((now - this.#startedAt) / 1_000);
    const waiting = this.#underWay + this.#waiting.length;
    progress(`${seconds} s ${phase}: ${perSecond} answers/s, ${waiting} open, ${this.#failedInAll} failed`);
  }

  #stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#stoppedAt = Math.min(this.#endsAt, performance.now());
    this.#finishWhenQuiet();
  }

  #finishWhenQuiet(): void {
    if (this.#underWay > 0 || this.#waiting.length > 0) return;
    for (const timer of this.#timers) clearInterval(timer);
    for (const connection of this.#connections) connection.close();
    const { loop } = this.#plan;
    const mode =
      loop.kind === "closed" ? `closed loop, ${loop.connections} connections` : `open loop, ${loop.perSecond} requests/s`;
    const seconds = Math.max(0.001, (this.#stoppedAt - this.#measuredFrom) / 1_000);
    const counts = { underWayMax: this.#underWayMax, endedInAll: this.#endedInAll, failedInAll: this.#failedInAll };
    const lastEndedAt = Math.round(performance.timeOrigin + this.#lastEndedAt);
    this.#resolve(this.#tally.result({ mode, seconds, lastEndedAt, ...counts }));
  }
}
