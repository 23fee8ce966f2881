import { type Check, ok, warn } from "../../../core/check.ts";
import type { Policies } from "../../../core/policies.ts";
import { type FilesReport, megabyte } from "../../files/index.ts";
import { named } from "./named.ts";

/** The part of `fileMegabytes` from which on an agent's files come near it. */
const near = 0.9;

const megabytes = (bytes: number) => Math.ceil(bytes / megabyte);

/** Checks whether an agent's files come near what they may have on this machine. */
export function checkFiles(
  { byStore, inDirectory }: FilesReport,
  { fileMegabytes: { total } }: Pick<Policies, "fileMegabytes">,
): Check {
  const name = "files";
  const [fullest] = inDirectory;
  if (!fullest) return ok(name, "None is stored on this machine");
  const told = ({ slug, bytes }: typeof fullest) => `${slug} has ${megabytes(bytes)} of ${total} MB`;
  const full = inDirectory.filter(({ bytes }) => bytes >= near * total * megabyte);
  if (full.length > 0) {
    const advice = "delete conversations, give the agent a bucket in S3, or raise the policy fileMegabytes";
    return warn(name, `${named(full.map(told))}, and what would make more is refused: ${advice}`);
  }
  return ok(name, `${megabytes(byStore.directory)} MB are on this machine; of the agents, ${told(fullest)}, the most`);
}
