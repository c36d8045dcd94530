/** What travels on a shortcut: a head (length of the payload, number of the question, number of its sending), then the payload. */
const headBytes = 11;
const questionAt = 4;
const questionBytes = 6;
const sendingAt = 10;
const nothing = Buffer.alloc(0);

export interface Frame {
  /** Both as the asker counts; the answer bears them too. */
  question: number;
  sending: number;
  payload: Uint8Array;
}

export function encodeFrame({ question, sending, payload }: Frame): Uint8Array {
  const bytes = Buffer.allocUnsafe(headBytes + payload.length);
  bytes.writeUInt32BE(payload.length);
  bytes.writeUIntBE(question, questionAt, questionBytes);
  bytes.writeUInt8(sending, sendingAt);
  bytes.set(payload, headBytes);
  return bytes;
}

/** The frames that begin these bytes, and what is left of them. @throws RangeError on a length that nobody of ours sends */
export function cutFrames(bytes: Buffer, bytesMax: number): { frames: Frame[]; rest: Buffer } {
  const frames: Frame[] = [];
  let at = 0;
  while (bytes.length - at >= headBytes) {
    const length = bytes.readUInt32BE(at);
    if (length > bytesMax) throw new RangeError(`Cannot take a frame of ${length} bytes: at most ${bytesMax}`);
    const end = at + headBytes + length;
    if (bytes.length < end) break;
    frames.push({
      question: bytes.readUIntBE(at + questionAt, questionBytes),
      sending: bytes.readUInt8(at + sendingAt),
      payload: bytes.subarray(at + headBytes, end),
    });
    at = end;
  }
  return { frames, rest: at === bytes.length ? nothing : bytes.subarray(at) };
}
