/** Limits of HTTP bodies and JSON that all APIs share. Each value has its row in docs/limits.md. */

// Bodies
export const jsonDepthMax = 64;
export const jsonValuesMax = 200_000;
/** Of one object: many make it slow to parse, to look through and to write again. */
export const jsonFieldsMax = 5_000;
/** Of a call of the tools API or the control API, which have a few fields. */
export const callJsonValuesMax = 10_000;
/** A refused body is read on for this long where the answer would be lost otherwise. */
export const refusedBodyMsMax = 5_000;
/** A body of this declared length is left to the server, which reads it after the answer. */
export const refusedBodySmallBytes = 1024 * 1024;
/** A sender that sends nothing for so long has its answer, if it does not ask to be closed. */
export const refusedBodyIdleMs = 1_000;

// Quotas: bodies in transfer
/** Documents, attachments, and large bodies that are refused: as fast as all of a process are read together. */
export const largeBodiesBytesPerSecond = 32 * 1024 * 1024;

// Tools API, from the specification
export const listRowsMax = 200;
