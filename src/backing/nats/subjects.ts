/**
 * Every subject on NATS. They are made of constants and our own ids, never of user input. Fleets of two versions share them, so they stay
 * as they are.
 */
import type { ScatterService, Service, Stream, Topic } from "../bus.ts";

/** Requests to one server of a service. */
export function requestSubject(service: Service, serverId: string): string {
  return `weir.ask.${service}.${serverId}`;
}

export function requestHeartbeatSubject(service: Service): string {
  return `weir.beat.ask.${service}`;
}

export function scatterSubject(service: ScatterService): string {
  return `weir.survey.${service}`;
}

export function scatterHeartbeatSubject(service: ScatterService): string {
  return `weir.beat.survey.${service}`;
}

export function topicSubject(topic: Topic): string {
  return `weir.topic.${topic}`;
}

/** The first partition has the subject of the stream itself. */
export function eventSubject(stream: Stream, partition: number): string {
  return partition === 0 ? `weir.event.${stream}` : `weir.event.${stream}.${partition}`;
}

/** null: the subject belongs to no partition. */
export function partitionOfSubject(subject: string, stream: Stream): number | null {
  if (subject === eventSubject(stream, 0)) return 0;
  const number = Number(subject.slice(eventSubject(stream, 0).length + 1));
  return Number.isInteger(number) && subject === eventSubject(stream, number) ? number : null;
}

/** The subjects of all partitions. */
export function eventSubjects(stream: Stream): string[] {
  return [eventSubject(stream, 0), `weir.event.${stream}.*`];
}

export function eventHeartbeatSubject(stream: Stream): string {
  return `weir.beat.event.${stream}`;
}
