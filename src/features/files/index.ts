import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { deleteFilesOf, fileJobs } from "./delete.ts";
import { fileRoutes } from "./routes.ts";
import { createFileSweep } from "./sweep.ts";

/** The refusal of a file for which its agent or end user has no space, which the policy counts in megabytes. */
export { megabyte, NoSpaceLeft } from "./bounds.ts";
/** Has the files of a conversation or an agent deleted with it. */
export { deleteFilesOf } from "./delete.ts";
/** The pictures of new messages, for a model that takes images, and how large they are. */
export { type FreshFiles, imageBytes, imageParts, seenImages } from "./images.ts";
/** Reports the size of the installation's files, for its operator. */
export { type FilesReport, inspectFiles } from "./inspect.ts";
/** Stores a file that a plugin's tool made, and links to a file of the conversation. */
export { linkPluginFile, savePluginFile } from "./plugin-files.ts";
/** The path that serves a file, what name it may have, and how large it may be. */
export { fileAddress, fileName, longestFile } from "./rules.ts";
/** Stores a file that came in with a message. */
export { type InboundFile, storeFile } from "./store-file.ts";

/** `/api/files`, `/files` for links, and the deletion of files whose conversation or agent is gone or that were never stored in full. */
export function filesFeature(services: Services): Contribution {
  return {
    routes: [fileRoutes],
    jobs: fileJobs(services),
    ticks: { seldom: createFileSweep(services) },
    async beforeAgentDelete(tx, agentId) {
      await deleteFilesOf(tx, services, { agentId });
    },
  };
}
