/** Maps values to positions on an axis, and chooses its marks. */

export interface Scale {
  place(value: number): number;
  ticks: number[];
}

export interface Span {
  /** In units of the plot. */
  from: number;
  to: number;
}

/** A linear scale from zero to a round number. */
export function linearScale(most: number, { from, to }: Span): Scale {
  const step = roundStep(Math.max(most, Number.MIN_VALUE) / 4);
  const end = Math.ceil(most / step - 1e-9) * step;
  const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, n) => Number((n * step).toPrecision(12)));
  return { place: (value) => from + (value / end) * (to - from), ticks };
}

/** A logarithmic scale with marks at 1, 2 and 5 of each power of ten, or only at the powers if these are too many. */
export function logScale(values: number[], { from, to }: Span): Scale {
  const positive = values.filter((value) => value > 0);
  const [least, most] = [Math.min(...positive), Math.max(...positive)];
  const powers = Array.from({ length: 40 }, (_, n) => 10 ** (n - 20));
  const marks = powers.flatMap((power) => [1, 2, 5].map((factor) => Number((factor * power).toPrecision(6))));
  const first = marks.findLast((mark) => mark <= least) ?? least;
  const last = marks.find((mark) => mark >= most && mark > first) ?? most;
  const within = marks.filter((mark) => mark >= first && mark <= last);
  const width = Math.log10(last / first);
  const place = (value: number): number => from + (Math.log10(Math.max(value, first) / first) / width) * (to - from);
  return { place, ticks: within.length <= ticksMax ? within : within.filter((mark) => powers.includes(mark)) };
}

const ticksMax = 10;

function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= least) ?? 10) * power;
}
