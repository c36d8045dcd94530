/** One request as its client saw it. Times are wall-clock milliseconds. */
export interface ClientCall {
  gateway: number;
  workspace: string;
  key: string;
  /** Of a customer that lacks nothing: nothing but a fault refuses it. */
  isPlenty: boolean;
  streamed: boolean;
  sentAt: number;
  /** When the head of the answer came; null: none did. */
  answeredAt: number | null;
  endedAt: number | null;
  /** 0: the connection broke before an answer. */
  status: number;
  /** Of the error, in the body or in the stream; null: none. */
  code: string | null;
  generation: string | null;
  /** The answer came whole: all of the body, or the stream with its last line. */
  whole: boolean;
  /** The client hung up or waited long enough. */
  left: boolean;
}
