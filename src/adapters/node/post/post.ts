import type { Post } from "../../models/post.ts";
import { Answer } from "./answer.ts";
import { type Connections, connectionsTo } from "./connections.ts";

/**
 * Posts over undici's clients, which cost a third of what Node's own does, and keeps connections for further posts.
 * Rejects with the signal's reason when it is aborted, and with undici's own error when a connection fails.
 */
export function pooledPost(): Post {
  const open = connectionsTo();
  const targets = new Map<string, Target>();
  const targetOf = (url: string) => {
    const known = targets.get(url);
    if (known) return known;
    if (targets.size >= mostTargets) targets.clear();
    const target = readTarget(url, open);
    targets.set(url, target);
    return target;
  };
  return (url, { headers, body, signal }) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const { connections, authorization, ...to } = targetOf(url);
      const connection = connections.take();
      const over = (healthy: boolean) => connections.give(connection, healthy);
      // A compressed stream would keep words back.
      const all = { accept: "*/*", "accept-encoding": "identity", ...authorization, ...headers };
      connection.dispatch({ ...to, method: "POST", headers: all, body }, new Answer({ resolve, reject, signal, over }));
    });
}

/** The target of a post, read once from its address. */
interface Target {
  origin: string;
  path: string;
  authorization: { authorization?: string };
  connections: Connections;
}

const mostTargets = 1000;

function readTarget(url: string, open: (origin: string) => Connections): Target {
  const { origin, pathname, search, username, password } = new URL(url);
  const named = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = named === ":" ? {} : { authorization: `Basic ${Buffer.from(named).toString("base64")}` };
  return { origin, path: pathname + search, authorization, connections: open(origin) };
}
