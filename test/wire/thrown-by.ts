import OpenAI from "openai";

/** The package's promises are lazy: what a call throws is known only by awaiting it. @throws Error where it succeeds */
export async function thrownBy(call: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  try {
    await call;
  } catch (error) {
    if (error instanceof OpenAI.APIError) return error;
    throw error;
  }
  throw new Error("The call succeeded");
}
