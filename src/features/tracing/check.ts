import { and, eq } from "drizzle-orm";
import type { Ctx, Services } from "../../context/ctx.ts";
import { TtlCache } from "../../core/cache.ts";
import { clip, visible } from "../../core/text/text.ts";
import { withinTime } from "../../core/time/deadline.ts";
import { type AgentTracing, keyPairProblem, type ProjectKey, TracingError } from "../../core/tracing.ts";
import { secrets } from "../../db/schema.ts";
import type { Instance } from "../agents/index.ts";
import { openSecrets } from "../secrets/index.ts";
import { projectKeyOf } from "./agent-collectors.ts";

/** How long a response of the backend is used, and a failure, in milliseconds. */
const [knownMs, failedMs] = [5 * 60_000, 30_000];

/** How long a response about an agent waits for the backend, in milliseconds. */
const patienceMs = 2_000;

const tooLate = new TracingError("the tracing backend has not answered yet");

function late(error: unknown): string[] {
  if (error !== tooLate) throw error;
  return [`tracingProject could not be checked: ${tooLate.message}`];
}

type ProjectsResult = { names: readonly string[] } | { problem: string };

/** Why an agent's traces are not sent, or go to another project than configured. */
export interface TracingCheck {
  /** Checks a traced agent's settings; logs each problem once. */
  look(slug: string, tracing: AgentTracing): Promise<string[]>;
  /** `look`, for a response about an agent: waits only a short time for the backend. */
  warningsOf(ctx: Ctx, instance: Instance): Promise<string[]>;
}

export function tracingCheck(services: Pick<Services, "clock" | "log" | "policies" | "tracer">): TracingCheck {
  const { clock, log, tracer } = services;
  const now = () => clock.now();
  const found = new TtlCache<Promise<ProjectsResult>>({ ttlMs: knownMs, limit: 1_000, now });
  const failed = new TtlCache<Promise<ProjectsResult>>({ ttlMs: failedMs, limit: 1_000, now });
  const logged = new TtlCache<true>({ ttlMs: knownMs, limit: 1_000, now });

  const ask = (key: ProjectKey): Promise<ProjectsResult> => {
    const id = `${key.baseUrl} ${key.authorization}`;
    const known = found.get(id) ?? failed.get(id);
    if (known) return known.value;
    const asked = tracer.projectsOf(key).then(
      (names): ProjectsResult => ({ names }),
      (error: unknown): ProjectsResult => {
        found.delete(id);
        failed.set(id, asked);
        return { problem: error instanceof TracingError ? error.message : "The tracing backend could not be asked" };
      },
    );
    found.set(id, asked);
    return asked;
  };

  const problemOf = async (tracing: AgentTracing): Promise<string | null> => {
    const { apiKey, project } = tracing;
    if (apiKey === undefined) return "tracingEnabled is on, but there is no tracing_api_key: nothing is traced";
    const key = projectKeyOf(services, tracing);
    if (!key) return `tracing_api_key ${keyPairProblem(apiKey)}: nothing is traced`;
    if (project === null) return null;
    const answer = await ask(key);
    if ("problem" in answer) return `tracingProject could not be checked: ${answer.problem}`;
    if (answer.names.includes(project)) return null;
    const names = answer.names.map((name) => JSON.stringify(visible(clip(name, 200)))).join(", ");
    return `tracingProject is ${JSON.stringify(project)}, but tracing_api_key belongs to the project ${names}: traces go there`;
  };

  const look: TracingCheck["look"] = async (slug, tracing) => {
    const problem = await problemOf(tracing);
    if (problem === null) return [];
    const id = `${slug} ${problem}`;
    if (!logged.get(id)) log.warn({ agent: slug }, problem);
    logged.set(id, true);
    return [problem];
  };

  return {
    look,
    async warningsOf({ db, cipher }, { id, slug, tracingEnabled, tracingProject: project }) {
      if (!tracingEnabled) return [];
      const rows = await db
        .select()
        .from(secrets)
        .where(and(eq(secrets.agentId, id), eq(secrets.key, "tracing_api_key")));
      const apiKey = (await openSecrets(cipher, id, rows)).get("tracing_api_key");
      return withinTime(clock, patienceMs, tooLate, () => look(slug, { apiKey, project })).catch(late);
    },
  };
}
