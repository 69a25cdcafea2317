import { StartError } from "../errors/errors.ts";
import type { Settings } from "../settings.ts";

/** A bucket of a store that speaks S3, and who may use it. */
export interface S3Settings {
  bucket: string;
  /** What every name begins with: "" or ends with a slash. */
  prefix: string;
  region: string;
  /** Without a trailing slash; the bucket is the first part of the path. */
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | null;
}

const formOf = (name: string): string =>
  `${name} must be like s3://bucket/prefix?region=eu-central-1&endpoint=https://s3.example.com; everything after the bucket is optional.`;

/**
 * Reads a setting that names a bucket: `s3://bucket/prefix?region=…&endpoint=…`, AWS itself unless an endpoint is named.
 *
 * @returns null when it is not set
 * @throws {StartError} also when the keys are missing
 */
export function readBucket(settings: Settings, name: "MEDIA_STORE" | "BACKUP_TO"): S3Settings | null {
  const text = settings.url(name, ["s3:"]);
  return text === null ? null : parseBucket(settings, name, text);
}

/** The same of an address that is no setting. @param name what to call it when it is not one */
export function parseBucket(settings: Settings, name: string, text: string): S3Settings {
  if (!URL.canParse(text)) throw new StartError(formOf(name));
  const { hostname: bucket, pathname, searchParams, username, port } = new URL(text);
  const region = searchParams.get("region") ?? settings.text("AWS_REGION") ?? "us-east-1";
  const endpoint = searchParams.get("endpoint") ?? `https://s3.${region}.amazonaws.com`;
  const prefix = pathname.split("/").filter(Boolean).join("/");
  const others = [...searchParams.keys()].filter((name) => name !== "region" && name !== "endpoint");
  const isRight =
    /^[a-z0-9][a-z0-9.-]{1,62}$/.test(bucket) &&
    /^[\w./-]{0,200}$/.test(prefix) &&
    /^[a-z0-9-]{1,40}$/.test(region) &&
    /^https?:\/\/[^/\s]+/.test(endpoint) &&
    URL.canParse(endpoint) &&
    username + port + others.join("") === "";
  if (!isRight) throw new StartError(formOf(name));
  return {
    bucket,
    prefix: prefix === "" ? "" : `${prefix}/`,
    region,
    endpoint: endpoint.replace(/\/$/, ""),
    accessKeyId: required(settings, "AWS_ACCESS_KEY_ID", name),
    secretAccessKey: required(settings, "AWS_SECRET_ACCESS_KEY", name),
    sessionToken: settings.text("AWS_SESSION_TOKEN"),
  };
}

function required(settings: Settings, name: string, because: string): string {
  const text = settings.text(name);
  if (text === null) throw new StartError(`${name} must be set when ${because} is.`);
  return text;
}
