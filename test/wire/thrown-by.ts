import OpenAI from "openai";

/** Awaits a call of the package, whose promises are lazy, and returns its error. @throws Error when the call succeeds */
export async function thrownBy(call: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  try {
    await call;
  } catch (error) {
    if (error instanceof OpenAI.APIError) return error;
    throw error;
  }
  throw new Error("The call succeeded");
}
