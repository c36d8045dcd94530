import type { BodyDoor } from "../../accounts/quotas/body-door.ts";
import { networkLane } from "../../accounts/quotas/lane.ts";
import { networkOf } from "../../accounts/sessions/sign-in-tries.ts";
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

/** The form of a browser of which only the network is known. @throws what `receiveForm` throws */
export function receiveSignInForm({ request, address, door }: SignInCall): Promise<ReceivedForm> {
  return receiveForm(request, { door, lane: networkLane(networkOf(address)), bytesMax: signInFormBytesMax });
}
