import { JetStreamApiError } from "@nats-io/jetstream";

/** The result of a call of JetStream's API, or of `make` where what it asks for does not exist. */
export async function orWhenMissing<T>(found: Promise<T>, make: () => Promise<T>): Promise<T> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.apiError().code === 404) return await make();
    throw error;
  }
}
