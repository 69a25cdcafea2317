/**
 * The part of Standard Schema (standardschema.dev, version 1) that Parley uses. zod, valibot, arktype and others implement
 * it, so you can bring any of them.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The value as the schema reads it, or the issues with it. */
type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One issue, and where it is. */
interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Whether a value has the `~standard` property with its `validate`, as zod and valibot schemas have. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  const standard = (value as { "~standard"?: { validate?: unknown } } | null | undefined)?.["~standard"];
  return typeof standard?.validate === "function";
}

/**
 * @returns the value as the schema reads it, or what is wrong with it: one line for each fault, and `places`, the outermost
 *   keys alone, which are the author's own: deeper ones, and the schema's words, may quote what a person has written
 */
export async function validate<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Promise<{ value: Output } | { problems: string[]; places: string[] }> {
  const result = await schema["~standard"].validate(value);
  if (!result.issues) return { value: result.value };
  return {
    problems: result.issues.map(describe),
    places: [...new Set(result.issues.map(({ path = [] }) => nameOf(path[0])))].slice(0, MOST_PLACES),
  };
}

const MOST_PLACES = 20;

type Step = NonNullable<SchemaIssue["path"]>[number];
const nameOf = (step: Step | undefined): string =>
  step === undefined ? "the whole" : String(typeof step === "object" ? step.key : step);

function describe({ message, path = [] }: SchemaIssue): string {
  return path.length === 0 ? message : `${path.map(nameOf).join(".")}: ${message}`;
}
