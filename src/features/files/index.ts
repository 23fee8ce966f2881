/** Has the files of a conversation or an agent deleted with it; and the jobs that do so. */
export { deleteFilesOf, fileJobs } from "./delete.ts";
/** The pictures of new messages, for a model that sees. */
export { imageParts } from "./images.ts";
/** `/api/files`. */
export { fileRoutes } from "./routes.ts";
/** Where a file is read. */
export { fileAddress } from "./rules.ts";
/** Stores a file that came in with a message. */
export { type Attachment, type InboundFile, storeFile } from "./store-file.ts";
/** Deletes what was never stored in full. */
export { createFileSweep } from "./sweep.ts";
