/** Every subject on NATS. Made of our own words and ids, never of what a user sent. */
import type { Service, Stream, Survey, Topic } from "../bus.ts";

/** Questions to one server of a service. */
export function askSubject(service: Service, serverId: string): string {
  return `weir.ask.${service}.${serverId}`;
}

export function serverBeatSubject(service: Service): string {
  return `weir.beat.ask.${service}`;
}

export function surveySubject(survey: Survey): string {
  return `weir.survey.${survey}`;
}

export function reporterBeatSubject(survey: Survey): string {
  return `weir.beat.survey.${survey}`;
}

export function topicSubject(topic: Topic): string {
  return `weir.topic.${topic}`;
}

export function eventSubject(stream: Stream): string {
  return `weir.event.${stream}`;
}
