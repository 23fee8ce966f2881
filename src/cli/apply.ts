import type { Environment } from "../core/config.ts";
import { act, type Progress } from "./apply/act.ts";
import { type ApplyOptions, readApply } from "./apply/options.ts";
import { isEmpty, makePlan, type Plan } from "./apply/plan.ts";
import { reportOf } from "./apply/report.ts";
import { describeField, describePlan, plain, summarise } from "./apply/show.ts";
import { type ApplyOutput, talkOf } from "./apply/talk.ts";
import { type Flags, UsageError } from "./arguments.ts";
import { printable } from "./chat/show.ts";
import type { Streams } from "./chat.ts";
import { type FileSet, readSet } from "./files/read-set.ts";
import { missingVariables } from "./files/references.ts";
import { openTarget, type Target } from "./target/open.ts";
import { orRefused, sentenceOf } from "./target/refused.ts";

/** The exit code of a dry run that found differences. */
const differsCode = 3;

/**
 * Changes an installation to match files. Returns the exit code: 0 done or nothing to do, 1 failed, 3 for a dry run
 * that found differences. Rejects with a `UsageError` for a wrong command line.
 */
export async function apply(path: string, flags: Flags, environment: Environment, streams: Streams): Promise<number> {
  const options = readApply(flags, environment);
  const { json } = options;
  const { set, problems } = await readSet(path, environment);
  if (options.prune && !set.wholeDirectory)
    throw new UsageError("--prune is for a directory: one file names too little");
  const talk = talkOf(set, options, { environment, streams });
  const missing = set.agents.flatMap(({ references }) => missingVariables(references, environment));
  // A dry run needs no credentials: anyone can check a proposed change.
  const wrong = options.dryRun ? problems : [...problems, ...missing];
  if (wrong.length > 0) {
    for (const { place, message } of wrong) talk.note(`${place}: ${message}`);
    talk.note(`Nothing was changed: ${wrong.length} ${wrong.length === 1 ? "problem" : "problems"}.`);
    if (json) talk.say(JSON.stringify({ ok: false, problems: wrong }));
    return 1;
  }
  for (const { place, message } of options.dryRun ? missing : []) talk.note(`${place}: ${message}`);
  const { say, note } = talk;
  const target = await orRefused(openTarget(options, "apply", { environment, note }), { json, say });
  try {
    return await applyTo(target, set, options, { environment, talk });
  } finally {
    await target.close();
  }
}

async function applyTo(
  target: Target,
  set: FileSet,
  options: ApplyOptions,
  { environment, talk }: { environment: Environment; talk: ApplyOutput },
): Promise<number> {
  const { dryRun, json, prune, workspace } = options;
  const planning = makePlan(set, target, { environment, prune, ...(workspace === undefined ? {} : { workspace }) });
  const plan = await orRefused(planning, { json, say: talk.say });
  const progress: Progress = { done: [], imported: null, warnings: [], left: [] };
  const end = (code: number, error?: string) => {
    if (json) talk.say(JSON.stringify(reportOf({ plan, progress, target, dryRun, code, error })));
    return code;
  };
  if (!json) showPlan(plan, target, talk);
  if (dryRun) return end(isEmpty(plan) ? 0 : differsCode);
  if (!(await mayDelete(plan, options, talk))) return end(1, "Nothing was changed: the deletions were not confirmed");
  const onDone = ({ kind, slug, action }: Progress["done"][number]) => {
    if (!json) talk.say(printable(`${kind === "allowance" ? "skill" : kind} ${slug}: ${action}`));
  };
  const failure = await act(plan, { target, environment, progress, onDone }).then(() => null, sentenceOf);
  for (const { slug, message } of progress.warnings) talk.note(`Warning: ${slug}: ${message}`);
  if (failure !== null) {
    sayFailure(failure, plan, progress, talk);
    return end(1, failure);
  }
  for (const { slug, fields } of progress.left) {
    talk.note(`The server did not take all of ${slug}:`);
    for (const field of fields) for (const line of describeField(field, plain)) talk.note(line);
  }
  return end(progress.left.length > 0 ? 1 : 0);
}

function showPlan(plan: Plan, { name, organization }: Target, { say, paint }: ApplyOutput): void {
  for (const line of describePlan(plan, paint)) say(line);
  const place = printable(`${organization} at ${name}`);
  say(`${isEmpty(plan) ? "Nothing to do in" : "Organization"} ${place}: ${summarise(plan)}`);
}

/** Whether the plan's deletions are confirmed, by a person or by `--yes`. */
async function mayDelete({ deletions }: Plan, { yes }: ApplyOptions, { ask, note }: ApplyOutput): Promise<boolean> {
  if (deletions.length === 0 || yes) return true;
  if (!ask) {
    note(`Nothing was changed: --prune would delete ${deletions.length}; add --yes to have it done without a question`);
    return false;
  }
  const answer = await ask(`Delete ${deletions.map(({ kind, slug }) => `${kind} ${slug}`).join(", ")}? Type yes: `);
  if (answer.trim().toLowerCase() === "yes") return true;
  note("Nothing was changed.");
  return false;
}

/** Prints what failed, what was done before that, and what was not done. */
function sayFailure(message: string, plan: Plan, { done, imported }: Progress, { note }: ApplyOutput): void {
  const steps = [
    ...plan.skills.filter(({ action }) => action !== "none").map(({ file }) => `skill ${file.slug}`),
    ...plan.agents.filter(({ action }) => action !== "none").map(({ file }) => `agent ${file.slug}`),
    ...plan.deletions.map(({ kind, slug }) => `deletion of ${kind} ${slug}`),
  ];
  const finished = new Set(
    done.map(({ kind, slug, action }) => (action === "deleted" ? `deletion of ${kind} ${slug}` : `${kind} ${slug}`)),
  );
  const left = steps.filter((step) => !finished.has(step) && step !== `agent ${imported}`);
  note(`Failed: ${message}`);
  note(`Done before: ${steps.filter((step) => finished.has(step)).join(", ") || "nothing"}.`);
  if (imported !== null) note(`Imported, but perhaps without all its credentials: agent ${imported}.`);
  if (left.length > 0) note(`Not done: ${left.join(", ")}. Run the command again when the cause is gone.`);
}
