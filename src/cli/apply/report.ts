import type { Target } from "../target/open.ts";
import type { Progress } from "./act.ts";
import type { FieldChange } from "./compare.ts";
import { isEmpty, type Plan } from "./plan.ts";
import { summarised } from "./show.ts";

interface Outcome {
  plan: Plan;
  progress: Progress;
  target: Target;
  dryRun: boolean;
  code: number;
  error: string | undefined;
}

/** The outcome as one object, for scripts; contains no credential. */
export function reportOf({ plan, progress, target, dryRun, code, error }: Outcome) {
  const steps = [
    ...plan.skills.map(({ action, file, fields }) => ({
      kind: "skill",
      slug: file.slug,
      action,
      place: file.place,
      fields,
    })),
    ...plan.agents.map(({ action, file, fields }) => ({
      kind: "agent",
      slug: file.slug,
      action,
      place: file.place,
      fields,
    })),
  ];
  return {
    ok: code === 0 || (dryRun && code === 3),
    server: target.name,
    organization: target.organization,
    dryRun,
    differs: !isEmpty(plan),
    changes: [
      ...steps.filter(({ action }) => action !== "none").map((step) => ({ ...step, fields: step.fields.map(brief) })),
      ...plan.allowances.map(({ workspace, skill }) => ({ kind: "allowance", slug: skill, workspace: workspace.name })),
      ...plan.deletions.map((deletion) => ({ ...deletion, action: "delete" })),
    ],
    unchanged: steps.filter(({ action }) => action === "none").map(({ kind, slug }) => ({ kind, slug })),
    done: progress.done,
    warnings: progress.warnings,
    notTaken: progress.left.map(({ slug, fields }) => ({ slug, fields: fields.map(brief) })),
    ...(error === undefined ? {} : { error }),
  };
}

/** A difference, without the bytes of pictures. */
function brief({ path, before, after }: FieldChange): FieldChange {
  return {
    path,
    ...(before === undefined ? {} : { before: summarised(before) }),
    ...(after === undefined ? {} : { after: summarised(after) }),
  };
}
