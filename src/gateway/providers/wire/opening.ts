/** Turns of the user that the gateway adds where a format or a model requires one. */

/** Begins a conversation of instructions alone, or one that the model begins. It adds nothing to the instructions. */
export const openingText = "Begin.";

/** Ends a conversation whose last message is the model's, for a model that refuses to continue its own message (prefill). */
export const continuingText = "Continue.";
