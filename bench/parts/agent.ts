/**
 * Measures a coding agent's request on chat completions, Messages and Responses, beside every gateway here that takes it: 128 KiB, 60
 * messages, 20 tools, and a streamed answer of 300 events, which the provider sends at once. It speaks the same API as the client, so that a
 * bare proxy does the same work.
 */
import type { Contender, Subject } from "../contenders/contender.ts";
import type { Installation } from "../contenders/installation.ts";
import { findAllPeers, type Peers } from "../contenders/peers.ts";
import { bareProxies, direct } from "../contenders/provider.ts";
import { agentApis, type AgentApi } from "../load/agent-body.ts";
import type { Measurement } from "../measure/measure.ts";
import { openTestbed, type Testbed, type TestbedPlan } from "./testbed.ts";
import { startAll, type RunningInstallation, type Side } from "./side-by-side.ts";
import { sweepsPerRound, takeLoad, takeSweep, type Load } from "./sweep.ts";

export interface AgentPlan extends TestbedPlan {
  rounds: number;
  /** The measured time of each slice. */
  seconds: number;
}

export interface AgentRun extends Pick<Peers, "versions" | "leftOut"> {
  /** One for every slice. */
  measurements: { api: AgentApi; measurement: Measurement }[];
}

export const agentWeir = "Weir hot";
export const agentBodyBytes = 128 * 1_024;
/** Several connections show the requests a second, one shows the time to the first event. */
export const agentConnections = { ceiling: 32, alone: 1 };

export async function runAgent(plan: AgentPlan): Promise<AgentRun> {
  await using testbed = await openTestbed(plan);
  const { provider } = testbed;
  const { contenders, versions, leftOut } = await findAllPeers(testbed, plan.say);
  const all = [direct(provider), bareProxies(provider), ...contenders, testbed.weir("hot")];
  const unable = all.filter(({ agentModel }) => agentModel === undefined);
  const skipped = unable.map(
    ({ name }) => `${name} was not measured with an agent's request: its settings here do not have its model`,
  );
  const installations = all.filter((one) => !unable.includes(one)).map(installationOf);
  const found: AgentRun = { measurements: [], versions, leftOut: [...leftOut, ...skipped] };
  for (let round = 1; round <= plan.rounds; round++) await takeRound({ installations, testbed, round, plan, found });
  return found;
}

/** One set of processes, and a subject for each API. */
function installationOf({ name, warmUpSeconds, agentModel, start }: Contender): Installation {
  return {
    name,
    async start() {
      const { target, agentTarget, ...running } = await start();
      const subjects = agentApis.map((api) => {
        const subject: Subject = { name, warmUpSeconds, api, model: (upstream) => agentModel?.(api) ?? upstream };
        return { subject, target: agentTarget?.(api) ?? target };
      });
      return { ...running, subjects };
    },
  };
}

interface Round {
  installations: Installation[];
  testbed: Testbed;
  round: number;
  plan: AgentPlan;
  found: AgentRun;
}

async function takeRound({ installations, testbed, round, plan, found }: Round): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const started = await startAll(installations, stack);
  plan.say(`round ${round}/${plan.rounds} warming up ${started.map(({ name }) => name).join(", ")}`);
  for (const side of started.flatMap(({ sides }) => sides)) await warmUp(side);
  await testbed.quiet();
  for (let n = 1; n <= sweepsPerRound; n++) {
    for (const api of agentApis) {
      const take = async (_: RunningInstallation, side: Side, load: Load): Promise<void> => {
        const measurement = await takeLoad(side, load, { ...plan, provider: testbed.provider, round });
        found.measurements.push({ api, measurement });
      };
      const speaking = started.map((one) => ({ ...one, sides: one.sides.filter(({ subject }) => subject.api === api) }));
      const sweep = (round - 1) * sweepsPerRound + n;
      await takeSweep({ started: speaking, sweep, seconds: plan.seconds, loads: loadsOf(api), take });
    }
    await testbed.quiet();
  }
  if (round === plan.rounds) for (const { installed } of started) await installed.verify?.(plan.say);
}

/** Until connections are open, keys have been used, and the hot code is compiled. */
async function warmUp({ subject, running, generator }: Side): Promise<void> {
  const { api = "chat", warmUpSeconds } = subject;
  const time = ["--warm-up", "0", "--seconds", String(warmUpSeconds), "--connections", String(agentConnections.ceiling)];
  await generator.load([...running.target, "--model", subject.model(""), ...wordsOf(api), ...time]);
  await running.settled?.();
}

function loadsOf(api: AgentApi): Load[] {
  return Object.values(agentConnections).map((connections) => ({
    load: `${connections} connections`,
    words: [...wordsOf(api), "--connections", String(connections)],
  }));
}

function wordsOf(api: AgentApi): string[] {
  const version = api === "messages" ? ["--header", "anthropic-version: 2023-06-01"] : [];
  return ["--agent", api, "--stream", "--body", String(agentBodyBytes), "--max-tokens", "1024", ...version];
}
