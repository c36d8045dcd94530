/**
 * Calls a provider: the only way from an admitted request to a model. It takes a `Reservation`, and refuses a call whose output bound or
 * generation is not the reserved one, so that no request costs more than was reserved. Only `countPrompt` needs none: it asks for no
 * answer, and for the count of a prompt providers charge nothing.
 * The key is put into the headers last, so that nothing else holds it: with an own key the service's key is never used. Redirects are never
 * followed, because they would send the key to an address that was not vetted. A failure carries our words and the provider's documented
 * codes, never its text.
 * Retries are not made here (api/call/dispatch.ts).
 */
import { longTexts, type LongTexts } from "../../http/long-texts.ts";
import type { Reservation } from "../credit/reservation.ts";
import type { Clock, StopSignal } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/errors.ts";
import { newGenerationId } from "../../kernel/ids.ts";
import type { OwnKey } from "../../accounts/keys/record.ts";
import type { Secret } from "../../kernel/secret.ts";
import { tokenCountMsMax, upstreamAnswerBytesMax, upstreamErrorBytesMax } from "../limits.ts";
import type { ProviderRecord, Route } from "../models/model.ts";
import { assembledAnswer, beginsEvents } from "./transport/other-forms.ts";
import { readBeginning, readWhole, UpstreamCall, type ProviderClocks } from "./transport/upstream-call.ts";
import { parseJson } from "./wire/json.ts";
import { withParallelToolCallsOff } from "./wire/answers.ts";
import {
  asUpstreamFailure,
  UpstreamFailure,
  type EncodedCall,
  type ProviderAnswer,
  type ProviderCall,
  type WholeAnswer,
  type WireFormat,
} from "./provider.ts";
import { wireFormats } from "./registry.ts";
import { ProviderStream } from "./transport/stream.ts";
import type { Post } from "./transport/transport.ts";

export interface CallContext {
  clock: Clock;
  clocks: ProviderClocks;
  /** Returns the service's key for a provider. */
  providerKey(provider: ProviderRecord): Secret | null;
  /**
   * Opens the workspace's own key of a route. Absent: routes have none.
   * @throws GatewayError when it cannot be read
   */
  openOwnKey?: ((key: OwnKey) => Secret) | undefined;
  /** Aborts the call until it is answered. An open stream is ended by its own `cancel`. */
  givenUp?: StopSignal | undefined;
  /**
   * Called before the request is sent on a new connection, or as it is sent on one that was kept: from then on the provider may bill it.
   */
  onSent?: (() => void) | undefined;
  /** Monotonic start of the generation, so that a second attempt shares the total timeout. Default: now. */
  startedAt?: number | undefined;
}

/** The parts of one call. */
export type CallOptions = Pick<CallContext, "givenUp" | "onSent" | "startedAt">;

/** The parts that all calls of a process share. */
export type SharedContext = Omit<CallContext, keyof CallOptions>;

/** `callProvider` with everything but the call bound. */
export type CallProvider = (reservation: Reservation, call: ProviderCall, options?: CallOptions) => Promise<ProviderAnswer>;

export function providerCalls(shared: SharedContext): CallProvider {
  return (reservation, call, options) => callProvider(reservation, call, { ...shared, ...options });
}

/**
 * Posts the call to its route's provider and waits for the answer, or for the head of its stream.
 * @throws UpstreamFailure when there is no usable answer; a failure within a stream is an event of the stream
 * @throws RangeError when the call exceeds its reservation
 */
export function callProvider(reservation: Reservation, call: ProviderCall, context: CallContext): Promise<ProviderAnswer> {
  return withUpstream(context, (upstream) => {
    requireReserved(reservation, call);
    return answerOf(call, upstream, context);
  });
}

/** Runs a call that `givenUp` aborts until it is answered, and closes it if it fails. */
export async function withUpstream<Answer>(
  { clock, clocks, givenUp, startedAt }: CallContext,
  answer: (upstream: UpstreamCall) => Promise<Answer>,
): Promise<Answer> {
  const upstream = new UpstreamCall({ clock, clocks, startedAt: startedAt ?? clock.monotonic() });
  givenUp?.listen(() => upstream.end(new UpstreamFailure("upstream_error", "the call was given up")));
  try {
    return await answer(upstream);
  } catch (error) {
    upstream.close();
    throw error;
  } finally {
    givenUp?.listen(null);
  }
}

/** Asks the provider of a route how many tokens a prompt has. @returns null: its API has no count, or did not give one in time */
export type CountPrompt = (prompt: Pick<ProviderCall, "chat" | "route">) => Promise<number | null>;

export function promptCounts(shared: SharedContext): CountPrompt {
  return (prompt) => countPrompt(prompt, shared);
}

/** No failure is thrown: the caller has an estimate. Nothing is learnt from one either, since answers may come from other servers. */
async function countPrompt({ chat, route }: Parameters<CountPrompt>[0], shared: SharedContext): Promise<number | null> {
  const { format } = wireFormats[route.format];
  const { count } = format;
  if (count === undefined) return null;
  const context = { ...shared, clocks: { ...shared.clocks, streamMs: tokenCountMsMax } };
  const generation = newGenerationId(shared.clock.now());
  const call: ProviderCall = { generation, route, chat, maxOutputTokens: Number.MAX_SAFE_INTEGER, streamed: false };
  const { baseUrl } = route.provider;
  try {
    return await withUpstream(context, async (upstream) => {
      const once = { route, streamed: false, second: undefined, onResent: undefined };
      await postEncoded({ ...once, format, baseUrl, encoded: count.encode(call), texts: chat[longTexts] }, upstream, context);
      return count.decode(await readJson(upstream, upstreamErrorBytesMax));
    });
  } catch (error) {
    if (error instanceof UpstreamFailure || error instanceof GatewayError) return null;
    throw error;
  }
}

interface EncodedPost extends Pick<ProviderCall, "route" | "streamed"> {
  second: boolean | undefined;
  onResent: (() => void) | undefined;
  encoded: EncodedCall;
  /** Of which the body has placeholders. Absent: it has none. */
  texts?: LongTexts | undefined;
  baseUrl: string;
  /** Has the provider's authorization and errors. */
  format: WireFormat;
}

/** Posts with our key, and waits for the head of an answer. @throws UpstreamFailure for a response whose status is not 200 */
export async function postEncoded(call: EncodedPost, upstream: UpstreamCall, context: CallContext): Promise<void> {
  const { route, format, streamed, encoded, texts, baseUrl, second: fresh = false, onResent } = call;
  const accept: Post["accept"] = streamed ? "text/event-stream" : "application/json";
  const body = texts?.inserted(encoded.body) ?? encoded.body;
  const post = { accept, headers: { ...encoded.headers, ...keyHeaders(route, format, context) }, body };
  const transport = wireFormats[route.format].transport(context.clock);
  const url = urlOf(route.provider, baseUrl + encoded.path);
  const { status } = await upstream.post(transport, url, post, { fresh, onSent: context.onSent, onResent });
  if (status !== 200) throw await refusal(status, upstream, format);
}

/**
 * The key that a route is called with; null: the provider takes none.
 * @throws UpstreamFailure when there is none; GatewayError when the own key cannot be read
 */
export function credentialOf(
  { provider, ownKey }: Route,
  { openOwnKey, providerKey }: Pick<CallContext, "openOwnKey" | "providerKey">,
): Secret | null {
  if (provider.keyEnv === null) return null;
  const key = ownKey ? (openOwnKey?.(ownKey) ?? null) : providerKey(provider);
  if (key === null) throw new UpstreamFailure("upstream_auth", `there is no key for ${provider.id}`);
  return key;
}

/** @throws UpstreamFailure when the body is too large, late, incomplete or not JSON */
export async function readJson(upstream: UpstreamCall, bytesMax: number): Promise<unknown> {
  const text = await readWhole(upstream, bytesMax);
  upstream.finished();
  return parsed(text);
}

function requireReserved(reservation: Reservation, call: ProviderCall): void {
  if (reservation.generation !== call.generation || call.maxOutputTokens > reservation.maxOutputTokens) {
    throw new RangeError(
      `Cannot call a provider for ${call.generation}: the reservation of ${reservation.generation} does not cover it`,
    );
  }
}

async function answerOf(call: ProviderCall, upstream: UpstreamCall, context: CallContext): Promise<ProviderAnswer> {
  const { route, streamed, second, onResent } = call;
  const entry = wireFormats[route.format];
  if (!entry) throw new UpstreamFailure("upstream_error", `the format ${route.format} is not supported`);
  const format = withParallelToolCallsOff(entry.format, call.chat);
  const { baseUrl } = route.provider;
  const post = { route, streamed, second, onResent, format, baseUrl, encoded: format.encode(call), texts: call.chat[longTexts] };
  await postEncoded(post, upstream, context);
  if (streamed) {
    const events = new ProviderStream({ upstream, format, route, wants: call.wants, clock: context.clock });
    return { kind: "stream", events };
  }
  const text = await readWhole(upstream, upstreamAnswerBytesMax);
  upstream.finished();
  return { kind: "whole", answer: await decoded(text, format, call) };
}

function keyHeaders(route: Route, format: WireFormat, context: CallContext): Record<string, string> {
  const key = credentialOf(route, context);
  return key === null ? {} : format.authorization(key.reveal());
}

/** URLs by provider and address, built once. The catalog bounds their number. */
const urls = new WeakMap<ProviderRecord, Map<string, URL>>();

function urlOf(provider: ProviderRecord, address: string): URL {
  const made = urls.get(provider) ?? new Map<string, URL>();
  const known = made.get(address);
  if (known) return known;
  const url = new URL(address);
  urls.set(provider, made.set(address, url));
  return url;
}

/** Redirects are never followed: they would send our key to an address that was not vetted. */
async function refusal(status: number, upstream: UpstreamCall, format: WireFormat): Promise<UpstreamFailure> {
  const body = await readBeginning(upstream, upstreamErrorBytesMax);
  return status < 400 ? new UpstreamFailure("upstream_error", `status ${status}`) : format.classify(status, body);
}

/** @throws UpstreamFailure when the body holds no usable answer */
async function decoded(text: string, format: WireFormat, { route, wants }: ProviderCall): Promise<WholeAnswer> {
  try {
    if (beginsEvents(text)) return await assembledAnswer(text, format.streamDecoder(route, wants), wants);
    return format.decodeAnswer(parsed(text), route, wants);
  } catch (error) {
    throw asUpstreamFailure(error);
  }
}

function parsed(text: string): unknown {
  const body = parseJson(text);
  if (body === undefined)
    throw new UpstreamFailure("upstream_error", text === "" ? "the answer is empty" : "the answer is not JSON");
  return body;
}
