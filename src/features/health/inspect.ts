import type { Services } from "../../context.ts";
import { inspectJobs, type JobsReport } from "../../jobs/failed.ts";
import { ownerExists } from "../account/index.ts";
import { type FilesReport, inspectFiles } from "../files/index.ts";
import { inspectMessages, type MessagesReport } from "../inbox/index.ts";
import { inspectSettings, type SettingsReport } from "../installation/index.ts";
import { inspectSecrets, type SecretsReport } from "../secrets/index.ts";

/** What only the database knows of an installation's health. */
export interface Inspection {
  secrets: SecretsReport;
  /** Whether the installation has an owner. */
  owned: boolean;
  settings: SettingsReport;
  jobs: JobsReport;
  messages: MessagesReport;
  files: FilesReport;
}

/** Reads it from a database with this release's schema. Changes nothing. */
export async function inspect(services: Services): Promise<Inspection> {
  return {
    secrets: await inspectSecrets(services),
    owned: await ownerExists(services),
    settings: await inspectSettings(services),
    jobs: await inspectJobs(services.database, services.clock.now()),
    messages: await inspectMessages(services.database, services.clock.now()),
    files: await inspectFiles(services.database),
  };
}
