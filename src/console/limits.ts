/** Limits of the Console. */

/** Deadline of a page. */
export const pageDeadlineMs = 10_000;
/** Largest body of a form without a file. */
export const formBytesMax = 256 * 1024;
/** Deadline for a form to arrive. */
export const formMs = 10_000;
/** The same for a form with a file. */
export const fileFormMs = 60_000;
/** Fields of a form. */
export const formFieldsMax = 500;
/** Deadline of a form that waits for a provider's answers; a server closes a connection that is silent for longer. */
export const providerFormMs = 200_000;
/** Deadline of a page that may call Stripe. */
export const topUpFormMs = 70_000;
/** Largest form of the sign-in, which anyone may send. */
export const signInFormBytesMax = 16 * 1024;
/** Such forms that are read and handled at once; together with their size, this bounds the memory that strangers take. */
export const signInsAtOnceMax = 64;
/** Forms of the sign-in that wait for a place. */
export const signInsWaitingMax = 64;
/** Pages that are rendered at once. More would leave a process and its database too little time for requests to models. */
export const pagesAtOnceMax = 2;
/** Those of one workspace among them. */
export const pagesPerWorkspaceMax = 1;
/** Those of one person among them. */
export const pagesPerPersonMax = 1;
/** Forms without a file that are handled at once: they may wait for providers, and so do not hold up pages. */
export const formsAtOnceMax = 8;
/** Those of one workspace among them. */
export const formsPerWorkspaceMax = 4;
/** Those of one person among them. */
export const formsPerPersonMax = 2;
/** Forms without a file that are in memory at once, while they arrive, wait and are handled. */
export const formBodiesMax = 64;
/** Those of one workspace among them. */
export const formBodiesPerWorkspaceMax = 16;
/** Those of one person among them. */
export const formBodiesPerPersonMax = 4;
/** Requests for pages that wait. */
export const pagesWaitingMax = 200;
/** Those of one person among them. */
export const pagesWaitingPerPersonMax = 16;
/** The longest wait. */
export const pageWaitMs = 5_000;
/** Findings in a file of the list. */
export const findingCsvRowsMax = 2_000;
/** Models on a page of the list. */
export const modelsShownMax = 50;
/** Models side by side. */
export const modelsComparedMax = 4;
/** Lines of a statement on its page; its file has all. */
export const statementLinesShownMax = 500;
/** How often the pages of a person that refresh themselves may ask: fifty of them, every two seconds. */
export const livePollsPerMinuteMax = 1_500;
/** Such questions that are answered, or wait for a turn to render, at once. */
export const livePollsAtOnceMax = 256;
/** Those of one person among them. */
export const livePollsPerPersonMax = 64;
/** The longest that such a page waits for its turn; it then asks again later. */
export const liveWaitMs = 8_000;
/** How many times as long as it rendered the next one waits, so that all of them together take a tenth of the time. */
export const liveRestFactor = 9;
/** The longest such rest. */
export const liveRestMsMax = 2_000;
