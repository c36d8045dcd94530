import type { BodyDoor } from "../../accounts/quotas/body-door.ts";
import { networkLane } from "../../accounts/quotas/lane.ts";
import { networkOf } from "../../accounts/sessions/tries.ts";
import { receiveForm, type ReceivedForm } from "../form.ts";
import { signInFormBytesMax } from "../limits.ts";
import type { Viewer } from "../viewer.ts";

export interface SignInCall {
  request: Request;
  /** Below /console. */
  path: string;
  query: URLSearchParams;
  /** Of the connection's other end; null: unknown. */
  address: string | null;
  viewer: Viewer | null;
  /** For the form that the request brings. */
  door: BodyDoor;
}

/** The form for the operator token says so in its address, and is checked for nothing else. */
export const operatorFormPath = "/console/sign-in?as=operator";

export function isForOperator({ query }: Pick<SignInCall, "query">): boolean {
  return query.get("as") === "operator";
}

/**
 * The form of a browser of which only the network is known. Tokens have a lane beside the passwords of their network: they are compared at
 * once, so that a flood of them is over at once, and one of passwords keeps no operator out.
 * @throws what `receiveForm` throws
 */
export function receiveSignInForm(call: SignInCall): Promise<ReceivedForm> {
  const network = networkOf(call.address);
  const lane = networkLane(isForOperator(call) ? `${network} for the operator` : network);
  return receiveForm(call.request, { door: call.door, lane, bytesMax: signInFormBytesMax });
}
