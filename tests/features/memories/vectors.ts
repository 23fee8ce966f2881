import { onTestFinished, type TestContext } from "vitest";
import type { SubjectKey } from "../../../src/core/channels/subjects.ts";
import type { Embedder } from "../../../src/core/ports.ts";
import type { Database } from "../../../src/db/client.ts";
import { addVectors } from "../../../src/db/vectors.ts";
import { memoryJobs, searchMemories } from "../../../src/features/memories/index.ts";
import { Heartbeat } from "../../../src/jobs/heartbeat.ts";
import { createWorker } from "../../../src/jobs/worker.ts";
import { skipHere } from "../../skip.ts";
import { memoryHarness } from "./memories.ts";

export const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };

/** Skips the test, with the reason, where the database can't have vectors. */
export async function requireVectors(database: Database, context: TestContext): Promise<void> {
  if (!(await addVectors(database, quiet))) {
    skipHere(context, "this database has no extension vector; set TEST_DATABASE_URL to a server with pgvector");
  }
}

/** The vector of a text: about drinks, about vehicles, or about neither. */
export const meaningOf = (text: string) => [
  Number(/tea|coffee|beverage/i.test(text)),
  Number(/bicycle|train|vehicle/i.test(text)),
  0.001,
];

function fakeEmbedder(embed?: Embedder["embed"]) {
  const asked: string[][] = [];
  const embedder: Embedder = {
    model: "fake:1",
    least: 0.5,
    async embed(texts, signal) {
      asked.push([...texts]);
      return embed ? embed(texts, signal) : texts.map(meaningOf);
    },
  };
  return { asked, embedder };
}

export async function vectorHarness(context: TestContext, embed?: Embedder["embed"]) {
  const h = await memoryHarness();
  await requireVectors(h.database, context);
  h.services.options.vectors = true;
  const { asked, embedder } = fakeEmbedder(embed);
  const complete = async () => Promise.reject(new Error("No fast model here"));
  const needs = { services: h.services, complete, embedderOf: async () => embedder };
  const worker = createWorker({ ...h.services, heartbeat: new Heartbeat(h.services) }, memoryJobs(needs));
  onTestFinished(() => worker.stop(0));
  const meaning = { ...h.services, embedder };
  const about = { agentId: h.agent.id, subject: "web:ada" as const };
  const search = async (query: string, subject: SubjectKey = "web:ada") =>
    (await searchMemories(h.database, { ...about, subject, query, limit: 5, meaning })).map(({ content }) => content);
  const vectors = () => h.database.query<{ model: string }>("select model from memory_vectors", []);
  return { ...h, asked, embedder, worker, search, vectors, meaning, about };
}
