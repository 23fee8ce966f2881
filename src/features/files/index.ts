import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { deleteFilesOf, fileJobs } from "./delete.ts";
import { retainedFiles } from "./retained.ts";
import { fileRoutes } from "./routes.ts";
import { createFileSweep } from "./sweep.ts";

/** The refusal of a file for lack of allowed space of its agent or end user, counted in megabytes by the policy. */
export { megabyte, NoSpaceLeft } from "./bounds.ts";
/** Enqueues the deletion of a conversation's or an agent's files, or of some files. */
export { deleteFilesOf, deleteFilesWhere } from "./delete.ts";
/** The pictures of new messages for a model with image input, and their size. */
export { type FreshFiles, imageBytes, imageParts, seenImages } from "./images.ts";
/** Reports the size of the installation's files. */
export { type FilesReport, inspectFiles } from "./inspect.ts";
/** Stores a file of a plugin's tool, and links to a file of the conversation. */
export { linkPluginFile, savePluginFile } from "./plugin-files.ts";
/** A file's path, name, and largest size. */
export { fileAddress, fileName, longestFile } from "./rules.ts";
/** Stores a file of an incoming message. */
export { type InboundFile, storeFile } from "./store-file.ts";

/**
 * `/api/files`, `/files` for links, and the deletion of incomplete files and of files without conversation or agent.
 */
export function filesFeature(services: Services): Contribution {
  return {
    routes: [fileRoutes],
    jobs: fileJobs(services),
    ticks: { seldom: createFileSweep(services) },
    retained: [retainedFiles],
    async beforeAgentDelete(tx, agentId) {
      await deleteFilesOf(tx, services, { agentId });
    },
  };
}
