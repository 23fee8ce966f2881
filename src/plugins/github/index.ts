import { definePlugin, type Plugin } from "../../core/plugins/plugin.ts";
import { hostOf } from "../json-api.ts";
import { githubApi, tokenKey } from "./api.ts";
import { fileTools } from "./files.ts";
import { issueTools } from "./issues.ts";
import { pullTools } from "./pulls.ts";
import { searchTools } from "./search.ts";

/** Issues, pull requests, files and searches on GitHub, or at `baseUrl` on a GitHub Enterprise Server. */
export function githubPlugin({ baseUrl = "https://api.github.com" }: { baseUrl?: string | undefined } = {}): Plugin {
  const ask = githubApi(baseUrl);
  return definePlugin({
    namespace: "github",
    title: "GitHub",
    hosts: [hostOf(baseUrl)],
    secrets: [
      {
        key: tokenKey,
        type: "text",
        label: "GitHub token",
        description:
          "A personal access token, best a fine-grained one for the agent's repositories only, with the permissions Issues, Pull requests and Contents: read, and write for changes.",
        sensitive: true,
      },
    ],
    tools: [...issueTools(ask), ...pullTools(ask), ...fileTools(ask), ...searchTools(ask)],
  });
}
