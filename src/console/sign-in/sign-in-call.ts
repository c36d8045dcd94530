import type { Viewer } from "../viewer.ts";

export interface SignInCall {
  request: Request;
  /** Below /console. */
  path: string;
  query: URLSearchParams;
  /** Of the connection's other end; null: unknown. */
  address: string | null;
  viewer: Viewer | null;
}
