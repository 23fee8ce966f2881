const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * How the clocks of a zone change in 2027, written down by hand from the tz database, independently of the library and
 * the runtime under test. Offsets are in minutes east of UTC.
 */
export interface Zone {
  name: string;
  /** The offset at the start of the year, which also holds at its end. */
  offset: number;
  changes: { at: number; offset: number }[];
}

const utc = (text: string) => Date.parse(`2027-${text}Z`);

export const zones: Zone[] = [
  {
    name: "Europe/Rome",
    offset: 60,
    changes: [
      { at: utc("03-28T01:00"), offset: 120 },
      { at: utc("10-31T01:00"), offset: 60 },
    ],
  },
  {
    name: "America/New_York",
    offset: -300,
    changes: [
      { at: utc("03-14T07:00"), offset: -240 },
      { at: utc("11-07T06:00"), offset: -300 },
    ],
  },
  {
    name: "Australia/Lord_Howe",
    offset: 660,
    changes: [
      { at: utc("04-03T15:00"), offset: 630 },
      { at: utc("10-02T15:30"), offset: 660 },
    ],
  },
];

function offsetAt({ offset, changes }: Zone, time: number): number {
  return changes.findLast(({ at }) => at <= time)?.offset ?? offset;
}

/** The instants at which the clocks of the zone show this local time: none in a gap, two when it repeats. */
function instants(zone: Zone, local: number): number[] {
  const offsets = new Set([zone.offset, ...zone.changes.map(({ offset }) => offset)]);
  return [...offsets]
    .map((offset) => ({ offset, time: local - offset * minute }))
    .filter(({ offset, time }) => offsetAt(zone, time) === offset)
    .map(({ time }) => time)
    .sort((a, b) => a - b);
}

/** The moment at which the clocks jumped over this local time. */
function afterGap(zone: Zone, local: number): number {
  const gap = zone.changes.find(({ at, offset }) => {
    const before = at + offsetAt(zone, at - 1) * minute;
    return local >= before && local < at + offset * minute;
  });
  if (!gap) throw new Error(`${new Date(local).toISOString()} is not skipped in ${zone.name}`);
  return gap.at;
}

/**
 * All runs of 2027 in the zone at these local times of each day, by the rule that `nextCronRun` states: fixed times run
 * once, after a gap if they are skipped; repeating times run whenever the clock shows them.
 */
export function runsOf2027(zone: Zone, times: readonly { hour: number; minute: number }[], fixed: boolean): number[] {
  const runs = new Set<number>();
  for (let midnight = utc("01-01T00:00"); midnight < utc("12-31T00:00") + day; midnight += day) {
    for (const time of times) {
      const local = midnight + time.hour * hour + time.minute * minute;
      const found = instants(zone, local);
      if (!fixed) found.forEach((run) => void runs.add(run));
      else runs.add(found[0] ?? afterGap(zone, local));
    }
  }
  return [...runs].sort((a, b) => a - b);
}

/** Every local minute of the two hours that begin where the clocks jump or fall back to. */
export const timesAround = [1, 2].flatMap((hour) => Array.from({ length: 60 }, (_, minute) => ({ hour, minute })));
