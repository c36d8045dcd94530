/** What stands for the user where a format or a model wants a turn that the conversation does not have. */

/** Begins a conversation of instructions alone, or one that the model begins. It adds nothing to the instructions. */
export const openingText = "Begin.";

/** Ends a conversation whose last words are the model's, for a model that does not go on with its own words. */
export const continuingText = "Continue.";
