/** The agent secrets with the bucket of an agent's files and its static keys. Unless all of them are set, none counts. */
export const s3Secrets = ["s3_region", "s3_bucket", "s3_access_key_id", "s3_secret_access_key"] as const;

/** The secrets that only name a bucket and give no access. */
export const s3Places: ReadonlySet<string> = new Set<S3Secret>(["s3_region", "s3_bucket"]);

export type S3Secret = (typeof s3Secrets)[number];

const forms: Record<S3Secret, { form: RegExp; problem: string }> = {
  // Region and bucket become part of a host name.
  s3_region: {
    form: /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/,
    problem: "must be the name of a region, such as eu-central-1",
  },
  s3_bucket: {
    form: /^(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
    problem: "must be the name of a bucket: 3 to 63 of a-z, 0-9, dots and dashes",
  },
  // The key id becomes part of a header.
  s3_access_key_id: { form: /^[\w.+-]{1,128}$/, problem: "must be an access key id, such as AKIAIOSFODNN7EXAMPLE" },
  s3_secret_access_key: { form: /^[\x21-\x7e]{1,256}$/, problem: "must be printable ASCII without spaces" },
};

/** Why a value can't be stored as this secret; null when it can, and for other kinds of secrets. */
export function s3Problem(key: string, value: string): string | null {
  const rule = s3Secrets.find((name) => name === key);
  if (rule === undefined || forms[rule].form.test(value)) return null;
  return forms[rule].problem;
}

/** A bucket with its keys. */
export interface S3Bucket {
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/**
 * The prefix of a bucket's object addresses, with a trailing slash. The bucket is named in the host; or in the path, if
 * its name has dots (certificates don't cover such hosts), and at the installation's own endpoint.
 */
export function bucketAddress({ region, bucket }: Pick<S3Bucket, "region" | "bucket">, endpoint?: string): string {
  if (endpoint !== undefined) return `${endpoint}/${bucket}/`;
  const domain = `s3.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
  return bucket.includes(".") ? `https://${domain}/${bucket}/` : `https://${bucket}.${domain}/`;
}
