import { setFlagsFromString } from "node:v8";

// For threads that start later, such as those of embedded databases. A full collection of a thread maps and unmaps all
// its young memory, and the size that suits the tests themselves (vitest.config.ts) would make that the longest part.
setFlagsFromString("--min-semi-space-size=4");
