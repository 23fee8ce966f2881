import { page, type Seen, type World } from "./replicas.ts";

export type Change = (w: World) => Promise<unknown>;

export const own = "/api/instances/helper";
export const newKey = "another-key-of-the-helper";

export const send =
  (method: string, path: string, json?: object): Change =>
  (w) =>
    w.send(method, path, json);
export const patch = (fields: object) => send("PATCH", own, fields);
export const web = (config: object) => send("PUT", `${own}/channels/web`, { enabled: true, config });

/** Another agent that replaces the old one. */
export const remake: Change = async (w) => {
  await w.send("DELETE", own);
  await w.send("POST", "/api/instances", { slug: "helper", provider: "demo", model: "new" });
  await web({ apiKey: newKey })(w);
};

export const verdict = ({ verdict }: Seen) => verdict;
/** The verdict, and whether the page may read the answer. */
export const access = ({ verdict, cors }: Seen) => (cors === page ? `${verdict}, readable` : verdict);
export const usage = ({ text }: Seen) => text.includes('"usage":');
export const model = ({ model }: Seen) => model && `${model.spec.provider}:${model.spec.model}`;
/** The keys of the state under which the model was shown "c-17", or why it was not called. */
export const projected = (seen: Seen) => {
  if (!seen.model) return seen.verdict;
  const lines = [...seen.model.system.matchAll(/^- (.*): "c-17"$/gm)];
  return lines
    .map(([_, key]) => key)
    .sort()
    .join();
};

export const unmapped = "This agent maps no web context fields: configure them before sending context";
