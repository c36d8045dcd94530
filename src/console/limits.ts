/** Limits of the Console. Each value has its row in docs/internals/limits.md. */

/** For a page to be made. */
export const pageDeadlineMs = 10_000;
/** A form's body, without a file. */
export const formBytesMax = 256 * 1024;
export const formMs = 10_000;
/** The same with a file. */
export const fileFormMs = 60_000;
export const formFieldsMax = 500;
/** A form that waits for a provider's answers; a server closes a connection that is silent for longer. */
export const providerFormMs = 200_000;
/** A page that may ask Stripe. */
export const topUpFormMs = 70_000;
/** A form of the sign-in, which anybody may send. */
export const signInFormBytesMax = 16 * 1024;
/** Such forms that are read and handled at once; with their size they bound the memory that strangers take. */
export const signInsAtOnceMax = 64;
export const signInsWaitingMax = 64;
/** Pages that are made at once. With more, a process and its database leave too little time to requests of models. */
export const pagesAtOnceMax = 2;
export const pagesPerWorkspaceMax = 1;
export const pagesPerPersonMax = 1;
/** Forms without a file that are handled at once: they may wait for providers, and so do not hold up pages. */
export const formsAtOnceMax = 8;
export const formsPerWorkspaceMax = 4;
export const formsPerPersonMax = 2;
/** Forms without a file that are in memory at once, while they arrive, wait and are handled. */
export const formBodiesMax = 64;
export const formBodiesPerWorkspaceMax = 16;
export const formBodiesPerPersonMax = 4;
export const pagesWaitingMax = 200;
export const pagesWaitingPerPersonMax = 16;
export const pageWaitMs = 5_000;
/** Findings in a file of the list. */
export const findingCsvRowsMax = 2_000;
/** Models on a page of the list, and side by side. */
export const modelsShownMax = 50;
export const modelsComparedMax = 4;
/** Lines of a statement on its page; its file has all. */
export const statementLinesShownMax = 500;
