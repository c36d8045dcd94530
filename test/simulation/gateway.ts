/** A gateway without HTTP. From the checked request to the last line of the answer it runs the real code. */
import { AdmissionClient } from "../../src/gateway/admission/client.ts";
import type { Settlement } from "../../src/gateway/journal/settlement.ts";
import { GenerationJournal } from "../../src/gateway/journal/journal.ts";
import { adoptOrphanedSpoolsUntilStopped } from "../../src/gateway/journal/orphaned-spools.ts";
import type { CheckedChat } from "../../src/gateway/api/request/chat-request.ts";
import type { CheckedEmbedding } from "../../src/gateway/api/request/embedding.ts";
import type { Claim } from "../../src/gateway/field-parts.ts";
import { UnpaidWork } from "../../src/gateway/api/call/charged-usage.ts";
import { DrainLimit } from "../../src/gateway/api/answer/drains.ts";
import type { Gateway } from "../../src/gateway/api/gateway.ts";
import { chatFormat, completionFormat } from "../../src/gateway/api/answer/answer-format.ts";
import { embedAdmitted } from "../../src/gateway/api/embeddings.ts";
import { generate } from "../../src/gateway/api/generate.ts";
import { admissionFacts, planRoute } from "../../src/gateway/api/call/route-plan.ts";
import { isRoutingOn } from "../../src/gateway/api/request/requested-model.ts";
import { webStream } from "../../src/gateway/api/answer/response.ts";
import { tokenCountLimits } from "../../src/gateway/api/count-tokens.ts";
import { InFlightRequests } from "../../src/gateway/api/in-flight-requests.ts";
import { UncountedPrompts } from "../../src/gateway/api/uncounted-prompts.ts";
import { RouteCoolDown, RouteSpeeds } from "../../src/gateway/models/route-health.ts";
import { OpenedKeys } from "../../src/gateway/own-keys/sealed-key.ts";
import { GatewayError } from "../../src/kernel/errors.ts";
import { silentLog } from "../../src/kernel/log.ts";
import type { ModelsView } from "../../src/gateway/admission/decide.ts";
import type { Admission, Caller } from "../../src/gateway/admission/message.ts";
import { agentFormat, type AgentApi } from "./variants/agents.ts";
import { Provider } from "./world/provider.ts";
import { unpaidMax } from "./variants/timeouts.ts";
import type { Chance } from "./chance.ts";
import { recordsMax, type Plan } from "./plan.ts";
import type { CountersServer } from "./world/counters-server.ts";
import type { Disk } from "./world/disk.ts";
import type { Folders } from "./world/folders.ts";
import type { Host } from "./world/host.ts";
import type { Network } from "./world/network.ts";
import type { Recorder } from "./recorder.ts";
import type { Secrets } from "./secrets.ts";

interface GatewayParts {
  host: Host;
  network: Network;
  counters: Pick<CountersServer, "now">;
  disk: Disk;
  folders: Folders;
  models: ModelsView;
  chance: Chance;
  recorder: Recorder;
  secrets: Secrets;
  plan: Pick<Plan, "timeouts">;
  onOtherPayer(host: Host): void;
}

export type SimRequest = CheckedChat | CheckedEmbedding;

interface Sent {
  hash: string;
  request: SimRequest;
  /** Absent: chat completions, completions or embeddings. */
  api?: AgentApi;
  clientSignal: AbortSignal;
  invocation: string;
  claim: Claim | null;
}

interface Answering {
  caller: Caller;
  api?: AgentApi;
  clientSignal: AbortSignal;
  invocation: string;
  claim: Claim | null;
}

export class SimGateway {
  readonly host: Host;
  /** Generations with open answers at this gateway, by invocation. */
  readonly open = new Map<string, string>();
  /** All generations that this gateway admitted. */
  readonly #generations = new Set<string>();
  readonly folder: string;
  readonly #gateway: Gateway;
  readonly #recorder: Recorder;

  /** Builds the gateway as `src/server/front.ts` and `src/server/distributed.ts` do. */
  constructor({ host, network, counters, disk, folders, models, chance, recorder, secrets, plan, onOtherPayer }: GatewayParts) {
    this.host = host;
    this.#recorder = recorder;
    const bus = network.busOf(host);
    const { clock } = host;
    const log = silentLog;
    this.folder = folders.takeNumbered(host);
    const journal = new GenerationJournal({ bus, clock, log, folder: `${this.folder}/spool`, files: disk });
    const admission = new AdmissionClient({ bus, clock, log, journal, models, recordsMax });
    admission.takeOver(journal.recover());
    const openedKeys = new OpenedKeys({ keyring: secrets.keyring, clock, log });
    const openOwnKey = openedKeys.open.bind(openedKeys);
    const name = `${this.folder} since ${clock.monotonic()}`;
    const world = { host, chance, recorder, timeouts: plan.timeouts, gateway: name };
    const countersNow = () => counters.now();
    const { call, embed } = new Provider({ ...world, countersNow, openOwnKey, onOtherPayer: () => onOtherPayer(host) });
    const takeOver = admission.takeOver.bind(admission);
    const lockFolder = async (path: string) => folders.takeIfFree(path, host);
    const orphans = { bus, clock, log, dataDir: folders.dataDir, lockFolder, files: disk, takeOver, blocks: admission.blocks };
    void adoptOrphanedSpoolsUntilStopped(orphans, new AbortController().signal);
    this.#gateway = gatewayOf({ admission, journal, models, call, embed, clock, log });
  }

  get unsettled(): number {
    return this.#gateway.journal.unsettled;
  }

  /** Whether its spool takes lines, and so has every settlement, as its readiness says too. */
  get isSpooling(): boolean {
    return this.#gateway.journal.accepting();
  }

  /**
   * Whether an answer that ended here, or at its predecessor, is not among `charges` yet. One whose hold expired meanwhile is: its
   * settlement comes late.
   */
  owes(charges: ReadonlyMap<string, { settlement: Pick<Settlement, "outcome"> }>): boolean {
    const open = new Set(this.open.values());
    if (this.unsettled > open.size) return true;
    const isBooked = (generation: string) => (charges.get(generation)?.settlement.outcome ?? "expired") !== "expired";
    return [...this.#generations].some((generation) => !open.has(generation) && !isBooked(generation));
  }

  get unknownAdmissions(): number {
    return this.#gateway.admission.releases.size;
  }

  refresh(workspace: string): void {
    void this.#gateway.admission.refresh(workspace);
  }

  /**
   * Runs checks 1 and 3 to 5, and answers.
   * @throws GatewayError
   */
  async answer({ hash, request, ...rest }: Sent): Promise<Response> {
    const caller = await this.#gateway.admission.authenticate(hash);
    if (caller === null) throw new GatewayError("invalid_api_key");
    if (!caller.record.enabled) throw new GatewayError("gateway_disabled");
    const answering = { ...rest, caller };
    return "inputs" in request ? this.#embed(request, answering) : this.#chat(request, answering);
  }

  async #chat(chat: CheckedChat, { caller, api, clientSignal, invocation, claim }: Answering): Promise<Response> {
    const { admission, models } = this.#gateway;
    const plan = isRoutingOn(caller.record) ? planRoute(chat, { caller, models, measure: () => null }) : null;
    const facts = { ...admissionFacts(chat, plan), ...(claim && { claim }) };
    const admitted = this.#admitted(await admission.admit(caller, facts), invocation);
    const plain = chat.inputTokens % 3 === 0 ? completionFormat : chatFormat;
    const format = api ? agentFormat(api, chat.requested) : plain;
    const accepted = { clientSignal, trace: null, createStream: webStream, caller, chat, format, plan, admitted };
    return this.#orReleased(admitted, generate(accepted, this.#gateway));
  }

  async #embed(embedding: CheckedEmbedding, { caller, clientSignal, invocation, claim }: Answering): Promise<Response> {
    const facts = { ...embedding, ...(claim && { claim }) };
    const admitted = this.#admitted(await this.#gateway.admission.admit(caller, facts), invocation);
    const accepted = { clientSignal, trace: null, caller, embedding, admitted, memory: new DisposableStack() };
    return this.#orReleased(admitted, embedAdmitted(accepted, this.#gateway));
  }

  #admitted(admission: Admission, invocation: string): Admission {
    const { generation, workspace, key, month, amount, admittedAt, block, claim } = admission.reservation;
    const rare = { ...(block !== undefined && { block }), ...(claim && { claim: claim.id }) };
    this.#recorder.note({ kind: "admitted", generation, workspace, key, month, amount, admittedAt, invocation, ...rare });
    this.open.set(invocation, generation);
    this.#generations.add(generation);
    return admission;
  }

  async #orReleased({ reservation: { generation } }: Admission, answer: Promise<Response>): Promise<Response> {
    try {
      return await answer;
    } catch (error) {
      this.#recorder.note({ kind: "released", generation });
      throw error;
    }
  }
}

const nothing = (): void => {};

/** The parts of a gateway that a generation uses. The rest concerns HTTP, catalog files and stored prompts. */
function gatewayOf(
  parts: Pick<Gateway, "admission" | "journal" | "call" | "embed" | "clock" | "log"> & { models: ModelsView },
): Gateway {
  const health: Pick<Gateway["health"], "recordAnswer" | "recordFailure" | "measure"> = {
    recordAnswer: nothing,
    recordFailure: nothing,
    measure: () => null,
  };
  const speeds = new RouteSpeeds();
  const coolDown = new RouteCoolDown(parts.clock);
  const whole = {
    ...parts,
    health,
    speeds,
    coolDown,
    prompts: { add: nothing },
    ownKeys: { accepted: nothing, refused: nothing },
    serviceKeys: { accepted: nothing, refused: nothing },
    inFlight: new InFlightRequests(),
    tokenCounts: tokenCountLimits(parts.clock),
    drainLimit: new DrainLimit(),
    uncountedPrompts: new UncountedPrompts(parts.clock),
    unpaid: new UnpaidWork(parts.clock, unpaidMax),
    keyPrefix: "",
  };
  return whole as unknown as Gateway;
}
