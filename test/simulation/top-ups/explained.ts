/** Failures that the simulated faults explain. Any other one is a mistake, which must not be taken for a lost answer. */
import { silentLog, type Logger } from "../../../src/kernel/log.ts";

const explained = /^DomainError|^CallRefusedError|the simulated \w+ (?:did not answer|answered with 500)/;

/** @throws the error, unless a fault explains it */
export function mustBeExplained(error: unknown): void {
  if (!explained.test(String(error))) throw error;
}

/** Writes nothing. @throws for a warning whose reason no fault explains */
export const watchfulLog: Logger = Object.create(silentLog, {
  warn: { value: ({ reason }: { reason?: string }) => void (reason !== undefined && mustBeExplained(reason)) },
});
