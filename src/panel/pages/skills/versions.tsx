import { useSignal } from "@preact/signals";
import type { SkillVersion, SkillVersions } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { type LoadedValue, useLoaded } from "../../data/list/load.ts";
import { orgSlug } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { SignalChoice } from "../../ui/form/field.tsx";
import { Table } from "../../ui/list/table.tsx";
import { WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { Failure } from "../../ui/note.tsx";
import { Diff } from "../../ui/text/diff.tsx";
import { Time } from "../../ui/text/time.tsx";
import { Waiting } from "../../ui/waiting.tsx";

/** The versions of a skill, and the changes between two of them. */
export function Versions({ name }: { name: string }) {
  const versions = useLoaded(
    async () => (await api.listSkillVersions({ orgSlug: orgSlug.value, name })).versions,
    [name],
  );
  return (
    <WhenLoaded of={versions}>
      {(all) => (
        <>
          {all.length > 1 && <Comparison name={name} versions={all} />}
          <Table
            label="Versions"
            rows={all}
            keyOf={({ id }) => id}
            columns={[
              { title: "Version", cell: ({ version }) => version },
              { title: "What changed", cell: ({ changelog }) => changelog ?? "–" },
              { title: "Saved", end: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
            ]}
          />
        </>
      )}
    </WhenLoaded>
  );
}

function Comparison({ name, versions }: { name: string; versions: SkillVersions["versions"] }) {
  const [newest, previous] = versions;
  const before = useSignal(previous?.version ?? "");
  const after = useSignal(newest?.version ?? "");
  const change = useChange(name, before.value, after.value);
  const choices = versions.map(({ version }) => ({ value: version, label: version }));
  return (
    <Card title="Compare two versions">
      <div class="columns">
        <SignalChoice label="From" of={before} choices={choices} />
        <SignalChoice label="To" of={after} choices={choices} />
      </div>
      <VersionDiff change={change} />
    </Card>
  );
}

/** The change from one version of a skill to another. */
export interface Change extends Pick<LoadedValue<unknown>, "error" | "reload"> {
  /** Undefined while they are being read. */
  versions: readonly [before: SkillVersion, after: SkillVersion] | undefined;
  /** Whether neither the versions nor an error have arrived yet. */
  waiting: boolean;
}

/** Reads two versions of a skill when both are chosen. */
export function useChange(name: string, before: string, after: string): Change {
  const named = before !== "" && after !== "";
  const read = (version: string) => api.getSkillVersion({ orgSlug: orgSlug.value, name, version });
  const { value, error, reload } = useLoaded(
    async () => (named ? await Promise.all([read(before), read(after)]) : undefined),
    [name, before, after],
  );
  // The versions of an earlier choice stay until the next ones arrive, so they must be the chosen ones.
  const versions = value.value?.[0].version === before && value.value[1].version === after ? value.value : undefined;
  return { versions, error, reload, waiting: named && !versions && error.value === undefined };
}

/** The changes between two versions of a skill. */
export function VersionDiff({ change: { versions, error, reload, waiting } }: { change: Change }) {
  return (
    <>
      <Failure error={error.value} retry={reload} />
      {waiting && <Waiting lines={3} />}
      {versions && (
        <Diff
          label={versions.map(({ version }) => version).join(" → ")}
          before={textOf(versions[0])}
          after={textOf(versions[1])}
        />
      )}
    </>
  );
}

/** The parts of a version that matter to an agent, as lines. */
function textOf({ description, requiredTools, requiredEnv, content }: SkillVersion): string {
  const values = requiredEnv.map(({ name, sensitive, hosts = [] }) =>
    [`value: ${name}`, sensitive && "secret", ...hosts].filter(Boolean).join(", "),
  );
  return [`description: ${description}`, ...requiredTools.map((tool) => `tool: ${tool}`), ...values, "", content].join(
    "\n",
  );
}
