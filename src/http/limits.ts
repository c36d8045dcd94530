/** The limits of HTTP bodies and JSON that all APIs share. */

// Bodies
/** Nesting of a body's JSON; beyond it 400. */
export const jsonDepthMax = 64;
/** Values in a body's JSON; beyond it 400. */
export const jsonValuesMax = 200_000;
/** Fields of one object: many make it slow to parse, to search and to write. */
export const jsonFieldsMax = 5_000;
/** Values in the body of a tools API or control API call, which needs few fields. */
export const callJsonValuesMax = 10_000;
/** The minimum rate of a body. */
export const bodyBytesPerSecondMin = 4 * 1024;
/** How far a body may be behind that rate; then 408 (400 in the tools API). */
export const bodyGraceMs = 5_000;
/** How long a refused body is read so that its answer is not lost. */
export const refusedBodyMsMax = 5_000;
/** Up to this declared length, the server reads the body after the answer. */
export const refusedBodySmallBytes = 1024 * 1024;
/** A sender that is silent for this long gets its answer, unless the connection closes after it. */
export const refusedBodyIdleMs = 1_000;

// Quotas: bodies in transfer
/** The rate at which a process reads documents, attachments and large refused bodies, all together. */
export const largeBodiesBytesPerSecond = 32 * 1024 * 1024;

// Tools API, from the specification
/** The most rows of a list, from the specification. */
export const listRowsMax = 200;
