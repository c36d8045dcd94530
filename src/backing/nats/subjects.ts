/** Every subject on NATS. Made of constants and our own ids, never of user input. Fleets of two versions share them: they stay. */
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

export function eventSubject(stream: Stream): string {
  return `weir.event.${stream}`;
}
